"""The engine of Connexion."""

from connexion.evaluate import Weights
from connexion.rules import Position
from core.limits import Limits, SearchInfo

BENCH_LIMITS: Limits

class Engine:
    """Chooses moves; it owns the search's memory and forgets between choices."""

    def __init__(self, weights: Weights | None = None) -> None: ...
    def pace(self, position: Position) -> float:
        """For how many moves like this one the clock is to last."""

    def choose(self, position: Position, limits: Limits) -> SearchInfo:
        """The best move found; see `core.rules.Searcher`. The score is the margin that is expected in the end, in points."""
