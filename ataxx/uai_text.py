"""Moves of Ataxx as the field's programs write them (the Universal Ataxx Interface): `g2`, `a1c3`,
`0000`.

A cell is a file from a to g and a rank from 1 to 7, ranks from the bottom: the judge's (row r,
column c) is file c, rank 8 - r. A division names its destination alone, a leap both cells. Which
piece divides is not said, so a position must say it.
"""

from __future__ import annotations

from ataxx.fen import SIZE
from ataxx.protocol import ILLEGAL, PASS
from core.errors import IllegalMoveError, TextError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from core.rules import Move

    class Board(Protocol):
        """What is asked of a position, fast or reference."""

        def legal(self) -> list[Move]: ...
        def canonical(self, move: Move) -> Move: ...


FILES = "abcdefg"
NOTHING = "0000"


def format_uai(move: Move) -> str:
    """The text of a move. Raises ValueError where it is none on any board."""
    if move == PASS:
        return NOTHING
    start, end = move[:2], move[2:]
    if (
        len(move) != 4
        or not all(1 <= x <= SIZE for x in move)
        or not 1 <= _distance(start, end) <= 2
    ):
        raise ValueError(f"{move} is no move of Ataxx")
    return _cell_text(end) if _distance(start, end) == 1 else _cell_text(start) + _cell_text(end)


def parse_uai(text: str, position: Board) -> Move:
    """The move, under the name by which `legal` of the position has it. Some programs name the
    piece that divides, too (`a1b2`).

    Raises TextError for what is no move's text, IllegalMoveError for a division that no piece can
    make; whether the rest is legal, `position.play` knows.
    """
    if text == NOTHING:
        return PASS
    if len(text) not in (2, 4):
        raise TextError(
            f"{text[:40]!r} is no move: a move is a cell (g2), two cells (a1c3), or {NOTHING}"
        )
    start, end = _parse_cell(text[:2]), _parse_cell(text[-2:])
    if len(text) == 4:
        return position.canonical(start + end)
    for move in position.legal():
        if move[2:] == end and _distance(move[:2], end) == 1:
            return move
    raise IllegalMoveError(f"no piece can divide into {text}", ILLEGAL)


def _distance(start: Move, end: Move) -> int:
    return max(abs(start[0] - end[0]), abs(start[1] - end[1]))


def _cell_text(cell: Move) -> str:
    return f"{FILES[cell[1] - 1]}{SIZE + 1 - cell[0]}"


def _parse_cell(text: str) -> Move:
    file, rank = FILES.find(text[0]), text[1]
    if file < 0 or rank not in "1234567":
        raise TextError(f"{text!r} is no cell: a cell is a file from a to g and a rank from 1 to 7")
    return SIZE + 1 - int(rank), file + 1
