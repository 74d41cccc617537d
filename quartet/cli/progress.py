"""A bar on a terminal; elsewhere a line on standard error now and then."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bar

from quartet.arena.run import drive
from quartet.cli.running import SAY_EVERY, duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quartet.arena.run import Workers
    from quartet.review.work import Kept, Piece, Unit


class Progress:
    """How far some work is."""

    def __init__(self, what: str, total: int, done: int = 0) -> None:
        self._what, self._total, self._before = what, total, done
        self._terminal = sys.stderr.isatty()
        self._bar = Bar(
            TextColumn(what),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=not self._terminal,
        )
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


def work_off(
    what: str, units: Iterator[Unit], total: int, workers: Workers[Unit, Piece], kept: Kept
) -> None:
    """Do all units that are not done yet, and keep each as it is done; says where it goes on when
    it is interrupted. `what` the units are, in the plural. Closes the workers."""
    try:
        with Progress(what, total, len(kept.done)) as progress:

            def record(piece: Piece) -> None:
                kept.add(piece)
                progress.done(len(kept.done))

            drive(units, workers, kept.done, record)
    except (KeyboardInterrupt, SystemExit):
        print(
            f"quartet: left after {len(kept.done)} {what}; the same command goes on",
            file=sys.stderr,
        )
        raise
    finally:
        workers.close()
