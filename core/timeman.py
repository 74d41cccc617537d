"""Time management: turn a clock into the limits of one search.

Plain Python, because agents need it without compiled modules, too. Times are in seconds on the
clock of `core.native.clock`.
"""

from __future__ import annotations

from core.engine import MOVES_TO_GO, can
from core.limits import Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RESERVE = 0.15
"""Seconds of a game's clock that are never planned: transport of answers, and a busy machine. Not
tuned."""
SPARE_MOVES = 20
"""A game may last longer than its moves_to_go: the overhead of this many more moves is kept free.
Not tuned."""
MAX_OVERHEAD = 0.02
"""Seconds. A greater overhead of one move counts as this much: it is a single stall, for which the
reserve is there. Not tuned."""
LONGEST = 5.0
"""A move's maximum time is at most this many times its optimum time. 2.5 is not significantly
better: docs/experiments/006."""
MAX_FRACTION = 0.3
"""A move's maximum time is at most this part of the clock. Not tuned."""
SHARE = 25.0
"""A player without MOVES_TO_GO gets 1 / SHARE of the remaining clock per move. The simple players
need far less. Not tuned."""
EXIT_SECONDS = 0.010
"""Seconds from the end of a one-move process's search to its exit: one more answer to write, and
the exit. Measured: 1 to 4 ms, more on a busy machine."""

LATE = 1.25
"""A process with a target counts as late after this many times the target: 0.5 s for 0.4 s."""
STALLS = 3
"""Steps after a search that may each stall: the check that time is up, writing the answer, the exit
of the process."""


class Overhead:
    """What a game's clock loses per move outside planned searches: transport, and waiting for a
    processor on a busy machine."""

    def __init__(self) -> None:
        self._total = 0.0
        self._moves = 0
        self._left: float | None = None
        self._planned = 0.0

    @property
    def seconds(self) -> float:
        """The mean per move so far; 0 before the second move."""
        return self._total / max(1, self._moves)

    def new_game(self) -> None:
        """Expect another clock."""
        self._left = None

    def asked(self, left: float) -> None:
        """Take the clock in seconds, at the request of a move."""
        if self._left is not None:
            lost = self._left - left - self._planned
            self._total += min(max(lost, 0.0), MAX_OVERHEAD)
            self._moves += 1
        self._left, self._planned = left, 0.0

    def searched(self, planned: float) -> None:
        """Take the time of a search in seconds, without what exceeded its limits."""
        self._planned = planned


def game_limits(heard: float, left: float, moves_to_go: float, overhead: float = 0.0) -> Limits:
    """Return the optimum and the maximum time of a move, on a clock for the whole game.

    Args:
        heard: Time at which the search began.
        left: Seconds on the clock.
        moves_to_go: Number of moves like this one for which the clock must last.
        overhead: Seconds that the clock loses per move outside the searches.
    """
    usable = max(0.0, left - RESERVE - overhead * (moves_to_go + SPARE_MOVES))
    soft = usable / max(1.0, moves_to_go)
    return Limits(
        soft=heard + soft, deadline=heard + max(soft, min(LONGEST * soft, MAX_FRACTION * usable))
    )


def player_limits(
    player: object, position: Any, heard: float, left: float, overhead: float = 0.0
) -> Limits:
    """Return the limits of a player's move on a game clock, by its `moves_to_go` if it has it."""
    if not can(player, MOVES_TO_GO):
        return Limits(deadline=heard + left / SHARE)
    return game_limits(heard, left, player.moves_to_go(position), overhead)


def process_deadline(target: float) -> float:
    """Return the time at which a search must stop so that the process exits `target` seconds after
    its start."""
    from core.native.clock import now, process_age  # noqa: PLC0415  (compiled)

    return now() - process_age() + target - EXIT_SECONDS


def process_limits(target: float, stall: float = 0.0) -> Limits:
    """Return the limits of a search in a process that must exit `target` seconds after its start.

    Args:
        target: Seconds.
        stall: Longest stall of earlier moves, in seconds. The deadline leaves room for STALLS of
            them; the search does the same for stalls that it measures.
    """
    deadline = process_deadline(target)
    late = deadline + (LATE - 1) * target
    return Limits(deadline=min(deadline, late - STALLS * stall), late=late)
