"""The reference rules of the apple game in plain Python: slow and readable. The judge uses them.

RULES.md describes the rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from applegame import protocol
from applegame.protocol import COLUMNS, ROWS
from applegame.text import OWNED, STANDING, format_text, parse_text
from core.errors import IllegalMoveError, RuleError
from core.rules import GameInfo, LineJudge, Move

INFO = GameInfo(
    name="applegame",
    title='Apple game ("Mushroom Game")',
    players=2,
    chance=False,
    lower_wins=False,
    score_name="cells",
    lines=LineJudge(),
    lenses=("rectangles",),
)

PASS: Move = protocol.PASS

TARGET = 10
Cell = tuple[int, int]


@dataclass(frozen=True)
class Position:
    """A position of the apple game. `core.rules.Position` is the contract of its methods.

    Attributes:
        rows: Ten strings of 17 characters: a remaining digit, F or S for a cell of that seat, 0 for
            an empty cell without an owner.
        ply: Plies played; the seat to move is ply mod 2.
        passes: Passes in a row just before this position; the second ends the game.
    """

    rows: tuple[str, ...]
    ply: int = 0
    passes: int = 0

    @classmethod
    def start(cls, seed: int = 0) -> Position:
        """Return a board drawn from `random.Random(seed)`, row by row, by `randint(1, 9)`."""
        random = Random(seed)
        return cls(
            tuple("".join(str(random.randint(1, 9)) for _ in range(COLUMNS)) for _ in range(ROWS))
        )

    @classmethod
    def parse(cls, text: str) -> Position:
        """Parse ten rows, as in the official tool's input file, and optionally "ply N passes P".

        Raises TextError.
        """
        return cls(*parse_text(text))

    def text(self) -> str:
        return format_text(self.rows, self.ply, self.passes)

    @property
    def to_move(self) -> int:
        return self.ply % 2

    @property
    def over(self) -> bool:
        """True after two passes in a row."""
        return self.passes >= 2

    def legal(self) -> list[Move]:
        return [] if self.over else self.pseudolegal()

    def pseudolegal(self) -> list[Move]:
        """Return the pass, then the rectangles in ascending order."""
        return [PASS, *sorted(self.rectangles())]

    def rectangles(self) -> list[Move]:
        """Return all (r1, c1, r2, c2) whose digits sum to 10, with a digit on each side."""
        digits = [[_digit(cell) for cell in row] for row in self.rows]
        found: list[Move] = []
        for r1 in range(ROWS):
            sums = [0] * COLUMNS
            lefts = list(range(COLUMNS))
            for r2 in range(r1, ROWS):
                sums = [above + digit for above, digit in zip(sums, digits[r2], strict=True)]
                lefts = [c1 for c1 in lefts if sums[c1] <= TARGET]  # the other sums only grow
                if not lefts:
                    break
                for c1 in lefts:
                    if not sums[c1]:
                        continue
                    total = 0
                    for c2 in range(c1, COLUMNS):
                        total += sums[c2]
                        if total >= TARGET:
                            break
                    # At the first c2 that reaches the sum the right column has a digit; for a
                    # greater c2 it has none.
                    if (
                        total == TARGET
                        and any(digits[r1][c1 : c2 + 1])
                        and any(digits[r2][c1 : c2 + 1])
                    ):
                        found.append((r1, c1, r2, c2))
        return found

    def play(self, move: Move) -> Position:
        if self.over:
            raise IllegalMoveError("the game is over")
        if move == PASS:
            return type(self)(self.rows, self.ply + 1, self.passes + 1)
        self._check(move)
        return self._after(move)

    def lose_turn(self) -> Position:
        raise RuleError("a forfeit loses the apple game: there are no forfeited turns")

    def scores(self) -> tuple[int | None, ...]:
        """Return the number of cells of each seat."""
        cells = "".join(self.rows)
        return cells.count(OWNED[0]), cells.count(OWNED[1])

    def perft(self, depth: int) -> int:
        if depth == 0:
            return 1
        if depth == 1:
            return len(self.legal())
        return sum(self.play(move).perft(depth - 1) for move in self.legal())

    def _after(self, move: Move) -> Position:
        """The position after a legal rectangle: every cell of it is the mover's."""
        r1, c1, r2, c2 = move
        taken = OWNED[self.to_move] * (c2 + 1 - c1)
        rows = [
            row[:c1] + taken + row[c2 + 1 :] if r1 <= r <= r2 else row
            for r, row in enumerate(self.rows)
        ]
        return type(self)(tuple(rows), self.ply + 1)

    def _check(self, move: Move) -> None:
        """Raises IllegalMoveError with the official tool's code unless the rectangle is legal; the
        checks are in the tool's order."""
        if len(move) != 4:
            raise IllegalMoveError(f"a move has four numbers, not {len(move)}", protocol.MALFORMED)
        r1, c1, r2, c2 = move
        if not (0 <= r1 <= r2 < ROWS and 0 <= c1 <= c2 < COLUMNS):
            raise IllegalMoveError(f"{move} is not a rectangle on the board", protocol.OUTSIDE)
        inside = [[_digit(cell) for cell in row[c1 : c2 + 1]] for row in self.rows[r1 : r2 + 1]]
        total = sum(map(sum, inside))
        if total != TARGET:
            raise IllegalMoveError(
                f"the digits in {move} sum to {total}, not to {TARGET}", protocol.WRONG_SUM
            )
        sides = {
            "top": inside[0],
            "bottom": inside[-1],
            "left": [row[0] for row in inside],
            "right": [row[-1] for row in inside],
        }
        for name, side in sides.items():
            if not any(side):
                raise IllegalMoveError(f"the {name} side of {move} has no digit", protocol.LOOSE)


def _digit(cell: str) -> int:
    """Return the remaining digit of a cell, 0 if none."""
    return int(cell) if cell in STANDING else 0
