"""Frozen opponents: the engine of the pool, a few searches over a few evaluations."""

from core.limits import Limits, SearchInfo
from ugolki.frozen.pool.players import Row
from ugolki.rules import Position

SEARCHES: tuple[str, ...]
"""The names of the searches, as rows have them."""

class Player:
    """A player of the pool; it owns the memory of its search."""

    def __init__(self, row: Row, seed: int = 0) -> None:
        """`seed` is of its noise. Raises TextError where a table of weights is damaged."""

    def choose(self, position: Position, limits: Limits) -> SearchInfo:
        """The best move by the player's row; see `core.rules.Searcher`.

        The player spends its part of the time, or of the nodes, that it is given. The score is in
        64ths of a move, a tree's the visits of the move. Raises RuleError when no piece can move.
        """
