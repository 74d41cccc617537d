"""The judge's sample AIs that look ahead, sample:4 and up: frozen, as they are opponents to measure
against."""

from core.limits import Limits, SearchInfo
from core.rules import Position

class Sample:
    """A sample AI that looks `plies` ahead, the last of them a static look at the largest swing."""

    def __init__(self, plies: int) -> None:
        """Raises ValueError for less than two plies."""

    def choose(self, position: Position, limits: Limits) -> SearchInfo:
        """The move of the greatest value; among equals the pass, then the first in the order of r1,
        r2, c1, c2. It heeds no limits."""
