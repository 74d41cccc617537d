"""Run a program once, under a limit of wall clock and memory, and leave nothing of it behind.
Nothing it does harms the judge."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import psutil

from quartet.judge.process import sandbox
from quartet.judge.process.environment import environment
from quartet.judge.process.tree import SPAWN, Tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import IO

MEGABYTE = 1 << 20
STDERR_LIMIT = 1 << 16
"""Bytes of a program's standard error that are kept; the rest is read and dropped, so that the
program is never held up."""

FIRST_LOOK, LOOK_EVERY = 0.001, 0.01
"""Seconds to the first look at the memory, and between later ones."""
LOOK_COST, LONGEST_PAUSE = 4, 0.1
"""So many times what the last look took lies between two, for on a machine with many processes a
look is slow; but not more seconds: on an overloaded one a look takes long because others had the
processor."""

DEATH_SECONDS = 5.0
"""How long a killed process may take to die. Only one that hangs inside the kernel takes more than
an instant."""

_one_at_a_time = threading.Lock()
"""Of two programs at once an orphan that hides its descent could not be told apart. More at a time:
more processes of ours."""


class Ending(Enum):
    """How a run ended."""

    EXITED = "it ended by itself, well or not"
    LATE = "its time was up"
    MEMORY = "it held too much memory"
    NOT_STARTED = "the system could not start it"


@dataclass(frozen=True)
class Run:
    """What became of a program.

    Attributes:
        ending: how it ended.
        seconds: wall clock from just before the start until the main process had ended, or was
            found to be over a limit.
        megabytes: the largest resident memory of all its processes together that was seen, in units
            of 2**20 bytes. Pages that processes share count for each of them. A program too quick
            for the first look shows 0.
        exit: the exit status of the main process, -n for signal n, None unless `ending` is EXITED.
        stderr: the first STDERR_LIMIT bytes of its standard error.
        stderr_size: all bytes of its standard error.
        left_behind: other processes that were still alive when the main one had ended or was
            killed; they were killed.
        problem: for NOT_STARTED, what the system said.
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
) -> Run:
    """Run `command` in `folder`: a string through the system's shell, a list as it is.

    Standard input and output are empty; the processes get our environment and `env` on top. When
    this returns, or is left by an exception such as KeyboardInterrupt, no process of the program
    lives.
    """
    with _one_at_a_time:
        command = sandbox.started(command, folder, environment(env or {}))
        tree, main, drain = Tree(), None, None
        left_behind = 0
        started = time.perf_counter()
        try:
            main = psutil.Popen(
                command,
                shell=isinstance(command, str),
                cwd=folder,
                env=environment(env or {}, tree.environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                **SPAWN,
            )
            tree.adopt(main)
            drain = Drain(main.stderr)
            ending, spent, peak, status = _watch(main, tree, started, seconds, megabytes)
        except OSError as error:
            if main is not None:
                raise
            return Run(Ending.NOT_STARTED, 0.0, problem=f"{error.strerror}: {error.filename}")
        finally:
            # Also when a signal interrupts us in the middle of the start: the program may be there,
            # though we do not know it yet.
            left_behind = tree.kill(main)
            if drain is not None:
                drain.finish()
            elif main is not None:
                main.stderr.close()
        return Run(ending, spent, peak, status, bytes(drain.kept), drain.size, left_behind)


class Drain(threading.Thread):
    """Reads a pipe to its end and closes it; keeps the beginning.

    Attributes:
        kept: the first STDERR_LIMIT bytes.
        size: bytes read.
    """

    def __init__(self, pipe: IO[bytes]) -> None:
        super().__init__(name="drain", daemon=True)
        self._pipe = pipe
        self.kept = bytearray()
        self.size = 0
        self.start()

    def run(self) -> None:
        # ValueError: a signal came while we were made, and the pipe was closed
        with suppress(OSError, ValueError), self._pipe:
            while chunk := os.read(self._pipe.fileno(), 1 << 16):
                self.size += len(chunk)
                self.kept += chunk[: STDERR_LIMIT - len(self.kept)]

    def finish(self) -> None:
        """Wait for the end, which has come when every writer is dead; not for ever, as one of them
        may outlive being killed."""
        self.join(DEATH_SECONDS)


def _watch(
    main: psutil.Popen, tree: Tree, started: float, seconds: float, megabytes: float
) -> tuple[Ending, float, float, int | None]:
    """Wait until `main` ends or goes over a limit: how it ended, seconds, the peak of megabytes,
    exit status."""
    pause, peak = FIRST_LOOK, 0.0
    while True:
        remaining = started + seconds - time.perf_counter()
        try:
            status = main.wait(max(0.0, min(pause, remaining)))
        except psutil.TimeoutExpired:
            pass
        else:
            spent = time.perf_counter() - started
            return (
                (Ending.EXITED if spent <= seconds else Ending.LATE),
                spent,
                peak,
                None if spent > seconds else int(status or 0),
            )
        now = time.perf_counter()
        if now - started >= seconds:
            return Ending.LATE, now - started, peak, None
        peak = max(peak, measure(tree, megabytes))
        looked = time.perf_counter()
        if peak > megabytes:
            return Ending.MEMORY, looked - started, peak, None
        pause = pause_after(looked - now, min(2 * pause, LOOK_EVERY))


def pause_after(cost: float, usual: float = LOOK_EVERY) -> float:
    """Seconds to the next look at the memory, after one that took `cost` seconds."""
    return max(usual, min(LOOK_COST * cost, LONGEST_PAUSE))


def measure(tree: Tree, limit: float | None) -> float:
    """Resident memory of all processes of the tree, in megabytes; counting ends beyond the limit,
    for a fork bomb outgrows any look."""
    total = 0.0
    for pid in tree.members():
        with suppress(psutil.Error):
            total += psutil.Process(pid).memory_info().rss / MEGABYTE
        if limit is not None and total > limit:
            break
    return total
