"""A frozen opponent: max^n Monte Carlo tree search by UCB1 over a static evaluation."""

from core.limits import Limits, SearchInfo
from ugolki.rules import Position

class Ucb:
    """The player `ucb`. It builds a new tree for every move."""

    def __init__(self, iterations: int = 0, milliseconds: float = 0.0) -> None:
        """Bound each search; 0 is no bound.

        Raises:
            TextError: The table of triples is damaged.
        """

    def choose(self, position: Position, limits: Limits) -> SearchInfo:
        """Return the most visited move; see `core.rules.Searcher`.

        The search stops at the first bound that it reaches, its own or that of the limits. Without any bound
        it runs 10,000 iterations. The score is the mover's expected win share in thousandths.

        Raises:
            RuleError: The seat to move has no legal move.
        """
