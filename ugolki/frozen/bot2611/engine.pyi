"""A frozen opponent: the bot of November 2026, Monte Carlo tree search over max^n values with
networks of its own and a model of the other players."""

from collections.abc import Callable

from core.limits import Limits, SearchInfo
from core.rules import Move
from ugolki.rules import Position

class Bot2611:
    """The player `bot2611`; it owns the tree, which it makes anew for every choice."""

    CAPABILITIES: frozenset[str]
    SCORE_UNIT: str

    def observe(self, position: Position, move: Move) -> None:
        """Somebody else made this move. What it tells of its player is found out at our next
        choice: then the time for it is ours."""

    def stop(self) -> None:
        """End the search that runs in another thread; it returns what it has found."""

    def choose(
        self, position: Position, limits: Limits, report: Callable[[SearchInfo], None] | None = None
    ) -> SearchInfo:
        """The most visited move.

        `report` is called with a first outcome within a millisecond and whenever a better move is
        found. Nodes are iterations, the score is the expected share of the win in thousandths, and
        the depth is the length of the principal variation; `limits.depth` is no bound for a tree
        search. The first 128 iterations are made whatever the deadline. Where the game is over (a
        judge that plays on), the move that leaves the least cost. Raises RuleError when no piece
        can move.
        """
