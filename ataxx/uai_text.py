"""Moves as UAI, the field's own protocol, writes them: `g2` a division onto that cell, `a1c3` a leap, `0000` a pass.

Files a to g are the judge's columns 1 to 7, ranks 7 to 1 its rows 1 to 7.
"""

from __future__ import annotations

from core.errors import TextError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from core.rules import Position

PASS_TEXT = "0000"  # noqa: S105  (no password)
FILES = "abcdefg"


def format_uai(move: tuple[int, ...]) -> str:
    """The text of a move."""
    if min(move) < 0:
        return PASS_TEXT
    row1, column1, row2, column2 = move
    if max(abs(row1 - row2), abs(column1 - column2)) == 1:
        return _cell(row2, column2)
    return _cell(row1, column1) + _cell(row2, column2)


def parse_uai(text: str, position: Position) -> tuple[int, ...]:
    """The legal move that a text says in a position. Raises TextError where the text is no move, or there is no such move."""
    for move in position.legal():
        if text in (format_uai(move), "" if min(move) < 0 else _cell(*move[:2]) + _cell(*move[2:])):
            return move
    raise TextError(f"{text[:40]!r} is not a legal move")


def _cell(row: int, column: int) -> str:
    return f"{FILES[column - 1]}{8 - row}"
