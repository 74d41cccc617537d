"""The engine of Ugolki: best-reply search over the fast rules."""

from collections.abc import Callable

from core.limits import Limits, SearchInfo
from core.rules import Position

BENCH_LIMITS: Limits
"""Of each search of the fingerprint."""

class Engine:
    """Chooses moves; it owns the search's memory (about 1.6 MB), which it uses for one choice at a time."""

    def choose(self, position: Position, limits: Limits, report: Callable[[SearchInfo], None] | None = None) -> SearchInfo:
        """The best move within `limits`; `report` is called with the outcome of every iteration.

        Scores are in sixteenths of a step of lead over the nearest rival; the first iteration is done whatever the limits. Where the
        game is over (a judge that plays on), the move that leaves the least cost. Raises RuleError when no piece can move.
        """
