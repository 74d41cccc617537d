"""A program that lives for a whole game: lines to it, lines from it, and what it costs. Nothing it
does harms the judge.

Programs of one game share a `Hub`: while one is waited for, the others' output is taken and their
    memory is watched.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import psutil

from quartet.judge.process import sandbox
from quartet.judge.process.environment import environment
from quartet.judge.process.once import LOOK_EVERY, measure, pause_after
from quartet.judge.process.pipes import STDERR_LIMIT, Hub, Pipes, PollHub
from quartet.judge.process.tree import SPAWN, Tree
from quartet.judge.turn import ExitReport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LAST_WORDS = 0.5
"""Seconds that a program which has closed its output, or died, may take for its exit status and its
last words to arrive."""
ECHO = 0.05
"""Seconds that the output of a dead program may take to arrive, while a child of it holds the pipe
open."""
FINISH_SECONDS, TERMINATE_SECONDS = 1.0, 1.0
"""How long a program may take to end by itself, and then when it is asked to; an official tool
waits so long."""
OVERLOAD = 0.1
"""The machine was overloaded for a program that has waited for a processor this part of its time,
and had one for less than the rest."""
OUR_FAULTS = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN}
"""Reasons why a program cannot be started that are not the program's."""


class Word(Enum):
    """How waiting for a line ended."""

    LINE = "a line has come"
    LATE = "the time was up"
    MEMORY = "the program held too much memory"
    FLOOD = "more output than any answer has, and no end of the line"
    GONE = "the program has ended, or closed its output"


class Reply(NamedTuple):
    """What came of waiting for a line.

    Attributes:
        word: how it ended; line: the line without its end, None unless it is LINE.
        seconds: wall clock that the program has had.
        cpu: processor time of all its processes so far, where it was asked for.
    """

    word: Word
    line: bytes | None = None
    seconds: float = 0.0
    cpu: float = 0.0


class NotStartedError(OSError):
    """A program cannot be started, and it is the program's fault; the message says why."""


class LiveProgram:
    """One live program. `end` must be called, whatever happens.

    Attributes:
        pipes: what it says and hears; `pipes.remarks` is its standard error.
        megabytes: peak of the resident memory of all its processes together.
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
        """Start `command` in `cwd`: a string through the system's shell, a list as it is; `env`
        comes on top of our environment.

        Raises NotStartedError, and OSError where it is our own system that fails.
        """
        self.pipes = Pipes()
        self.megabytes = 0.0
        self._hub = hub
        self._limit = megabytes
        self._dismissed: float | None = None
        self._report: ExitReport | None = None
        self._exited: float | None = None
        self._notifier: int | None = None
        self._is_fat = False
        command = sandbox.started(command, cwd, environment(env or {}))
        self._tree = Tree()
        self._load = _Load(self._tree)
        try:
            self._main = psutil.Popen(
                command,
                shell=isinstance(command, str),
                cwd=cwd,
                env=environment(env or {}, self._tree.environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                **SPAWN,
            )
        except OSError as error:
            self._tree.close()
            if error.errno in OUR_FAULTS:
                raise
            raise NotStartedError(error.errno, f"{error.strerror}: {error.filename}") from error
        # interrupted, by a signal say, when the program may have been started already
        except BaseException:
            self._tree.kill(None)
            raise
        self.started = time.perf_counter()
        self._next_look = self.started
        try:
            self._tree.adopt(self._main)
            self._descriptors = [
                stream.fileno()
                for stream in (self._main.stdin, self._main.stdout, self._main.stderr)
            ]
            hub.connect(self.pipes, *self._descriptors)
            hub.watchers.append(self.look)
            self._watch_exit()
        except BaseException:
            self._tree.kill(self._main)
            raise

    def send(self, line: str, *, more: bool = False) -> None:
        """Send a line, or, with `more`, keep it for the next one that is sent: two lines at once
        wake the program only once.

        Never blocks, and never fails: a program that does not hear will not answer.
        """
        self.pipes.unsent += line.encode() + b"\n"
        if not more:
            self._hub.send(self.pipes)

    def dismiss(self, line: str) -> None:
        """Send the last line there is; from now on the program is expected to end."""
        self.send(line)
        self._dismissed = time.perf_counter()

    def cpu(self) -> float:
        """Processor time of all its processes so far, in seconds."""
        return self._tree.cpu()

    def receive(
        self, seconds: float, *, since: float | None = None, cpu_until: float | None = None
    ) -> Reply:
        """Wait for a line, until `seconds` of wall clock have gone by since `since` (a
        `time.perf_counter`, by default now), or, where `cpu_until` is given, until its processes
        have used so much processor time in all.
        """
        started = time.perf_counter() if since is None else since
        while True:
            is_time_to_look = time.perf_counter() >= self._next_look
            line = self.pipes.line()
            spent = time.perf_counter() - started
            if self._is_fat:
                return Reply(Word.MEMORY, seconds=spent)
            if spent > seconds:
                return Reply(Word.LATE, seconds=spent)
            cpu = (
                self.cpu()
                if cpu_until is not None and (line is not None or is_time_to_look)
                else 0.0
            )
            if cpu_until is not None and cpu > cpu_until:
                return Reply(Word.LATE, seconds=spent)
            if line is not None:
                return Reply(Word.LINE, line, spent, cpu)
            if self.pipes.full:
                return Reply(Word.FLOOD, seconds=spent)
            if self._is_gone():
                return Reply(Word.GONE, seconds=spent)
            self._hub.wait(seconds - spent)

    def look(self) -> float:
        """Look at the memory where it is time to; gives the seconds until it will be."""
        now = time.perf_counter()
        if now >= self._next_look:
            held = measure(self._tree, self._limit)
            self.megabytes = max(self.megabytes, held)
            if self._limit is not None and held > self._limit and not self._is_fat:
                self._is_fat = True
                # it may be another one's turn for long
                self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
            looked = time.perf_counter()
            self._next_look = looked + pause_after(looked - now)
        return self._next_look - now

    def loaded(self, beginning: str) -> frozenset[str]:
        """Libraries that its processes have loaded and whose names begin so; Linux tells."""
        found = set()
        for pid in self._tree.members():
            with suppress(OSError):
                for row in Path(f"/proc/{pid}/maps").read_text().splitlines():
                    path = row.partition("/")[2]
                    if path.rpartition("/")[2].startswith(beginning):
                        found.add(f"/{path}")
        return frozenset(found)

    def begin_load(self) -> None:
        """From now on it is watched whether the machine has time for the program."""
        self._load = _Load(self._tree)

    def overload(self, seconds: float) -> str | None:
        """Whether the machine had no time for a program that was waited for so long since
        `begin_load`: a sentence, or None."""
        return self._load.complaint(seconds)

    def last_words(self) -> int | None:
        """Wait a moment for a program that has gone; gives its exit status, None when it lives on.
        Its standard error is then complete."""
        deadline = time.perf_counter() + LAST_WORDS
        while not self._has_exited() and time.perf_counter() < deadline:
            self._hub.wait(LOOK_EVERY)
        self._drain()
        return None if not self._has_exited() else int(self._main.poll() or 0)

    def end(self, *, at_once: bool = False) -> ExitReport:
        """The program ends now, and whatever it has started: by itself, or when it is asked to, or
        killed; or `at_once`, killed.

        When this returns no process of it lives. May be called again.
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
        """Wait for the end: whether it had to be asked for, and the exit status, None when even
        that did not help."""
        if self._ends_by((self._dismissed or time.perf_counter()) + FINISH_SECONDS):
            return False, int(self._main.poll() or 0)
        self._signal(signal.SIGTERM)
        return True, int(self._main.poll() or 0) if self._ends_by(
            time.perf_counter() + TERMINATE_SECONDS
        ) else None

    def _signal(self, number: int) -> None:
        """Send a signal to the program and what it has started in its group."""
        with suppress(OSError, psutil.Error):
            if sys.platform == "win32":
                self._main.kill()
            else:
                os.killpg(self._main.pid, number)

    def _ends_by(self, deadline: float) -> bool:
        while not self._has_exited():
            remaining = deadline - time.perf_counter()
            if remaining <= 0:
                return False
            self.pipes.received.clear()  # nobody wants to hear it any more
            self._hub.wait(remaining)
        return True

    def _release(self) -> None:
        """Give up the pipes of a program that is dead. May be called again."""
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
        """Take what it has said on its standard error."""
        size = -1
        while size < self.pipes.remarks.size < STDERR_LIMIT:
            size = self.pipes.remarks.size
            self._hub.move(self._hub.lag)
        self.pipes.remarks.finish()

    def _watch_exit(self) -> None:
        """Be told of the end of the main process, where the system can; otherwise it is found out
        by looking."""
        if isinstance(self._hub, PollHub) and sys.platform == "linux":
            with suppress(OSError):
                self._notifier = os.pidfd_open(self._main.pid)
                self._descriptors.append(self._notifier)
                self._hub.watch(self._notifier, self._note_exit)

    def _note_exit(self) -> None:
        self.cpu()  # nobody can ask for it once we have waited for the process
        self._exited = time.perf_counter()

    def _has_exited(self) -> bool:
        """Whether the main process has ended."""
        if self._exited is None and self._notifier is None and self._main.poll() is not None:
            self._note_exit()
        return self._exited is not None

    def _is_gone(self) -> bool:
        """Whether nothing more will be said. What a dead program has said may still arrive, or its
        output be held open by a child."""
        return self.pipes.ended or (
            self._has_exited() and time.perf_counter() > (self._exited or 0) + ECHO
        )


class _Load:
    """What processors did for a program since this was made."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._used, self._waited, self._idle = tree.cpu(), tree.waited(), _idle_seconds()

    def complaint(self, seconds: float) -> str | None:
        """That the machine was overloaded while the program was waited for so long, or None."""
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
    """How long processors have had nothing to do, all together."""
    return float(psutil.cpu_times().idle)
