"""Memory of stalls for agents that start one process per move: the longest time for which the
machine kept a search from checking the clock.

The file exists only after moves that stalled, so it costs nothing otherwise.
"""

from __future__ import annotations

import math
import os

from core.agent.files import overwrite

FILE = "stall.txt"
"""Name of the file, next to the question. It contains one number: seconds."""
MIN_STALL = 0.02
"""Seconds. Shorter stalls are ignored: a target has room for three of them. Not tuned."""
MAX_STALL = 0.08
"""Seconds. Longer stalls count as this long: a machine that stood still for a second may do so
again whatever is planned, and the next moves need time. Not tuned."""
DECAY = 0.8
"""Factor of the remembered stall per move. Not tuned."""


def recall(folder: str) -> float:
    """Return the longest remembered stall in seconds, 0 if there is none."""
    try:
        with open(_path(folder), encoding="ascii") as file:
            stall = float(file.read(100))
    except (OSError, ValueError):
        return 0.0
    return min(stall, MAX_STALL) if math.isfinite(stall) and stall >= MIN_STALL else 0.0


def keep(folder: str, known: float, stall: float) -> None:
    """Store the stall for the next move, from the `known` seconds recalled and this search's
    `stall`.

    A folder that cannot be written to is not an error.
    """
    stall = min(MAX_STALL, max(DECAY * known, stall))
    if stall >= MIN_STALL:
        overwrite(_path(folder), f"{stall:.4f}\n", create=True)
    elif known:
        try:
            os.unlink(_path(folder))
        except OSError:
            pass


def _path(folder: str) -> str:
    return os.path.join(folder, FILE)
