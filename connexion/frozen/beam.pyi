"""Frozen opponents that look at the scores alone."""

from connexion.rules import Position
from core.limits import Limits, SearchInfo

class Beam:
    """The player `beam:PLIES:ROOT:INNER`."""

    def __init__(self, plies: int, root: int, inner: int) -> None: ...
    def choose(self, position: Position, limits: Limits) -> SearchInfo:
        """The best move, whatever the limits; the score is the margin where its line ends."""

class TimedBeam:
    """The player `beam:PLIES`."""

    def __init__(self, plies: int) -> None: ...
    def choose(self, position: Position, limits: Limits) -> SearchInfo:
        """Return the best move of the widest search that the limits allow; the score is the margin
        where its line ends."""

class OnePly:
    """The players `sample` and, with `margin`, `margin`."""

    def __init__(self, margin: bool) -> None: ...
    def choose(self, position: Position, limits: Limits) -> SearchInfo:
        """The best move, whatever the limits; the score is what the player maximises, after the
        move."""
