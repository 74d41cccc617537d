"""A persistent program: lines to it, lines from it, and its use of memory and processor.

Programs of one game share a `Hub`: while the judge waits for one, it reads the others' output and
watches their memory.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import psutil

from quartet.judge.process.once import SAMPLE_EVERY, measure, pause_after
from quartet.judge.process.pipes import STDERR_LIMIT, Hub, Pipes, PollHub
from quartet.judge.process.spawn import spawn
from quartet.judge.process.tree import Tree
from quartet.judge.turn import ExitReport

LAST_WORDS = 0.5
"""Seconds in which the exit status and the last output of a program must arrive, once it has died
or closed its output."""
ECHO = 0.05
"""Seconds in which the output of a dead program must arrive, if a child holds the pipe open."""
FINISH_SECONDS, TERMINATE_SECONDS = 1.0, 1.0
"""Seconds for a program to exit by itself, and then after SIGTERM, as in an official tool."""
OVERLOAD = 0.1
"""The machine was overloaded if a program waited for a processor for more than this part of the
time, and had one for less than the rest."""
SYSTEM_ERRORS = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN}
"""Errors of a start for which the program is not to blame."""


class ReadStatus(Enum):
    """How waiting for a line ended."""

    LINE = "a line has come"
    LATE = "the time was up"
    MEMORY = "the program held too much memory"
    FLOOD = "more output than any answer has, without an end of the line"
    GONE = "the program has exited, or closed its output"


class Reply(NamedTuple):
    """The outcome of waiting for a line.

    Attributes:
        status: How it ended.
        line: The line without its end; None unless the status is LINE.
        seconds: Wall clock that the program has had.
        cpu: Processor time of all its processes so far, if it was asked for.
    """

    status: ReadStatus
    line: bytes | None = None
    seconds: float = 0.0
    cpu: float = 0.0


class NotStartedError(OSError):
    """A program cannot be started, and is to blame for it."""


class LiveProgram:
    """A persistent program. The caller must call `end`.

    Attributes:
        pipes: Its input and output; `pipes.stderr` is its standard error.
        megabytes: Peak of the sampled resident memory of all its processes together.
        started: When it was started, by `time.perf_counter`.
    """

    def __init__(
        self,
        hub: Hub,
        command: str | Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        megabytes: float | None = None,
    ) -> None:
        """Start a program.

        Args:
            hub: Moves its input and output.
            command: A string for the system's shell, or a list of arguments.
            cwd: Working directory [default: the current one].
            env: Additions to the environment.
            megabytes: Limit of memory, at which it is killed; None for no limit.

        Raises:
            NotStartedError: The program is to blame.
            OSError: The system is to blame.
        """
        self.pipes = Pipes()
        self.megabytes = 0.0
        self._hub = hub
        self._limit = megabytes
        self._dismissed: float | None = None
        self._report: ExitReport | None = None
        self._exited: float | None = None
        self._notifier: int | None = None
        self._too_big = False
        self._tree = Tree()
        self._load = _Load(self._tree)
        try:
            self._main = spawn(
                command,
                cwd,
                env or {},
                self._tree,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
            )
        except OSError as error:
            self._tree.close()
            if error.errno in SYSTEM_ERRORS:
                raise
            raise NotStartedError(error.errno, f"{error.strerror}: {error.filename}") from error
        except BaseException:  # a signal, perhaps: the program may have been started
            self._tree.kill(None)
            raise
        self.started = self._next_sample = time.perf_counter()
        try:
            self._tree.adopt(self._main)
            streams = (self._main.stdin, self._main.stdout, self._main.stderr)
            self._descriptors = [stream.fileno() for stream in streams]
            hub.connect(self.pipes, *self._descriptors)
            hub.watchers.append(self.look)
            self._watch_exit()
        except BaseException:
            self._tree.kill(self._main)
            raise

    def send(self, line: str, *, more: bool = False) -> None:
        """Send a line; never block, never fail.

        Args:
            line: The line without its end.
            more: Send it together with the next line, which wakes the program only once.
        """
        self.pipes.unsent += line.encode() + b"\n"
        if not more:
            self._hub.send(self.pipes)

    def dismiss(self, line: str) -> None:
        """Send the last line; from now on the program is expected to exit."""
        self.send(line)
        self._dismissed = time.perf_counter()

    def cpu(self) -> float:
        """Return the processor time of all its processes so far, in seconds."""
        return self._tree.cpu()

    def receive(
        self, seconds: float, *, since: float | None = None, cpu_until: float | None = None
    ) -> Reply:
        """Wait for a line.

        Args:
            seconds: Limit of wall clock.
            since: When that began, by `time.perf_counter`; by default now.
            cpu_until: Limit of the processor time that its processes have used in all, in seconds.
        """
        started = time.perf_counter() if since is None else since
        while True:
            due = time.perf_counter() >= self._next_sample
            line = self.pipes.line()
            spent = time.perf_counter() - started
            if self._too_big:
                return Reply(ReadStatus.MEMORY, seconds=spent)
            if spent > seconds:
                return Reply(ReadStatus.LATE, seconds=spent)
            cpu = self.cpu() if cpu_until is not None and (line is not None or due) else 0.0
            if cpu_until is not None and cpu > cpu_until:
                return Reply(ReadStatus.LATE, seconds=spent)
            if line is not None:
                return Reply(ReadStatus.LINE, line, spent, cpu)
            if self.pipes.full:
                return Reply(ReadStatus.FLOOD, seconds=spent)
            if self._is_gone():
                return Reply(ReadStatus.GONE, seconds=spent)
            self._hub.wait(seconds - spent)

    def look(self) -> float:
        """Sample the memory if it is time to; return the seconds until the next sample."""
        now = time.perf_counter()
        if now >= self._next_sample:
            held = measure(self._tree, self._limit)
            self.megabytes = max(self.megabytes, held)
            if self._limit is not None and held > self._limit:
                self._too_big = True
                # At once, as the judge may be waiting for another program; and again, as a process
                # outside the group may survive or start others.
                self._kill()
            sampled = time.perf_counter()
            self._next_sample = sampled + pause_after(sampled - now)
        return self._next_sample - now

    def loaded(self, beginning: str) -> frozenset[str]:
        """Return the files that its processes have mapped and whose names begin so (Linux only)."""
        found = set()
        for pid in self._tree.members():
            with suppress(OSError):
                for row in Path(f"/proc/{pid}/maps").read_text().splitlines():
                    path = row.partition("/")[2]
                    if path.rpartition("/")[2].startswith(beginning):
                        found.add(f"/{path}")
        return frozenset(found)

    def begin_load(self) -> None:
        """Begin to measure whether the machine has time for the program."""
        self._load = _Load(self._tree)

    def overload(self, seconds: float) -> str | None:
        """Return a sentence if the machine was overloaded since `begin_load`; else None.

        Args:
            seconds: How long the judge has waited for the program since then.
        """
        return self._load.complaint(seconds)

    def last_words(self) -> int | None:
        """Wait until a program that has gone exits, and return its status; None if it does not.

        Its standard error is complete then.
        """
        deadline = time.perf_counter() + LAST_WORDS
        while not self._has_exited() and time.perf_counter() < deadline:
            self._hub.wait(SAMPLE_EVERY)
        self._drain()
        return None if not self._has_exited() else int(self._main.poll() or 0)

    def end(self, *, at_once: bool = False) -> ExitReport:
        """End the program and all its processes. May be called again.

        Args:
            at_once: Kill it, instead of waiting for it to exit and then sending SIGTERM.
        """
        if self._report is None:
            asked, status, cpu, left_behind = False, None, 0.0, 0
            try:
                if at_once:
                    status = self._main.poll() if self._has_exited() else None
                else:
                    asked, status = self._let_end()
                cpu = self.cpu()
            finally:
                left_behind = self._tree.kill(self._main)
                self._release()
            self._report = ExitReport(status, asked, left_behind, cpu, self.megabytes)
        return self._report

    def _let_end(self) -> tuple[bool, int | None]:
        """Wait for the exit; return whether it took SIGTERM, and the status, None if it runs on."""
        if self._ends_by((self._dismissed or time.perf_counter()) + FINISH_SECONDS):
            return False, int(self._main.poll() or 0)
        self._signal(signal.SIGTERM)
        return True, int(self._main.poll() or 0) if self._ends_by(
            time.perf_counter() + TERMINATE_SECONDS
        ) else None

    def _signal(self, number: int) -> None:
        """Send a signal to the program and its process group."""
        with suppress(OSError, psutil.Error):
            if sys.platform == "win32":
                self._main.kill()
            else:
                os.killpg(self._main.pid, number)

    def _kill(self) -> None:
        """Kill all its processes once; the tree still counts their time."""
        self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        if sys.platform != "win32":
            for pid in self._tree.members():
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)

    def _ends_by(self, deadline: float) -> bool:
        while not self._has_exited():
            remaining = deadline - time.perf_counter()
            if remaining <= 0:
                return False
            self.pipes.received.clear()  # it is no longer of interest
            self._hub.wait(remaining)
        return True

    def _release(self) -> None:
        """Close the pipes of a dead program. May be called again."""
        if self.look not in self._hub.watchers:
            return
        self._drain()
        self._hub.watchers.remove(self.look)
        self._hub.disconnect(self.pipes, *self._descriptors)
        for stream in (self._main.stdin, self._main.stdout, self._main.stderr):
            with suppress(OSError):
                stream.close()
        if self._notifier is not None:
            os.close(self._notifier)

    def _drain(self) -> None:
        """Read what is left of its standard error."""
        size = -1
        while size < self.pipes.stderr.size < STDERR_LIMIT:
            size = self.pipes.stderr.size
            self._hub.move(self._hub.lag)
        self.pipes.stderr.finish()

    def _watch_exit(self) -> None:
        """Have the system report the exit of the main process; it is polled if it cannot."""
        if isinstance(self._hub, PollHub) and sys.platform == "linux":
            with suppress(OSError):
                self._notifier = os.pidfd_open(self._main.pid)
                self._descriptors.append(self._notifier)
                self._hub.watch(self._notifier, self._note_exit)

    def _note_exit(self) -> None:
        self.cpu()  # the last chance: it cannot be measured once the process has been reaped
        self._exited = time.perf_counter()

    def _has_exited(self) -> bool:
        """Return True if the main process has exited."""
        if self._exited is None and self._notifier is None and self._main.poll() is not None:
            self._note_exit()
        return self._exited is not None

    def _is_gone(self) -> bool:
        """Return True if no more output will come.

        Output of a dead program may still arrive, or a child may hold its pipe open.
        """
        return self.pipes.ended or (
            self._has_exited() and time.perf_counter() > (self._exited or 0) + ECHO
        )


class _Load:
    """Processor time that a program got, and waited for, since this was made."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._used, self._waited, self._idle = tree.cpu(), tree.waited(), _idle_seconds()

    def complaint(self, seconds: float) -> str | None:
        """Return a sentence if the machine was overloaded during `seconds` of waiting; else
        None."""
        used, waited = self._tree.cpu() - self._used, self._tree.waited()
        if waited is None or self._waited is None:
            starved = _idle_seconds() - self._idle < OVERLOAD * seconds
            words = "no processor was idle"
        else:
            starved = waited - self._waited > OVERLOAD * seconds
            words = f"{waited - self._waited:.2f} s waiting for a processor"
        if not starved or used > (1 - OVERLOAD) * seconds:
            return None
        return (
            f"the machine was overloaded: {used:.2f} s of processor time in {seconds:.2f} s, "
            f"{words}"
        )


def _idle_seconds() -> float:
    """Return the idle time of all processors together, in seconds."""
    return float(psutil.cpu_times().idle)
