"""How fast rules and search are, as ratios in one run: machines are shared and noisy."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass

from core.limits import Limits
from core.native.clock import now
from quartet import registry
from quartet.arena.cores import pin


@dataclass(frozen=True)
class Speed:
    """Figures of one game; leaves are counted by perft from the start, the last ply in bulk where
    the fast rules do so.

    Attributes:
        depth: of the fast perft; leaves: what it counted.
        fast, slow: leaves a second by the fast rules and by the reference rules.
        made: leaves a second by the fast rules when every leaf is made, not only counted; None
            where `perft` has no such way.
        nodes: nodes a second of the search, over `seconds` from the start.
    """

    game: str
    depth: int
    leaves: int
    fast: float
    slow: float
    made: float | None
    nodes: float

    @property
    def ratio(self) -> float:
        """How many times the fast rules are faster."""
        return self.fast / self.slow


def measure(game: str, depth: int | None = None, seconds: float = 1.0) -> Speed:
    """Perft by both rules and a search, one after the other. Without `depth`, as deep as the fast
    rules get in about `seconds`."""
    fast = registry.load(game, "rules").Position.start()
    slow = registry.load(game, "reference").Position.start()
    if depth is None:
        depth = _depth(fast.perft, seconds)
    leaves, took = _timed(fast.perft, depth)
    slow_leaves, slow_took = _timed(slow.perft, _depth(slow.perft, seconds))
    made = None
    if "bulk" in inspect.signature(fast.perft).parameters:
        make = functools.partial(fast.perft, bulk=False)
        made_leaves, made_took = _timed(make, _depth(make, seconds))
        made = made_leaves / made_took
    pin(None)  # one thread
    info = registry.load(game, "engine").Engine().choose(fast, Limits(deadline=now() + seconds))
    return Speed(game, depth, leaves, leaves / took, slow_leaves / slow_took, made, info.nps)


def _depth(perft: Callable[[int], int], seconds: float) -> int:
    """The first depth that takes long enough to be timed."""
    depth = 1
    while _timed(perft, depth)[1] < seconds / 20:
        depth += 1
    return depth


def _timed(perft: Callable[[int], int], depth: int) -> tuple[int, float]:
    """The count, and seconds."""
    started = time.perf_counter()
    return perft(depth), time.perf_counter() - started
