"""A move for an input.txt with a fault in it: slow and careful, on the reference rules, which know
cells that cannot be read."""

from __future__ import annotations

from ugolki.geometry import SIZE, distance
from ugolki.protocol import UNREADABLE, Reading
from ugolki.reference import Position


def best_move(reading: Reading) -> tuple[int, ...] | None:
    """The legal move that brings our pieces nearest to the square, or None where there is none.

    It touches doubtful rows only when nothing else can move: then a guess is better than no answer.
    """
    careful = [
        UNREADABLE if index // SIZE in reading.doubtful else label
        for index, label in enumerate(reading.cells)
    ]
    moves = Position(tuple(careful)).pseudolegal() or Position(tuple(reading.cells)).pseudolegal()
    return max(moves, key=lambda m: distance(0, m[0], m[1]) - distance(0, m[2], m[3]), default=None)
