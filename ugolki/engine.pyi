"""The engine of Ugolki: Monte Carlo tree search with max^n values and neural networks."""

from collections.abc import Callable

from core.engine import Option
from core.limits import Limits, SearchInfo
from core.rules import Move
from ugolki.rules import Position

BENCH_LIMITS: Limits
"""Limits of each search of the fingerprint."""
DEFAULT_ITERATIONS: int
"""Iterations of a search without nodes and deadline."""

class Engine:
    """Chooses moves. It owns its weights and its tree, which starts empty at each move."""

    CAPABILITIES: frozenset[str]
    SCORE_UNIT: str
    OPTIONS: tuple[Option, ...]

    def __init__(
        self,
        *,
        weights: str | bytes = ...,
        exploration: float = ...,
        first_play: float = ...,
        prior_percent: int = ...,
        model: bool = ...,
        threads: int = ...,
    ) -> None:
        """Set the OPTIONS. Raises TextError and UnknownNameError."""

    @property
    def stall(self) -> float:
        """Longest time for which the last search could not check the clock, in seconds."""

    def new_game(self) -> None:
        """Forget the last search."""

    def stop(self) -> None:
        """End a search that runs in another thread; it returns its result."""

    def candidates(self) -> list[dict[str, object]]:
        """Return the last search's figures of each move, the most visited first.

        - "share": the mover's expected win share;
        - "order": the seats in the order in which they are expected to finish;
        - "penalty": the mover's expected penalty.

        Order and penalty are means over all leaves below the move, weighted by visits. [] if the
        last search needed no tree. See `core.engine.Capable`.
        """

    def expectation(self) -> tuple[float, ...] | None:
        """Return each seat's win share as the last search estimated it; the sum is 1. None if it
        needed no tree."""

    def visits(self) -> list[tuple[Move, int]]:
        """Return the visited moves of the last search with their visits, the most first."""

    def prediction(self, position: Position) -> dict[Move, float]:
        """Return each move's probability for a player of whom nothing is known (the opponents'
        network). {} if no piece can move."""

    def choose(
        self, position: Position, limits: Limits, report: Callable[[SearchInfo], None] | None = None
    ) -> SearchInfo:
        """Return the most visited move.

        Nodes are iterations. The score is the expected win share in thousandths. The depth is the
        length of the principal variation; `limits.depth` is ignored. With one thread, equal nodes
        give the same answer. If the game is over (a judge may continue it), the move with the least
        cost is returned.

        Args:
            position: The position; left unchanged.
            limits: Limits. At least 128 iterations are made, whatever the deadline.
            report: Called within a millisecond with a first result, and with each better move.

        Raises:
            RuleError: No piece can move.
        """
