"""The engine of Ugolki: Monte Carlo tree search over max^n values."""

from collections.abc import Callable

from core.engine import Option
from core.limits import Limits, SearchInfo
from core.rules import Move
from ugolki.opponents.model import OpponentModel
from ugolki.rules import Position

BENCH_LIMITS: Limits
"""Of each search of the fingerprint."""
DEFAULT_ITERATIONS: int
"""Where the limits give neither nodes nor a deadline."""

class Engine:
    """Chooses moves; it owns the tree, which it makes anew for every choice, and its weights.

    Attributes:
        opponents: what it knows of the other players.
    """

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
        """By OPTIONS. Raises TextError and UnknownNameError."""

    @property
    def opponents(self) -> OpponentModel: ...
    @property
    def stall(self) -> float:
        """The longest that the last search was kept from looking at the clock: seconds."""

    def observe(self, position: Position, move: Move) -> None:
        """Somebody else made this move. What it tells of its player is found out at our next
        choice: then the time for it is ours."""

    def forget(self) -> None:
        """Begin a new game: the others may be others."""

    def stop(self) -> None:
        """End the search that runs in another thread; it returns what it has found."""

    def candidates(self) -> list[dict[str, object]]:
        """What the last search thinks of each move, the most visited first; nothing where it needed
        none. See `core.engine.Capable`.

        Under "share" what the mover may expect of the win, under "order" the seats as they are
        expected to finish, under "penalty" what is left of the mover's: both by the mean over all
        positions where the tree ends, as often as each was visited.
        """

    def expectation(self) -> tuple[float, ...] | None:
        """Every seat's share of the win as the last search saw it, adding up to 1; None where it
        needed no tree."""

    def visits(self) -> list[tuple[Move, int]]:
        """How often the last search tried each move, the most first, without those it never
        tried."""

    def prediction(self, position: Position) -> dict[Move, float]:
        """How likely somebody of whom nothing is known makes each of the moves there are; nothing
        where no piece can move."""

    def choose(
        self, position: Position, limits: Limits, report: Callable[[SearchInfo], None] | None = None
    ) -> SearchInfo:
        """The most visited move.

        `report` is called with a first outcome within a millisecond and whenever a better move is
        found. Nodes are iterations, the score is the expected share of the win in thousandths, and
        the depth is the length of the principal variation; `limits.depth` is no bound for a tree
        search. The first 128 iterations are made whatever the deadline; what is not learned of the
        others when the search is stopped is lost. One thread gives the same answer for the same
        nodes, several do not. Where the game is over (a judge that plays on), the move that leaves
        the least cost. Raises RuleError when no piece can move.
        """
