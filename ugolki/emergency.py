"""A move for an input.txt with errors. The search is slow: it uses the reference rules, which
support unreadable cells."""

from __future__ import annotations

from ugolki.geometry import SIZE, distance
from ugolki.protocol import UNREADABLE, Reading
from ugolki.reference import Position


def best_move(reading: Reading) -> tuple[int, ...] | None:
    """Return the legal move of seat 0 with the greatest gain, or None if there is none.

    Doubtful rows count as walls. If no piece can move then, their cells are taken as read: a guess
    is better than no answer.
    """
    careful = [
        UNREADABLE if index // SIZE in reading.doubtful else label
        for index, label in enumerate(reading.cells)
    ]
    moves = Position(tuple(careful)).pseudolegal() or Position(tuple(reading.cells)).pseudolegal()
    return max(moves, key=lambda m: distance(0, m[0], m[1]) - distance(0, m[2], m[3]), default=None)
