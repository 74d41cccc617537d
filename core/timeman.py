"""Time management: how a clock becomes the limits of one search. Plain Python: agents need it where
nothing is compiled, too. All moments are on the clock of `core.native.clock`, in seconds."""

from __future__ import annotations

from core.engine import PACE, can
from core.limits import Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RESERVE = 0.15
"""Seconds of a game's clock that are never planned with: what answers take on their way, and a busy
machine."""
LONGEST = 5.0
"""The maximum time of a move is so many times its optimum time,"""
MOST = 0.3
"""but no more than this part of the clock."""
SHARE = 25.0
"""A move may take this part of what is left on the clock, 1 / SHARE, where the player does not say
how many moves it is to last (it lacks PACE). Our simple players take far less."""
EXIT_SECONDS = 0.010
"""What is left to do after the search of a process that plays one move: one more answer to write,
and its end. Measured: 1 to 4 ms, more on a busy machine."""

LATE = 1.25
"""Where a process has a target, it is taken to be late after so many times as long: 0.5 s for
0.4 s."""
STALLS = 3
"""What follows a search may be held up so many times: it is noticed that time is up, the answer is
written, the process ends."""


def game_limits(heard: float, left: float, pace: float) -> Limits:
    """Optimum and maximum time of a move on a clock for the whole game.

    Args:
        heard: float; when the search began.
        left: float; seconds on the clock.
        pace: float; for how many moves like this one the clock is to last.
    """
    usable = max(0.0, left - RESERVE)
    soft = usable / max(1.0, pace)
    return Limits(soft=heard + soft, deadline=heard + max(soft, min(LONGEST * soft, MOST * usable)))


def player_limits(player: object, position: Any, heard: float, left: float) -> Limits:
    """The limits of a player's move on a clock for the whole game, by the player's own `pace` where
    it has one."""
    if not can(player, PACE):
        return Limits(deadline=heard + left / SHARE)
    return game_limits(heard, left, player.pace(position))


def process_deadline(target: float) -> float:
    """When a search must stop for the whole process to be over `target` seconds after the system
    started it."""
    from core.native.clock import now, process_age  # noqa: PLC0415  (compiled)

    return now() - process_age() + target - EXIT_SECONDS


def process_limits(target: float, stall: float = 0.0) -> Limits:
    """Limits of the search of a process that is to be over `target` seconds after the system started
    it.

    Args:
        target: float; seconds.
        stall: float; seconds for which earlier moves were held up, at the longest. Room is left for
            STALLS of them, as the search leaves room for what it sees itself.
    """
    deadline = process_deadline(target)
    late = deadline + (LATE - 1) * target
    return Limits(deadline=min(deadline, late - STALLS * stall), late=late)
