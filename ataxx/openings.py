"""Openings for games that are to differ: the option `opening`. `ataxx/openings.txt` holds them;
`python -m ataxx.make_openings` made it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ataxx.fen import parse_fen
from core.errors import UnknownNameError

BOOK = Path(__file__).with_name("openings.txt")
"""A position a line, as FEN; lines that begin with # say how they were made."""


def start_fen(plies: int, seed: int) -> str:
    """The start of a game: an opening of so many plies, which `seed` chooses. Raises
    UnknownNameError.

    As many seeds in a row as there are openings choose different ones.
    """
    openings = _book()
    if plies not in openings:
        raise UnknownNameError(
            f"ataxx has openings of {', '.join(map(str, sorted(openings)))} plies, not of {plies}"
        )
    return openings[plies][seed % len(openings[plies])]


@cache
def _book() -> dict[int, list[str]]:
    """Plies -> the openings of that length, in the book's order."""
    openings: dict[int, list[str]] = {}
    for line in BOOK.read_text(encoding="ascii").splitlines():
        if not line.startswith("#"):
            openings.setdefault(parse_fen(line)[1], []).append(line)
    return openings
