"""Measure rules and search in one run: their ratio holds even on a shared, noisy machine."""

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
    """The speed of one game, by perft and search from the start position.

    Attributes:
        game: Its name.
        depth: Depth of the fast perft.
        leaves: Leaves at that depth.
        fast: Leaves per second by the fast rules, which may count the last ply in bulk.
        slow: Leaves per second by the reference rules.
        made: Leaves per second by the fast rules if they make every leaf; None if they always do.
        nodes: Nodes per second of the search.
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
        """Speed of the fast rules, in multiples of the reference rules'."""
        return self.fast / self.slow


def measure(game: str, depth: int | None = None, seconds: float = 1.0) -> Speed:
    """Run perft by both rules, then a search of `seconds`. Without `depth`, perft is as deep as the
    fast rules get in about that time."""
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
    """Return the first depth that takes long enough to measure."""
    depth = 1
    while _timed(perft, depth)[1] < seconds / 20:
        depth += 1
    return depth


def _timed(perft: Callable[[int], int], depth: int) -> tuple[int, float]:
    """Return the count, and the time in seconds."""
    started = time.perf_counter()
    return perft(depth), time.perf_counter() - started
