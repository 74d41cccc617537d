"""Inputs of the networks from samples of self-play, and the exact table of solo distances. Arrays
are numpy's or any buffers."""

from collections.abc import Sequence
from typing import Any

INPUTS: int
ACTIVE: int
HIDDEN: int
ONE: int
OUTPUT_ONE: int
MAX_ROW: float
MAX_OUTPUT: float
PLACEMENTS: int
CELLS: int
SOLO_ONE: int
SOLO_STEPS_A_MOVE: int

def seats_of(solo: bytes, records: Any, chosen: Any, playing: Any, inputs: Any) -> int:
    """Write the inputs of the value network, one row per seat that plays. Return the number of
    rows."""

def moves_of(solo: bytes, records: Any, chosen: Any, sizes: Any, visits: Any, inputs: Any) -> int:
    """Write the inputs of the policy network, one row per legal move: the position after it, in the
    mover's view. Return the number of rows."""

def solo_moves(body: bytes, placements: Any, moves: Any) -> None:
    """Predict the solo distances of placements, six cells each, in moves."""

def logits(body: bytes, inputs: Any, outputs: Any) -> None:
    """Compute the outputs of a value or policy network for rows of inputs."""

def table_begin(distances: Any) -> None:
    """Initialise the table of solo distances: 0 for the placements at home, unknown for all
    others."""

def table_level(distances: Any, first: int, end: int, distance: int) -> bool:
    """Set the unknown neighbours of the placements first .. end - 1 at `distance` to `distance` +
    1. Return True if there was one."""

def numbers_of(placements: Any, numbers: Any) -> None:
    """Write the numbers of placements, each six different cells in ascending order."""

def neighbours(cells: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the placements one move away; for tests."""
