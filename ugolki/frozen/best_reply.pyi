"""A frozen opponent: best-reply search to a fixed depth."""

from core.limits import Limits, SearchInfo
from ugolki.rules import Position

class BestReply:
    """The player `brs:DEPTH`; it owns the search's memory, about 1.6 MB."""

    def __init__(self, depth: int) -> None: ...
    def choose(self, position: Position, limits: Limits) -> SearchInfo:
        """The best move at the player's depth, or at the depth that the limits allow; see
        `core.rules.Searcher`."""
