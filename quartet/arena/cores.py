"""The cores of this machine: each plays one game at a time, of one run; a game may have several."""

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
    from collections.abc import Sequence
    from types import TracebackType

THREADS = "QUARTET_THREADS"
"""The environment variable by which engines that search with threads know how many they have."""
LOOK_SECONDS = 0.5
"""Between two looks for a free core."""


def usable_cores() -> list[int]:
    """The cores that this process may run on."""
    try:
        return sorted(psutil.Process().cpu_affinity())
    except AttributeError:  # macOS
        return list(range(os.cpu_count() or 1))


def pin(cores: Sequence[int] | None) -> None:
    """Keep this process, and all that it starts, on these cores, where the system can do that and
    they are still there; engines have as many threads, or one where `cores` is None."""
    os.environ[THREADS] = str(len(cores or [0]))
    if cores is not None:
        with suppress(AttributeError, OSError, ValueError, psutil.Error):  # macOS has no such call
            psutil.Process().cpu_affinity(list(cores))


class Cores:
    """Cores for each of so many jobs; other runs of this user leave them alone until they are
    closed, or this process ends.

    Attributes:
        of_jobs: list[tuple[int, ...]]; the cores of every job.
    """

    def __init__(self, jobs: int | None = None, *, each: int = 1, crowded: bool = False) -> None:
        """Hold cores.

        Args:
            jobs: int | None; how many, by default as many as the cores that no other run plays on
                are enough for; where they are too few for one, they are waited for.
            each: int; cores of a job.
            crowded: bool; whether more than the free ones are taken, those first.

        Raises:
            QuartetError: more are asked for than are free, or than there are.
        """
        usable = usable_cores()
        if each > len(usable):
            raise QuartetError(
                f"a game on {each} cores needs them; this process may run on {len(usable)}"
            )
        if jobs is None and not crowded:
            _wait_for(each, usable)
        with ExitStack() as held:
            free: list[int] = []
            for core in usable:
                if jobs is not None and len(free) == each * jobs:
                    break
                # where nothing can be written, runs know nothing of each other
                with suppress(OSError):
                    lock = locked(_lock(core))
                    if lock is None:
                        continue
                    held.enter_context(lock)
                free.append(core)
            jobs = jobs or len(free) // each or len(usable) // each
            if each * jobs > len(free) and not crowded:
                taken = len(usable) - len(free)
                others = f", {taken} of which other runs play on," if taken else ""
                wide = f" of {each} cores each" * (each > 1)
                raise QuartetError(
                    f"{jobs} game{'s' * (jobs > 1)} at a time{wide} on {len(usable)} "
                    f"cores{others} would "
                    "take time from each other; --crowded allows it"
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
        """Let others have them."""
        self.close()


def _wait_for(each: int, usable: list[int]) -> None:
    """Wait until so many cores are free, and say so where it takes a while."""
    told = False
    while sum(map(_is_free, usable)) < each:
        if not told:
            missing = (
                f"all {len(usable)} cores; waiting for one"
                if each == 1
                else f"too many of {len(usable)} cores; waiting for {each}"
            )
            print(f"quartet: other runs play on {missing} (--crowded shares them)", file=sys.stderr)
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
