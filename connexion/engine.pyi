"""The engine of Connexion: Monte Carlo tree search with a trained evaluation, then exact play."""

from collections.abc import Callable

from connexion.rules import Position
from core.engine import Option
from core.limits import Limits, SearchInfo

BENCH_LIMITS: Limits

class Engine:
    """Chooses moves. It owns its weights, its tree and the table of solved positions, which it
    keeps between moves."""

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
        """Set the OPTIONS. Raises TextError and UnknownNameError."""

    def moves_to_go(self, position: Position) -> float:
        """Return the divisor of the remaining clock (clock.py)."""

    def new_game(self) -> None:
        """Forget all solved positions."""

    def stop(self) -> None:
        """End a search that runs in another thread; it returns its result."""

    def choose(
        self, position: Position, limits: Limits, report: Callable[[SearchInfo], None] | None = None
    ) -> SearchInfo:
        """Return the best line found; `report` is called after each iteration.

        The score is the expected final margin in points. While players draw tiles, the depth is
        that of the longest line, and nodes are playouts; at depth 1 each move is evaluated. The
        first iteration is completed whatever the limits. Raises RuleError if the game is over.
        """

    def solve(self, position: Position, nodes: int) -> int | None:
        """Return the final margin for the side to move under best play. None if `nodes` are too
        few, or if a draw is unknown."""
