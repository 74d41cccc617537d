"""One run of a program under limits of wall clock and memory, with nothing of it left
afterwards."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import IO

import psutil

from quartet.judge.process.pipes import DEATH_SECONDS, STDERR_LIMIT
from quartet.judge.process.spawn import spawn
from quartet.judge.process.tree import Tree

MEGABYTE = 1 << 20
FIRST_SAMPLE, SAMPLE_EVERY = 0.001, 0.01
"""Seconds until the first sample of the memory, and between later ones."""
SAMPLE_COST, LONGEST_PAUSE = 4, 0.1
"""The pause after a sample lasts at least SAMPLE_COST times as long as the sample took, for samples
are slow on a machine with many processes. It lasts at most LONGEST_PAUSE seconds, for on an
overloaded machine a sample is slow because others had the processor."""

_one_at_a_time = threading.Lock()
"""With two programs at once, an orphan that hides its descent could not be attributed. To run more
at a time, use more processes."""


class Ending(Enum):
    """How a run ended."""

    EXITED = "it exited, with whatever status"
    LATE = "its time was up"
    MEMORY = "it held too much memory"
    NOT_STARTED = "the system could not start it"


@dataclass(frozen=True)
class ProcessResult:
    """The outcome of a run.

    Attributes:
        ending: How it ended.
        seconds: Wall clock from just before the start until the main process had exited, or
            exceeded a limit.
        megabytes: Highest sampled resident memory of all its processes together, in units of 2**20
            bytes. Shared pages count for each process. 0 if it exited before the first sample.
        exit: Exit status of the main process, -n for signal n; None unless `ending` is EXITED.
        stderr: First STDERR_LIMIT bytes of its standard error.
        stderr_size: Size of its standard error in bytes.
        left_behind: Number of other processes that were alive at the end; they were killed.
        problem: The system's error, for NOT_STARTED.
    """

    ending: Ending
    seconds: float
    megabytes: float = 0.0
    exit: int | None = None
    stderr: bytes = b""
    stderr_size: int = 0
    left_behind: int = 0
    problem: str = ""


def run(
    command: str | Sequence[str],
    folder: Path,
    *,
    seconds: float,
    megabytes: float,
    env: Mapping[str, str] | None = None,
) -> ProcessResult:
    """Run a program; its standard input and output are empty.

    When this returns or raises, no process of the program is alive.

    Args:
        command: A string for the system's shell, or a list of arguments.
        folder: Working directory.
        seconds: Limit of wall clock.
        megabytes: Limit of resident memory, in units of 2**20 bytes.
        env: Additions to the environment.

    Raises:
        QuartetError: A sandbox is wanted, and this machine has none.
    """
    with _one_at_a_time:
        tree, main, reader = Tree(), None, None
        started = time.perf_counter()
        try:
            main = spawn(
                command,
                folder,
                env or {},
                tree,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
            tree.adopt(main)
            reader = PipeReader(main.stderr)
            ending, spent, peak, status = _watch(main, tree, started, seconds, megabytes)
        except OSError as error:
            if main is not None:
                raise
            problem = f"{error.strerror}: {error.filename}"
            return ProcessResult(Ending.NOT_STARTED, 0.0, problem=problem)
        finally:
            # A signal may interrupt the start: the program may run though `main` is None.
            left_behind = tree.kill(main)
            if reader is not None:
                reader.finish()
            elif main is not None:
                main.stderr.close()
        stderr = bytes(reader.kept)
        return ProcessResult(ending, spent, peak, status, stderr, reader.size, left_behind)


class PipeReader(threading.Thread):
    """A thread that reads a pipe to its end, keeps the beginning, and closes it.

    Attributes:
        kept: The first STDERR_LIMIT bytes.
        size: Number of bytes read.
    """

    def __init__(self, pipe: IO[bytes]) -> None:
        super().__init__(name="pipe reader", daemon=True)
        self._pipe = pipe
        self.kept = bytearray()
        self.size = 0
        self.start()

    def run(self) -> None:
        # ValueError: a signal interrupted the constructor, and the pipe was closed.
        with suppress(OSError, ValueError), self._pipe:
            while chunk := os.read(self._pipe.fileno(), 1 << 16):
                self.size += len(chunk)
                self.kept += chunk[: STDERR_LIMIT - len(self.kept)]

    def finish(self) -> None:
        """Wait until every writer has died, at most DEATH_SECONDS: one may outlive being killed."""
        self.join(DEATH_SECONDS)


def _watch(
    main: psutil.Popen, tree: Tree, started: float, seconds: float, megabytes: float
) -> tuple[Ending, float, float, int | None]:
    """Wait until `main` exits or exceeds a limit.

    Returns:
        How it ended, seconds spent, peak of megabytes, exit status.
    """
    pause, peak = FIRST_SAMPLE, 0.0
    while True:
        remaining = started + seconds - time.perf_counter()
        try:
            status = main.wait(max(0.0, min(pause, remaining)))
        except psutil.TimeoutExpired:
            pass
        else:
            spent = time.perf_counter() - started
            if spent > seconds:
                return Ending.LATE, spent, peak, None
            return Ending.EXITED, spent, peak, int(status or 0)
        now = time.perf_counter()
        if now - started >= seconds:
            return Ending.LATE, now - started, peak, None
        peak = max(peak, measure(tree, megabytes))
        sampled = time.perf_counter()
        if peak > megabytes:
            return Ending.MEMORY, sampled - started, peak, None
        pause = pause_after(sampled - now, min(2 * pause, SAMPLE_EVERY))


def pause_after(cost: float, usual: float = SAMPLE_EVERY) -> float:
    """Return the seconds until the next sample of the memory, after one that took `cost`
    seconds."""
    return max(usual, min(SAMPLE_COST * cost, LONGEST_PAUSE))


def measure(tree: Tree, limit: float | None) -> float:
    """Return the resident memory of all processes of a tree, in megabytes.

    Counting stops beyond the limit, since a fork bomb may grow faster than it is counted.
    """
    total = 0.0
    for pid in tree.members():
        with suppress(psutil.Error):
            total += psutil.Process(pid).memory_info().rss / MEGABYTE
        if limit is not None and total > limit:
            break
    return total
