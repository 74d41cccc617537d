"""The boards of a game's positions, each as its changes since the one before."""

from __future__ import annotations

from core.scene import Piece, Scene
from quartet.review.document import Board

Holding = list[tuple[int, list[int]]]
"""(seat, piece numbers) of every hand."""


class Boards:
    """A growing series of boards: those of the given scenes, and of those that are added.

    Attributes:
        board: All frames so far.
        hands: The hands of the last frame, None if nothing changed, as in `Board.hands`.
    """

    def __init__(self, first: Scene, *others: Scene) -> None:
        self.board = Board(
            [(c.name, round(c.x, 3), round(c.y, 3), c.ground) for c in first.cells],
            list(first.columns),
            list(first.rows),
            [],
            [],
            [],
            first.corners,
        )
        self.hands: Holding | None = None
        self._cells = {cell.name: number for number, cell in enumerate(first.cells)}
        self._pieces: dict[tuple[int | None, str, int | None], int] = {}
        self._shown: dict[int, int] = {}
        self._held: Holding = []
        for scene in (first, *others):
            self.add(scene)

    def add(self, scene: Scene) -> None:
        """Add a frame."""
        now = {self._cells[piece.cell]: self._number(piece) for piece in scene.pieces}
        changes = {cell: now.get(cell, -1) for cell in {*now, *self._shown}}
        self.board.frames.append(
            [
                value
                for cell, piece in sorted(changes.items())
                if self._shown.get(cell, -1) != piece
                for value in (cell, piece)
            ]
        )
        self._shown = now
        holds = [(hand.seat, [self._number(p) for p in hand.pieces]) for hand in scene.hands]
        self.hands = None if holds == self._held else holds
        self._held = holds
        if holds or self.board.hands:
            missing = len(self.board.frames) - 1 - len(self.board.hands)
            self.board.hands.extend([*[None] * missing, self.hands])

    def _number(self, piece: Piece) -> int:
        key = piece.owner, piece.text, piece.colour
        if key not in self._pieces:
            self._pieces[key] = len(self._pieces)
            self.board.pieces.append(key)
        return self._pieces[key]
