"""The engine of Ataxx: principal variation search over a small network's evaluation."""

from collections.abc import Callable

from ataxx.rules import Position
from core.engine import Option
from core.limits import Limits, SearchInfo

BENCH_LIMITS: Limits
"""Of each search of the fingerprint."""
DEFAULT_DEPTH: int
"""Where the limits give no bound at all."""

class Engine:
    """Chooses moves; it owns its weights and the transposition table, which lives from search to
    search."""

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
        """By OPTIONS. Raises TextError and UnknownNameError."""

    def forget(self) -> None:
        """Begin a new game: nothing is known of positions searched before."""

    def stop(self) -> None:
        """End the search that runs in another thread; it returns what it has found."""

    def pace(self, position: Position) -> float:
        """What is left of a clock is divided by so much: 3 at least, and less than the moves that
        will come, as most searches end early."""

    def choose(
        self, position: Position, limits: Limits, report: Callable[[SearchInfo], None] | None = None
    ) -> SearchInfo:
        """The best move found; `report` is called after every iteration.

        The score is 400 times the logit of the expected result, a forced win in n plies 30,000 - n.
        Raises RuleError when the game is over.
        """
