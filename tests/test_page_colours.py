"""Colours of the page: no tile looks like a player's piece, also for the colour-blind."""

from __future__ import annotations

import re
from itertools import combinations, product
from math import dist

import pytest

from tests.games import ROOT

CSS = (ROOT / "quartet/web/static/board.css").read_text(encoding="utf-8")
PAIR = r": light-dark\((#\w{6}), (#\w{6})\)"
VISION = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
"""What an eye makes of linear RGB; Machado, Oliveira and Fernandes 2009, severity 1."""
XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
WHITE = (0.9505, 1, 1.089)
CLEAR = 25
"""Least distance of a tile's colour and a player's; 2 is a barely visible one."""
APART = 14
"""Least distance of the colours of two tiles, which have letters, too."""
Vector = tuple[float, ...]


def times(matrix: tuple[Vector, ...], vector: Vector) -> Vector:
    return tuple(sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)


def lab(colour: str, vision: str) -> Vector:
    """Return a colour in CIELAB as an eye sees it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    seen = tuple(min(1.0, max(0.0, c)) for c in times(VISION[vision], linear))
    ratios = [a / b for a, b in zip(times(XYZ, seen), WHITE, strict=True)]
    x, y, z = (r ** (1 / 3) if r > 0.008856 else 7.787 * r + 16 / 116 for r in ratios)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_tiles_differ_from_players(theme: int, vision: str) -> None:
    seats = [lab(pair[theme], vision) for pair in re.findall("--seat." + PAIR, CSS)]
    tiles = [lab(pair[theme], vision) for pair in re.findall("--tile" + PAIR, CSS)]
    assert len(seats) == len(tiles) == 4
    assert min(dist(*pair) for pair in product(seats, tiles)) >= CLEAR
    assert min(dist(*pair) for pair in combinations(tiles, 2)) >= APART
