"""The cores of this machine: each plays one game at a time, of one run."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

import psutil

from core.errors import QuartetError
from quartet.arena.files import locked

if TYPE_CHECKING:
    from types import TracebackType

LOOK_SECONDS = 0.5
"""Between two looks for a free core."""


def usable_cores() -> list[int]:
    """The cores that this process may run on."""
    try:
        return sorted(psutil.Process().cpu_affinity())
    except AttributeError:  # macOS
        return list(range(os.cpu_count() or 1))


def pin(core: int | None) -> None:
    """Keep this process, and all that it starts, on one core, where the system can do that and the
    core is still there."""
    if core is not None:
        with suppress(AttributeError, OSError, ValueError, psutil.Error):  # macOS has no such call
            psutil.Process().cpu_affinity([core])


class Cores:
    """A core for each of so many jobs; other runs of this user leave them alone until they are
    closed, or this process ends.

    Attributes:
        of_jobs: the core of every job.
    """

    def __init__(self, jobs: int | None = None, *, crowded: bool = False) -> None:
        """Hold cores.

        Args:
            jobs: int | None; how many, by default all that no other run plays on; where there is
                none, it is waited for.
            crowded: bool; whether more than the free ones are taken, those first.

        Raises:
            QuartetError: more are asked for than are free.
        """
        usable = usable_cores()
        if jobs is None and not crowded:
            _wait_for_one(usable)
        with ExitStack() as held:
            free: list[int] = []
            for core in usable:
                if len(free) == jobs:
                    break
                # where nothing can be written, runs know nothing of each other
                with suppress(OSError):
                    lock = locked(_lock(core))
                    if lock is None:
                        continue
                    held.enter_context(lock)
                free.append(core)
            jobs = jobs or len(free) or len(usable)
            if jobs > len(free) and not crowded:
                taken = len(usable) - len(free)
                others = f", {taken} of which other runs play on," if taken else ""
                raise QuartetError(
                    f"{jobs} game{'s' * (jobs > 1)} at a time on {len(usable)} cores{others} would "
                    "take time from each other; --crowded allows it"
                )
            order = free + [core for core in usable if core not in free]
            self.of_jobs = [order[job % len(order)] for job in range(jobs)]
            self.close = held.pop_all().close

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let others have them."""
        self.close()


def _wait_for_one(usable: list[int]) -> None:
    """Wait until a core is free, and say so where it takes a while."""
    told = False
    while not any(map(_is_free, usable)):
        if not told:
            print(
                f"quartet: other runs play on all {len(usable)} cores; waiting for one "
                "(--crowded shares them)",
                file=sys.stderr,
            )
            told = True
        time.sleep(LOOK_SECONDS)


def _is_free(core: int) -> bool:
    """Whether no other run plays on a core."""
    try:
        lock = locked(_lock(core))
    except OSError:
        return True  # where nothing can be written, runs know nothing of each other
    if lock is None:
        return False
    lock.close()
    return True


def _lock(core: int) -> Path:
    """The file that a run holds while it plays on a core."""
    user = os.getuid() if hasattr(os, "getuid") else 0  # Windows has a folder for each
    return Path(tempfile.gettempdir(), f"quartet-{user}-core-{core}.lock")
