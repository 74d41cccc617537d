"""The engine of Ataxx: principal variation search with a neural network's evaluation."""

from collections.abc import Callable

from ataxx.rules import Position
from core.engine import Option
from core.limits import Limits, SearchInfo

BENCH_LIMITS: Limits
"""Limits of each search of the fingerprint."""
DEFAULT_DEPTH: int
"""Depth of a search without limits, in plies."""

class Engine:
    """Chooses moves. It owns its weights and its transposition table, which it keeps between
    searches."""

    CAPABILITIES: frozenset[str]
    SCORE_UNIT: str
    OPTIONS: tuple[Option, ...]

    def __init__(
        self,
        *,
        weights: str | bytes = ...,
        hash: int = ...,  # noqa: A002  (the word for it)
        patience: float = ...,
        futility: int = ...,
        late_moves: int = ...,
        quiet_margin: int = ...,
        quiet_slope: int = ...,
        reduction: float = ...,
        deficit: int = ...,
        window: int = ...,
    ) -> None:
        """Set the OPTIONS. Raises TextError and UnknownNameError."""

    def new_game(self) -> None:
        """Empty the transposition table and the history."""

    def stop(self) -> None:
        """End a search that runs in another thread; it returns its result."""

    def moves_to_go(self, position: Position) -> float:
        """Return the divisor of the remaining clock, at least 3. It is less than the number of
        moves to come, because most searches end early (docs/experiments/006)."""

    def choose(
        self, position: Position, limits: Limits, report: Callable[[SearchInfo], None] | None = None
    ) -> SearchInfo:
        """Return the best line found; `report` is called after each iteration.

        The score is in SCORE_UNIT; a forced win in n plies is 30,000 - n. Raises RuleError if the
        game is over.
        """
