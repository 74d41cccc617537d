"""Positions of training samples as the network's inputs; see `core.nn.contract.Training`."""

from typing import Any

from ataxx.rules import Position

def encode(position: Position) -> bytes:
    """Return the 16 bytes of a position, without walls: training has none."""

def features(positions: Any, chosen: Any, symmetries: Any, inputs: Any, buckets: Any) -> None:
    """Write active inputs and bucket of the chosen positions to the rows of `inputs` and `buckets`.

    Args:
        positions: uint8 [n][16], see `encode`.
        chosen: int64 [m], indices of positions.
        symmetries: uint8 [m], 0 to 7.
        inputs: uint16 [m][36], written.
        buckets: uint8 [m], written.

    Raises:
        ValueError: The arrays do not match.
        IndexError: A position does not exist.
    """
