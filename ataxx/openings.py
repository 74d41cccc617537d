"""Balanced openings, which make games differ: the option `opening`.

`python -m ataxx.make_openings` made the book, `ataxx/openings.txt`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ataxx.fen import parse_fen
from core.errors import UnknownNameError

BOOK = Path(__file__).with_name("openings.txt")
"""One FEN per line. A line that begins with # is the command that made the following ones."""


def start_fen(plies: int, seed: int) -> str:
    """Return the FEN of the opening of `plies` plies that `seed` selects.

    With n openings of that length, n consecutive seeds select n different ones.

    Raises UnknownNameError if the book has no opening of that length.
    """
    openings = _book()
    if plies not in openings:
        raise UnknownNameError(
            f"ataxx has openings of {', '.join(map(str, sorted(openings)))} plies, not of {plies}"
        )
    return openings[plies][seed % len(openings[plies])]


@cache
def _book() -> dict[int, list[str]]:
    """Return plies -> the openings of that length, in the book's order."""
    openings: dict[int, list[str]] = {}
    for line in BOOK.read_text(encoding="ascii").splitlines():
        if not line.startswith("#"):
            openings.setdefault(parse_fen(line)[1], []).append(line)
    return openings
