"""The engine of noughts and crosses: it looks at everything."""

from core.limits import Limits, SearchInfo
from noughts.rules import Position

BENCH_LIMITS: Limits

class Engine:
    """Chooses moves."""

    def choose(self, position: Position, limits: Limits) -> SearchInfo:
        """The best move; scores are 1 for a win. Only `limits.depth` matters. Raises RuleError when the board is full."""
