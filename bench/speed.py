"""How fast rules and search are, as ratios in one run: machines are shared and noisy."""

from __future__ import annotations

import time
from dataclasses import dataclass

import registry
from core.clock import now
from core.limits import Limits
from core.rules import Position


@dataclass(frozen=True)
class Speed:
    """Figures of one game; leaves are counted by perft from the start, the last ply in bulk where the fast rules do so.

    Attributes:
        depth: of the fast perft; leaves: what it counted.
        fast, slow: leaves a second by the fast rules and by the reference rules.
        nodes: nodes a second of the search, over `seconds` from the start.
    """

    game: str
    depth: int
    leaves: int
    fast: float
    slow: float
    nodes: float

    @property
    def ratio(self) -> float:
        """How many times the fast rules are faster."""
        return self.fast / self.slow


def measure(game: str, depth: int | None = None, seconds: float = 1.0) -> Speed:
    """Perft by both rules and a search, one after the other. Without `depth`, as deep as the fast rules get in about `seconds`."""
    fast = registry.load(game, "rules").Position.start()
    slow = registry.load(game, "reference").Position.start()
    if depth is None:
        depth = 1
        while _perft(fast, depth)[1] < seconds / 20:
            depth += 1
    leaves, took = _perft(fast, depth)
    slow_depth = 1
    while (slow_count := _perft(slow, slow_depth))[1] < seconds / 20:
        slow_depth += 1
    info = registry.load(game, "engine").Engine().choose(fast, Limits(deadline=now() + seconds))
    return Speed(game, depth, leaves, leaves / took, slow_count[0] / slow_count[1], info.nps)


def _perft(position: Position, depth: int) -> tuple[int, float]:
    """The count, and seconds."""
    started = time.perf_counter()
    return position.perft(depth), time.perf_counter() - started
