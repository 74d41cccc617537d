"""Read and write positions as text, for the reference and the fast rules. RULES.md has the format.

Imports are few, because agents must start fast.
"""

from __future__ import annotations

from applegame.protocol import COLUMNS, ROWS
from core.errors import TextError

STANDING = "123456789"
OWNED = "FS"
UNOWNED = "0"


def parse_text(text: str) -> tuple[tuple[str, ...], int, int]:
    """Return the rows, the ply and the passes in a row.

    The text has ten rows, as in the official tool's input file, and optionally "ply N passes P".

    Raises TextError.
    """
    words = text.split()
    rows, rest = tuple(words[:ROWS]), words[ROWS:]
    if len(rows) != ROWS:
        raise TextError(f"{len(rows)} rows, not {ROWS}")
    for number, row in enumerate(rows):
        if len(row) != COLUMNS:
            raise TextError(f"row {number} has {len(row)} cells, not {COLUMNS}")
        unknown = row.strip(STANDING + OWNED + UNOWNED)
        if unknown:
            raise TextError(
                f"row {number} has {unknown[0]!r}, which is neither a digit, {OWNED[0]} nor "
                f"{OWNED[1]}"
            )
    if not rest:
        return rows, 0, 0
    if len(rest) != 4 or rest[::2] != ["ply", "passes"]:
        raise TextError(f"the rows are followed by {' '.join(rest)[:40]!r}, not by ply N passes P")
    ply, passes = _count(rest[1]), _count(rest[3])
    if passes > min(2, ply):
        raise TextError(f"{passes} passes in a row after {ply} plies are not possible")
    return rows, ply, passes


def format_text(rows: tuple[str, ...], ply: int, passes: int) -> str:
    """Return the text that `parse_text` reads."""
    return "\n".join([*rows, f"ply {ply} passes {passes}"])


def _count(word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 10):
        raise TextError(f"{word[:40]!r} is not a number of plies or passes")
    return int(word)
