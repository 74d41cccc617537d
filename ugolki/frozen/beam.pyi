"""A frozen opponent: beam search over three own moves, while all others stand still."""

from core.limits import Limits, SearchInfo
from ugolki.rules import Position

class Beam:
    """The player `beam:WIDTH`."""

    def __init__(self, width: int) -> None: ...
    def choose(self, position: Position, limits: Limits) -> SearchInfo:
        """The first move towards the cheapest placement, or the quickest way home.

        It is quick, so limits do not concern it. The score is minus the cost. Raises RuleError when
        no piece can move.
        """
