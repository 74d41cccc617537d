"""A frozen opponent: Monte Carlo tree search with so many iterations a move."""

from core.limits import Limits, SearchInfo
from ugolki.rules import Position

class Uct:
    """The player `uct:ITERATIONS`; it owns the tree, which it makes anew for every choice."""

    def __init__(self, iterations: int) -> None: ...
    def choose(self, position: Position, limits: Limits) -> SearchInfo:
        """The most visited move after the player's iterations, or as many as the limits allow.

        The score is the expected share of the win in thousandths.
        """
