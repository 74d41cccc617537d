"""The cores of this machine. Every game of every run has its own, unless the user shares them."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

from core.errors import QuartetError
from quartet.arena.files import is_held, locked

THREADS = "QUARTET_THREADS"
"""The environment variable with the number of threads of an engine that searches with threads."""
PROBE_SECONDS = 0.5
"""Time between two probes for a free core."""


def usable_cores() -> list[int]:
    """Return the cores that this process may run on."""
    try:
        return sorted(psutil.Process().cpu_affinity())
    except AttributeError:  # macOS
        return list(range(os.cpu_count() or 1))


def pin(cores: Sequence[int] | None) -> None:
    """Keep this process, and all that it starts, on these cores if the system can do that.

    Engines get one thread per core, or one thread if `cores` is None.
    """
    os.environ[THREADS] = str(len(cores or [0]))
    if cores is not None:
        with suppress(AttributeError, OSError, ValueError, psutil.Error):  # macOS has no such call
            psutil.Process().cpu_affinity(list(cores))


class Cores:
    """Cores for a number of jobs, locked against other runs of this user until they are closed.

    Attributes:
        of_jobs: The cores of every job.
    """

    def __init__(
        self, jobs: int | None = None, *, each: int = 1, oversubscribe: bool = False
    ) -> None:
        """Lock cores.

        Args:
            jobs: Jobs at a time. None takes all free cores, and waits if they are too few for one
                job.
            each: Cores per job.
            oversubscribe: Share cores with other runs, free ones first.

        Raises:
            QuartetError: More cores are wanted than are free, or than the machine has.
        """
        usable = usable_cores()
        if each > len(usable):
            raise QuartetError(
                f"a game on {each} cores needs {each}; this process may run on {len(usable)}"
            )
        if jobs is None and not oversubscribe:
            _wait_for(each, usable)
        with ExitStack() as held:
            free: list[int] = []
            for core in usable:
                if jobs is not None and len(free) == each * jobs:
                    break
                with suppress(OSError):  # without a place for locks, runs share cores
                    # twice: a run that waits for cores takes each lock for a moment
                    lock = locked(_lock(core)) or locked(_lock(core))
                    if lock is None:
                        continue
                    held.enter_context(lock)
                free.append(core)
            jobs = jobs or len(free) // each or len(usable) // each
            if each * jobs > len(free) and not oversubscribe:
                wide = f" of {each} cores each" * (each > 1)
                raise QuartetError(
                    f"cannot run {jobs} game{'s' * (jobs > 1)}{wide} at a time: {len(free)} of "
                    f"{len(usable)} cores are free; lower --jobs or pass --oversubscribe"
                )
            order = free + [core for core in usable if core not in free]
            self.of_jobs = [
                tuple(order[(each * job + i) % len(order)] for i in range(each))
                for job in range(jobs)
            ]
            self.close = held.pop_all().close

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Release the cores."""
        self.close()


def _wait_for(each: int, usable: list[int]) -> None:
    """Wait until `each` cores are free, and print a message if they are not free at once."""
    announced = False
    while len(usable) - sum(is_held(_lock(core)) for core in usable) < each:
        if not announced:
            print(
                f"quartet: waiting until {each} of {len(usable)} cores are free; other runs use "
                "them (--oversubscribe shares them)",
                file=sys.stderr,
            )
            announced = True
        time.sleep(PROBE_SECONDS)


def _lock(core: int) -> Path:
    """Return the path of the file that a run locks while it uses a core."""
    user = os.getuid() if hasattr(os, "getuid") else 0  # Windows has a folder for each user
    return Path(tempfile.gettempdir(), f"quartet-{user}-core-{core}.lock")
