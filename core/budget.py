"""How much of a clock for a whole game one move may take. Plain Python: an agent needs it where
nothing is compiled, too."""

from __future__ import annotations

from core.limits import Limits

RESERVE = 0.15
"""Seconds of the clock that are never planned with: what answers take on their way, and a busy
machine."""
LONGEST = 5.0
"""A move that turns out to be hard may take so many times what was meant for it,"""
MOST = 0.3
"""but no more than this part of the clock."""


def budget(heard: float, left: float, pace: float) -> Limits:
    """Bounds of a search that began at `heard`, with `left` seconds on the clock; one part in
    `pace` is meant for it."""
    usable = max(0.0, left - RESERVE)
    soft = usable / max(1.0, pace)
    return Limits(soft=heard + soft, deadline=heard + max(soft, min(LONGEST * soft, MOST * usable)))
