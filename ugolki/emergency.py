"""A move for an input.txt with a fault in it: slow and careful, on the reference rules, which know cells that cannot be read."""

from __future__ import annotations

from ugolki.geometry import distance
from ugolki.protocol import Reading
from ugolki.reference import Position


def best_move(reading: Reading) -> tuple[int, ...] | None:
    """The legal move that brings our pieces nearest to the square, or None where there is none."""
    moves = Position(tuple(reading.cells)).pseudolegal()
    return max(moves, key=lambda m: distance(0, m[0], m[1]) - distance(0, m[2], m[3]), default=None)
