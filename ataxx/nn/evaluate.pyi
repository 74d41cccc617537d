"""The evaluation network: weights of a file, and values of positions."""

from collections.abc import Iterable
from typing import Final

LEVELS: Final[tuple[str, ...]]
"""CPU levels of the network, the best one last. All compute the same numbers."""

class Weights:
    """The network with the weights of one file."""

    @property
    def fields(self) -> dict[str, str]:
        """Header of the file: name -> value."""

    def __init__(self, data: bytes) -> None:
        """Read the content of a file. Raises TextError if it is damaged, or for another network."""

    def use(self, level: str | None) -> bool:
        """Compute at a CPU level; None: the best one. Returns False if this CPU lacks the level."""

    def value(self, own: int, other: int) -> int:
        """Return the value for the side to move, whose pieces are `own`; bit row * 8 + column."""

    def values(self, positions: Iterable[tuple[int, int]]) -> list[int]:
        """Return the value of each (own, other), computed incrementally."""

def default_weights() -> Weights:
    """Return the package's weights; they are read once. Raises TextError if they are missing or
    damaged."""
