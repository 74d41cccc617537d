"""Parse and format positions of Ataxx as FEN, for both kinds of rules.

Other Ataxx programs use the same format; RULES.md describes it.
"""

from __future__ import annotations

from core.errors import TextError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SIZE = 7
EMPTY, FIRST, SECOND, WALL = range(4)
LETTERS = {FIRST: "x", SECOND: "o", WALL: "-"}
START = "x5o/7/7/7/7/7/o5x x 0 1"
MAX_COUNT = 9999
"""The greatest halfmove count and move number: the fast rules store them in 16 bits."""


def parse_fen(text: str) -> tuple[tuple[int, ...], int, int]:
    """Parse a FEN text. Raises TextError.

    Returns:
        The 49 labels, row by row from the top left; the plies played; the plies since the last
        division.
    """
    words = text.split()
    if len(words) != 4:
        raise TextError(
            f"a position has four parts (board, side, halfmoves, move number), not {len(words)}: "
            f"{text[:40]!r}"
        )
    board, side, halfmoves, number = words
    if side not in ("x", "o"):
        raise TextError(f"the side to move is x or o, not {side[:40]!r}")
    if _count(number) == 0:
        raise TextError("the move number counts from 1")
    ply = 2 * (_count(number) - 1) + (side == "o")
    return _parse_board(board), ply, _count(halfmoves)


def format_fen(cells: Sequence[int], ply: int, halfmoves: int) -> str:
    """Return the text that `parse_fen` parses into these values."""
    rows = []
    for start in range(0, SIZE * SIZE, SIZE):
        row = "".join(LETTERS.get(label, " ") for label in cells[start : start + SIZE])
        for length in range(SIZE, 0, -1):
            row = row.replace(" " * length, str(length))
        rows.append(row)
    return f"{'/'.join(rows)} {'xo'[ply % 2]} {halfmoves} {ply // 2 + 1}"


def _parse_board(text: str) -> tuple[int, ...]:
    rows = text.split("/")
    if len(rows) != SIZE:
        raise TextError(f"the board has {len(rows)} rows, not {SIZE}")
    labels = {letter: label for label, letter in LETTERS.items()}
    cells: list[int] = []
    for number, row in enumerate(rows, start=1):
        before = len(cells)
        for letter in row:
            if letter in labels:
                cells.append(labels[letter])
            elif letter in "1234567":
                cells += [EMPTY] * int(letter)
            else:
                raise TextError(
                    f"row {number} has {letter!r}, which is neither x, o, - nor a number of empty "
                    "cells"
                )
        if len(cells) - before != SIZE:
            raise TextError(f"row {number} has {len(cells) - before} cells, not {SIZE}")
    return tuple(cells)


def _count(word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= len(str(MAX_COUNT))):
        raise TextError(f"{word[:40]!r} is not a count from 0 to {MAX_COUNT}")
    return int(word)
