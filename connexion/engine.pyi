"""The engine of Connexion."""

from collections.abc import Callable

from connexion.rules import Position
from core.engine import Option
from core.limits import Limits, SearchInfo

BENCH_LIMITS: Limits

class Engine:
    """Chooses moves; it owns the search's memory, in which what was solved lives from choice to
    choice."""

    CAPABILITIES: frozenset[str]
    SCORE_UNIT: str
    OPTIONS: tuple[Option, ...]

    def __init__(
        self,
        *,
        weights: str | bytes = ...,
        hash: int = ...,  # noqa: A002  (the word for it)
        exploration: float = ...,
        temper: float = ...,
    ) -> None:
        """By OPTIONS. Raises TextError and UnknownNameError."""

    def pace(self, position: Position) -> float:
        """For how many moves like this one the clock is to last."""

    def forget(self) -> None:
        """Begin a new game: nothing is known of what was solved before."""

    def stop(self) -> None:
        """End the search that runs in another thread; it returns what it has found."""

    def choose(
        self, position: Position, limits: Limits, report: Callable[[SearchInfo], None] | None = None
    ) -> SearchInfo:
        """The best move found; `report` is called after every iteration; see `core.engine.Engine`.
        The score is the margin that is expected in the end, in points."""

    def solve(self, position: Position, nodes: int) -> int | None:
        """The margin in the end, for the side to move, when both play best; None where more nodes
        would be needed, or a draw is unknown."""
