"""The engine of the apple game: principal variation search with a linear evaluation.

The evaluation counts cells that can be retaken.
"""

from collections.abc import Callable

from applegame.rules import Position
from core.engine import Option
from core.limits import Limits, SearchInfo

BENCH_LIMITS: Limits
"""Limits of each search of the fingerprint."""
DEFAULT_DEPTH: int
"""Depth of a search without limits, in plies."""
WEIGHTS_SHAPE: tuple[int, int]
"""Number of phases and of features of the evaluation, for training."""
UNIT: int
"""Points of the evaluation per logit of the expected result."""

class Engine:
    """The engine. Its weights and transposition table are kept between searches."""

    CAPABILITIES: frozenset[str]
    SCORE_UNIT: str
    OPTIONS: tuple[Option, ...]

    def __init__(
        self,
        *,
        weights: str | bytes = ...,
        hash: int = ...,  # noqa: A002  (the usual name)
        patience: float = ...,
        futility: int = ...,
        late_moves: int = ...,
        quiet_margin: int = ...,
        quiet_slope: int = ...,
        reduction: float = ...,
        deficit: int = ...,
        window: int = ...,
    ) -> None:
        """Set OPTIONS by keyword. Raises TextError and UnknownNameError."""

    def new_game(self) -> None:
        """Begin a new game: forget all searched positions."""

    def stop(self) -> None:
        """End the search that runs in another thread. It returns its best result."""

    def moves_to_go(self, position: Position) -> float:
        """Return the number of moves that the clock must last for; at least 2.

        A game has about 18 moves per side, and the last ones matter little.
        """

    def choose(
        self, position: Position, limits: Limits, report: Callable[[SearchInfo], None] | None = None
    ) -> SearchInfo:
        """Return the best move found. See `core.engine.Engine`.

        The score is 400 times the logit of the expected result. A forced win in n plies scores
        30,000 - n.

        Args:
            position: The position to search.
            limits: Limits of the search; without any, DEFAULT_DEPTH applies.
            report: Called after every iteration.

        Raises:
            RuleError: The game has ended.
        """

    def solve(self, position: Position, nodes: int) -> int | None:
        """Return the result under best play for the side to move: 1 win, 0 draw, -1 loss.

        Return None if the search needs more than `nodes` nodes. It clears the transposition table.
        """

def feature_list(position: Position) -> list[int]:
    """Return the phase and the features of the evaluation, for training."""
