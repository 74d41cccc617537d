"""A bar on a terminal; elsewhere a line on standard error now and then."""

from __future__ import annotations

import sys
import time
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bar

from quartet.cli.running import SAY_EVERY, duration


class Progress:
    """How far some work is."""

    def __init__(self, what: str, total: int, done: int = 0) -> None:
        self._what, self._total, self._before = what, total, done
        self._terminal = sys.stderr.isatty()
        self._bar = Bar(
            TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True), transient=True, disable=not self._terminal,
        )  # fmt: skip
        self._task = self._bar.add_task(what, total=total, completed=done)
        self._began = self._said = time.monotonic()

    def done(self, number: int) -> None:
        """So many are done."""
        self._bar.update(self._task, completed=number)
        now = time.monotonic()
        if not self._terminal and now - self._said > SAY_EVERY:
            self._said = now
            left = (now - self._began) / max(1, number - self._before) * (self._total - number)
            print(
                f"quartet: {number} of {self._total} {self._what}, about {duration(left)} to go",
                file=sys.stderr,
                flush=True,
            )

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
