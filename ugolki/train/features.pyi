"""Samples of self-play as inputs of the networks, and the exact table of solo distances; numpy's
arrays, or any buffers."""

from collections.abc import Sequence
from typing import Any

INPUTS: int
ACTIVE: int
HIDDEN: int
ONE: int
OUTPUT_ONE: int
MOST_ROW: float
MOST_OUTPUT: float
PLACEMENTS: int
CELLS: int
SOLO_ONE: int
SOLO_STEPS_A_MOVE: int

def seats_of(solo: bytes, records: Any, chosen: Any, playing: Any, inputs: Any) -> int:
    """The inputs of the positions, a row for each seat that plays, one position after the other;
    how many rows that were."""

def moves_of(solo: bytes, records: Any, chosen: Any, sizes: Any, visits: Any, inputs: Any) -> int:
    """The inputs of the positions after each legal move, as the mover sees them, one position after
    the other; how many rows that were."""

def solo_moves(body: bytes, placements: Any, moves: Any) -> None:
    """What the solo network with these integers says of placements, six cells each."""

def logits(body: bytes, inputs: Any, outputs: Any) -> None:
    """What a value or policy network with these integers gives for rows of inputs."""

def table_begin(distances: Any) -> None:
    """Make the table of solo distances anew: 0 for the placements at home, unknown for all
    others."""

def table_level(distances: Any, first: int, end: int, distance: int) -> bool:
    """Placements next to those of first .. end - 1 that are at `distance`, and still unknown, are
    one further; whether there was one."""

def numbers_of(placements: Any, numbers: Any) -> None:
    """The numbers of placements, six different cells each, in ascending order."""

def neighbours(cells: Sequence[int]) -> list[tuple[int, ...]]:
    """The placements one move away from one; for tests."""
