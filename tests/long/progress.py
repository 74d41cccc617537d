"""Attempts and progress lines of long trials."""

from __future__ import annotations

import time
from collections.abc import Callable

Attempt = Callable[[int], tuple[int, str]]
"""Make the attempt of this number. Returns what it counted, and what failed, "" if nothing did. May
raise QuartetError instead."""


class Interval:
    """A timer of progress lines."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._last = time.monotonic()

    def is_due(self) -> bool:
        """Return True if `seconds` have passed since the last call that returned True."""
        now = time.monotonic()
        if now - self._last < self._seconds:
            return False
        self._last = now
        return True
