"""The engine of noughts and crosses: it looks at everything."""

from collections.abc import Callable

from core.engine import Option
from core.limits import Limits, SearchInfo
from noughts.rules import Position

BENCH_LIMITS: Limits

class Engine:
    """Chooses moves."""

    CAPABILITIES: frozenset[str]
    SCORE_UNIT: str
    OPTIONS: tuple[Option, ...]

    def forget(self) -> None:
        """It knows nothing of the past."""

    def stop(self) -> None:
        """It has always ended already."""

    def choose(
        self, position: Position, limits: Limits, report: Callable[[SearchInfo], None] | None = None
    ) -> SearchInfo:
        """The best move; scores are 1 for a win, and only the last one is reported. Only
        `limits.depth` matters.

        Raises RuleError when the board is full.
        """
