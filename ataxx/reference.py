"""The reference rules of Ataxx in plain Python: slow and readable. The judge uses them.

RULES.md describes the rules.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ataxx import protocol
from ataxx.fen import EMPTY, FIRST, SECOND, SIZE, START, format_fen, parse_fen
from core.errors import IllegalMoveError, RuleError
from core.rules import GameInfo, LineJudge, Move, RuleOption

PLIES = 400
"""Plies of both players together after which the game ends."""

INFO = GameInfo(
    name="ataxx",
    title='Ataxx ("Bacteria War")',
    players=2,
    chance=False,
    lower_wins=False,
    score_name="cells",
    lines=LineJudge(init=False, megabytes=1024),
    options={
        "plies": RuleOption(
            PLIES, "plies of both players together after which the game ends", least=1
        ),
        "halfmove_limit": RuleOption(
            0,
            "plies in a row without a division that end the game, 0: no limit (other programs use "
            "100)",
        ),
        "opening": RuleOption(
            0,
            "plies of a balanced opening, which the seed selects from the book; 0: none",
            of_start=True,
        ),
    },
    adapters={"uai": "ataxx.uai_adapter"},
    move_aliases=True,
)

PASS: Move = protocol.PASS


Cell = tuple[int, int]


@dataclass(frozen=True)
class Position:
    """A position of Ataxx. `core.rules.Position` is the contract of its methods.

    Attributes:
        cells: 49 labels, row by row from the top left: EMPTY, FIRST, SECOND or WALL.
        ply: Plies played; the seat to move is ply mod 2.
        halfmoves: Plies since the last division, passes included.
        plies: Plies after which the game ends.
        halfmove_limit: Plies in a row without a division that end the game. 0: no limit.
    """

    cells: tuple[int, ...]
    ply: int = 0
    halfmoves: int = 0
    plies: int = PLIES
    halfmove_limit: int = 0

    @classmethod
    def start(
        cls, seed: int = 0, plies: int = PLIES, halfmove_limit: int = 0, opening: int = 0
    ) -> Position:
        """Return the usual start, or the opening of `opening` plies that `seed` selects.

        Raises UnknownNameError if the book has no opening of that length.
        """
        if opening == 0:
            return cls.parse(START, plies, halfmove_limit)
        # Agents never need one, and bundles have no book.
        from ataxx.openings import start_fen  # noqa: PLC0415

        return cls.parse(start_fen(opening, seed), plies, halfmove_limit)

    @classmethod
    def parse(cls, text: str, plies: int = PLIES, halfmove_limit: int = 0) -> Position:
        """Parse a FEN text. Raises TextError."""
        return cls(*parse_fen(text), plies, halfmove_limit)

    def text(self) -> str:
        """Return the position as FEN."""
        return format_fen(self.cells, self.ply, self.halfmoves)

    @property
    def to_move(self) -> int:
        return self.ply % 2

    @property
    def over(self) -> bool:
        """True if a side has no pieces, neither side can move, or a limit is reached."""
        return (
            self.ply >= self.plies
            or (0 < self.halfmove_limit <= self.halfmoves)
            or FIRST not in self.cells
            or SECOND not in self.cells
            or not (self._can_move(FIRST) or self._can_move(SECOND))
        )

    def legal(self) -> list[Move]:
        if self.over:
            return []
        return self.pseudolegal() or [PASS]

    def pseudolegal(self) -> list[Move]:
        moves = []
        for end, label in enumerate(self.cells):
            if label == EMPTY:
                dividing = [start for start in NEAR[end] if self.cells[start] == self._mine][:1]
                leaping = [start for start in FAR[end] if self.cells[start] == self._mine]
                moves += [NAMES[start] + NAMES[end] for start in dividing + leaping]
        return sorted(moves)

    def canonical(self, move: Move) -> Move:
        """Return the alias of a move that `legal` lists.

        All pieces next to a cell give the same result by dividing into it; `legal` lists the first.
        """
        if len(move) != 4 or move[:2] not in INDEX or move[2:] not in INDEX:
            return move
        start, end = INDEX[move[:2]], INDEX[move[2:]]
        if start not in NEAR[end] or self.cells[start] != self._mine:
            return move
        return next(NAMES[s] for s in NEAR[end] if self.cells[s] == self._mine) + move[2:]

    def play(self, move: Move) -> Position:
        """Return the position after `move`, which may name any of the pieces that can divide.

        Raises IllegalMoveError.
        """
        if self.canonical(move) not in self.legal():
            raise IllegalMoveError(self._why_illegal(move), protocol.ILLEGAL)
        return self._after(move)

    def lose_turn(self) -> Position:
        raise RuleError("Ataxx has no forfeited turns: an illegal move loses the game")

    def scores(self) -> tuple[int | None, ...]:
        """Return the number of cells of each seat."""
        return self.cells.count(FIRST), self.cells.count(SECOND)

    def perft(self, depth: int) -> int:
        if depth == 0:
            return 1
        if depth == 1:
            return len(self.legal())
        return sum(self._after(move).perft(depth - 1) for move in self.legal())

    @property
    def _mine(self) -> int:
        """The label of the seat to move."""
        return FIRST + self.to_move

    def _can_move(self, label: int) -> bool:
        return any(
            self.cells[end] == EMPTY
            and any(self.cells[start] == label for start in NEAR[end] + FAR[end])
            for end in range(SIZE * SIZE)
        )

    def _after(self, move: Move) -> Position:
        """Return the position after a legal move."""
        if move == PASS:
            return replace(self, ply=self.ply + 1, halfmoves=self.halfmoves + 1)
        start, end = INDEX[move[:2]], INDEX[move[2:]]
        cells = list(self.cells)
        cells[end] = self._mine
        for cell in NEAR[end]:
            if cells[cell] == FIRST + SECOND - self._mine:
                cells[cell] = self._mine
        halfmoves = 0
        if start in FAR[end]:
            cells[start] = EMPTY
            halfmoves = self.halfmoves + 1
        return replace(self, cells=tuple(cells), ply=self.ply + 1, halfmoves=halfmoves)

    def _why_illegal(self, move: Move) -> str:
        """Return the reason in one sentence."""
        if self.over:
            return "the game is over"
        if move == PASS:
            return "a pass is legal only when no piece can move"
        if len(move) != 4:
            return f"a move has four numbers, not {len(move)}"
        for cell in (move[:2], move[2:]):
            if cell not in INDEX:
                return f"{cell} is off the board"
        start, end = INDEX[move[:2]], INDEX[move[2:]]
        if self.cells[start] != self._mine:
            return f"none of the mover's pieces is on {move[:2]}"
        if start == end:
            return f"the piece on {move[:2]} must go to another cell"
        if self.cells[end] != EMPTY:
            return f"{move[2:]} is not empty"
        return f"{move[2:]} is further than two cells from {move[:2]}"


NAMES: tuple[Move, ...] = tuple(
    (row, column) for row in range(1, SIZE + 1) for column in range(1, SIZE + 1)
)
"""(row, column) of every cell, from 1, as in the judge's protocol."""
INDEX = {name: index for index, name in enumerate(NAMES)}


def _at_distance(distance: int) -> tuple[tuple[int, ...], ...]:
    """Return, for every cell, the cells at that distance in ascending order."""
    return tuple(
        tuple(INDEX[b] for b in NAMES if max(abs(a[0] - b[0]), abs(a[1] - b[1])) == distance)
        for a in NAMES
    )


NEAR, FAR = _at_distance(1), _at_distance(2)
