"""The reference rules of noughts and crosses: slow and readable. The judge uses them."""

from __future__ import annotations

from dataclasses import dataclass

from core.errors import IllegalMoveError
from core.rules import FileExchange, GameInfo, Move
from noughts import protocol

INFO = GameInfo(
    name="noughts",
    title="Noughts and crosses",
    players=2,
    chance=False,
    lower_wins=False,
    score_name="lines",
    exchange=FileExchange(input="input.txt", output="output.txt", seconds=5, megabytes=256),
)
PASS: Move = protocol.PASS
ROWS = [(0, 1, 2), (3, 4, 5), (6, 7, 8)]
LINES = [*ROWS, *zip(*ROWS, strict=True), (0, 4, 8), (2, 4, 6)]


@dataclass(frozen=True)
class Position:
    """A position of noughts and crosses.

    Attributes:
        cells: Nine labels, row by row: 0 empty, 1 and 2 the seats' pieces.
        ply: Turns taken; the seat to move is ply mod 2.
    """

    cells: tuple[int, ...]
    ply: int = 0

    @classmethod
    def start(cls, seed: int = 0) -> Position:  # noqa: ARG003  (no chance)
        return cls((0,) * 9)

    @classmethod
    def parse(cls, text: str) -> Position:
        ply, cells = protocol.parse_input(text)
        return cls(tuple(cells), ply)

    def text(self) -> str:
        return protocol.format_input(list(self.cells), self.ply)

    @property
    def to_move(self) -> int:
        return self.ply % 2

    @property
    def over(self) -> bool:
        return self.ply >= protocol.TURNS or 1 in self.scores()

    def legal(self) -> list[Move]:
        return [] if self.over else self.pseudolegal() or [PASS]

    def pseudolegal(self) -> list[Move]:
        return [
            (column, row)
            for column in range(3)
            for row in range(3)
            if self.cells[3 * row + column] == 0
        ]

    def play(self, move: Move) -> Position:
        if move not in self.legal():
            raise IllegalMoveError(f"{move} is not legal here")
        if move == PASS:
            return self.lose_turn()
        cells = list(self.cells)
        cells[3 * move[1] + move[0]] = self.to_move + 1
        return Position(tuple(cells), self.ply + 1)

    def lose_turn(self) -> Position:
        return Position(self.cells, self.ply + 1)

    def scores(self) -> tuple[int | None, ...]:
        return tuple(
            int(any(all(self.cells[i] == label for i in line) for line in LINES))
            for label in (1, 2)
        )

    def perft(self, depth: int) -> int:
        return sum(self.play(move).perft(depth - 1) for move in self.legal()) if depth else 1
