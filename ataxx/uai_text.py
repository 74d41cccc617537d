"""Moves in the notation of the Universal Ataxx Interface (UAI): `g2`, `a1c3`, `0000`.

A cell is a file from a to g and a rank from 1 to 7, counted from the bottom: the judge's (row r,
column c) is file c, rank 8 - r. A division is written as its destination, a leap as both cells.
Parsing a division takes a position, because the text does not name the piece that divides.
"""

from __future__ import annotations

from ataxx.fen import SIZE
from ataxx.protocol import ILLEGAL, PASS
from core.errors import IllegalMoveError, TextError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from core.rules import Move

    class MoveSource(Protocol):
        """A position, by the fast or the reference rules."""

        def text(self) -> str: ...
        def legal(self) -> list[Move]: ...
        def canonical(self, move: Move) -> Move: ...


FILES = "abcdefg"
NOTHING = "0000"
"""A pass."""


def format_uai(move: Move) -> str:
    """Return the text of a move. Raises ValueError if no board has such a move."""
    if move == PASS:
        return NOTHING
    start, end = move[:2], move[2:]
    if (
        len(move) != 4
        or not all(1 <= x <= SIZE for x in move)
        or not 1 <= _distance(start, end) <= 2
    ):
        raise ValueError(f"{move} is not a move of Ataxx")
    return _cell_text(end) if _distance(start, end) == 1 else _cell_text(start) + _cell_text(end)


def parse_uai(text: str, position: MoveSource) -> Move:
    """Return the move in the form that `position.legal()` lists.

    Some programs also name the piece that divides (`a1b2`). The move may be illegal.

    Raises:
        TextError: The text is not a move.
        IllegalMoveError: No piece can divide into that cell.
    """
    if text == NOTHING:
        return PASS
    if len(text) not in (2, 4):
        raise TextError(
            f"{text[:40]!r} is not a move: expected a cell (g2), two cells (a1c3) or {NOTHING}"
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
        raise TextError(f"{text!r} is not a cell: expected a file a to g and a rank 1 to 7")
    return SIZE + 1 - int(rank), file + 1
