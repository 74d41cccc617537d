"""What an agent that is started anew for every move remembers of a machine that holds it up: the
longest time for which a search was kept from looking at the clock.

The file is there only after moves that were held up, so it costs the others nothing.
"""

from __future__ import annotations

import math
import os

FILE = "stall.txt"
"""The file's name; it lies beside the question. It holds a number: seconds."""
LEAST = 0.02
"""Seconds: shorter stalls are left out, for a target has room for three of them."""
MOST = 0.08
"""Seconds: longer ones are taken for that long. A machine that stood still for a second cannot be
outwitted, and the next moves need time, too."""
DECAY = 0.8
"""What is remembered becomes so much less with every move."""


def recall(folder: str) -> float:
    """Seconds that earlier moves were held up, at the longest; 0 where nothing is known."""
    try:
        with open(_path(folder), encoding="ascii") as file:
            stall = float(file.read(100))
    except (OSError, ValueError):
        return 0.0
    return min(stall, MOST) if math.isfinite(stall) and stall >= LEAST else 0.0


def keep(folder: str, known: float, stall: float) -> None:
    """Write down what the next move is to know, after `known` seconds were recalled and the search
    was held up for `stall`; a folder that cannot be written to is no reason to fail."""
    stall = min(MOST, max(DECAY * known, stall))
    try:
        if stall >= LEAST:
            with open(_path(folder), "w", encoding="ascii", newline="\n") as file:
                file.write(f"{stall:.4f}\n")
        elif known:
            os.unlink(_path(folder))
    except OSError:
        pass


def _path(folder: str) -> str:
    return os.path.join(folder, FILE)
