"""The one progress display: a bar on a terminal, elsewhere a line on standard error now and
then."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bar

from quartet.arena.processes import undisturbed
from quartet.arena.runner import DoneT, Workers, WorkT, drive
from quartet.arena.store import ResultStore

DRAW_SECONDS = 0.5
"""Least time between two drawings of the table above the bar."""
PRINT_SECONDS = 30.0
"""Least time between two lines of a run that is not drawn."""


class Progress:
    """A bar of finished units with the time left, and above it an optional table."""

    def __init__(
        self,
        what: str,
        total: int | None,
        done: int = 0,
        *,
        view: Callable[[], RenderableType] | None = None,
        silent: bool | None = None,
    ) -> None:
        """Prepare the display.

        Args:
            what: What the units are, in the plural.
            total: Units in all, None if it is not known.
            done: Units that were finished before.
            view: Makes the table above the bar.
            silent: Print lines instead of drawing; None decides by standard error.
        """
        self._what, self._total, self._before = what, total, done
        self._view = view
        self._silent = not sys.stderr.isatty() if silent is None else silent
        self._bar = Bar(
            TextColumn(what),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        self._task = self._bar.add_task(what, total=total, completed=done, note="")
        self._live = Live(self._bar, console=Console(stderr=True), transient=True)
        self._began = self._printed = time.monotonic()
        self._drawn = -math.inf

    def update(self, done: int, total: int | None = None, *, note: str = "") -> None:
        """Show that `done` units are finished, with a note next to the bar."""
        self._total = total or self._total
        self._bar.update(self._task, completed=done, total=self._total, note=note)
        now = time.monotonic()
        if not self._silent:
            self._draw(now)
        elif now - self._printed > PRINT_SECONDS:
            self._printed = now
            line = f"quartet: {done}{f' of {self._total}' if self._total else ''} {self._what}"
            if self._total:
                left = (now - self._began) / max(1, done - self._before) * (self._total - done)
                line += f", about {duration(left)} to go"
            print(line, file=sys.stderr, flush=True)

    def _draw(self, now: float) -> None:
        if self._view is not None and now - self._drawn > DRAW_SECONDS:
            self._live.update(Group(self._view(), self._bar))
            self._drawn = time.monotonic()

    def __enter__(self) -> Self:
        if not self._silent:
            self._live.start()
            self._draw(time.monotonic())
        return self

    def __exit__(self, *_: object) -> None:
        if not self._silent:
            self._live.stop()


def run_units(
    what: str,
    units: Iterator[WorkT | None],
    total: int | None,
    workers: Workers[WorkT, DoneT],
    store: ResultStore[Any],
    *,
    view: Callable[[], RenderableType] | None = None,
    note: Callable[[], str] = str,
    silent: bool | None = None,
) -> None:
    """Do all units that the store has no result of, keep each result, and close the workers.

    If the run is interrupted, print how it resumes.

    Args:
        what: What the units are, in the plural.
        units: The schedule, as for `drive`.
        total: Units in all, None if it is not known.
        workers: Where the units are done.
        store: What keeps the results.
        view: Makes the table above the bar.
        note: Makes the text next to the bar.
        silent: As for `Progress`.
    """
    try:
        with Progress(what, total, len(store.done), view=view, silent=silent) as progress:

            def record(ended: DoneT) -> None:
                store.add(ended)
                progress.update(len(store.done), note=note())

            drive(units, workers, store.done, record)
    except (KeyboardInterrupt, SystemExit):
        number = len(store.done)
        print(
            f"quartet: stopped after {number} {what.removesuffix('s') if number == 1 else what}; "
            f"run the same command to resume from {store.folder}",
            file=sys.stderr,
        )
        raise
    finally:
        with undisturbed():
            workers.close()


def duration(seconds: float) -> str:
    """Return a time in the unit that fits, such as "2 h"."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
