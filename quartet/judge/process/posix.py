"""The process tree of a program on Linux and macOS: all its processes, their use, their end.

Each program is started in its own session. Whatever it starts is in that session or in a newer one.
So a program's sessions are those that were not there before and whose members descend from the
judge.

On Linux the judge becomes a *subreaper*: a process whose parent has died becomes the judge's child
instead of init's, so no fork, double fork or setsid escapes. macOS has no subreapers: a process
that leaves its session and loses its parent between two scans escapes.

Several programs may run at a time. A new session belongs to the program that its first process
descends from when it is first seen. An orphan, whose ancestors have died, belongs to the program
whose mark it has in its environment. Without a mark it belongs to the only program there is. If
there are several, it is a *stray*: it is killed with the last of the programs that may have started
it.
"""

from __future__ import annotations

import ctypes
import os
import secrets
import signal
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from quartet.judge.process import sandbox

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeAlias

    Owner: TypeAlias = "PosixTree | frozenset[PosixTree]"

LINUX: bool = sys.platform == "linux"

SPAWN: dict[str, Any] = {"start_new_session": True}
"""Keywords for Popen."""

TICKS = os.sysconf("SC_CLK_TCK")
"""Clock ticks of the kernel per second."""
PR_SET_CHILD_SUBREAPER = 36
MARK = "QUARTET_TREE"
"""Environment variable that marks the processes of a program."""
SWEEP_SECONDS = 10.0
"""Seconds to repeat stopping, and then killing. Only a process that hangs inside the kernel
outlasts them."""
FRESH_SECONDS = 0.01
"""Seconds for which a list of processes stays valid for measuring their processor time."""
SCANS = 3
"""Scans in a row if processes die before they can be attributed."""
CLIMBS = 20
"""Attempts to climb from a process to the judge; one fails if an ancestor dies meanwhile."""

_lock = threading.RLock()
_living: list[PosixTree] = []
"""Trees that have not ended."""
_owners: dict[int, Owner | None] = {}
"""Session -> its tree; the trees that may own it (a stray); None if it is not a program's."""


class PosixTree:
    """All processes of one program. It is started after the tree was made, with `environment`."""

    def __init__(self) -> None:
        if LINUX:
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._mark = f"{os.getpid()}-{secrets.token_hex(8)}"
        self.environment = {MARK: self._mark}
        self._main: int | None = None
        self._reaped = 0.0
        self._spent = 0.0
        self._seen: list[int] = []
        self._seen_at = 0.0
        with _lock:
            if not _living:
                _owners.clear()
                _owners.update(dict.fromkeys((session for _, session in _sessions()), None))
            else:
                _scan()
            _living.append(self)

    def adopt(self, main: psutil.Popen) -> None:
        """Take over the program, which leads its session."""
        with _lock:
            self._main = main.pid
            _owners[main.pid] = self

    def members(self) -> list[int]:
        """Return the ids of the program's present processes, zombies included, and reap orphans."""
        with _lock:
            members = [pid for pid, owner in _scan() if owner is self]
        for pid in members:
            if pid != self._main:
                with suppress(OSError):
                    self._reap(pid)
        self._seen, self._seen_at = members, time.monotonic()
        return members

    def cpu(self) -> float:
        """Return the processor time of all processes so far in seconds, dead ones included.

        A process that has just started may be missing. The time of a child that dies between two
        scans is lost if its parent ignores its death.
        """
        members = self._seen if time.monotonic() < self._seen_at + FRESH_SECONDS else self.members()
        self._spent = max(self._spent, self._reaped + sum(map(_cpu, members)))
        return self._spent

    def waited(self) -> float | None:
        """Return the seconds that the program's threads have waited for a processor; None if the
        system does not report them."""
        if not LINUX:
            return None
        return sum(_run_queue(pid) for pid in self.members())

    def kill(self, main: psutil.Popen | None) -> int:
        """Kill every process, and wait until it has gone.

        All are stopped before any is killed: killed one by one, they could start others meanwhile.
        A signal to a process group reaches all members at once, so a fork bomb cannot outrun it,
        unless each of its processes starts a new session. Then it is a race, in which root has an
        advantage.

        Args:
            main: The program; None if its start was interrupted, so that it may be running or not.

        Returns:
            The number of processes that were alive, without `main` and its sandbox.
        """
        with _haste():
            stopped: set[int] = set()
            deadline = time.monotonic() + SWEEP_SECONDS
            while _stop(self._doomed(), stopped) and time.monotonic() < deadline:
                pass
        left = sum(_is_alive(pid) and not sandbox.holds(pid) for pid in stopped - {self._main})
        deadline = time.monotonic() + SWEEP_SECONDS
        while (members := self._doomed()) and time.monotonic() < deadline:
            for pid in members:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                with suppress(OSError, psutil.TimeoutExpired):
                    # Those that are not yet children of the judge will be: their parents die too.
                    main.wait(0) if main is not None and pid == main.pid else self._reap(pid)
            time.sleep(0.001)
        self.close()
        return left

    def close(self) -> None:
        """Forget the tree, once it has ended or if no program was started."""
        with _lock, suppress(ValueError):
            _living.remove(self)

    def _doomed(self) -> list[int]:
        """Return the processes that end with this program: its own, and strays that no other
        program can have started."""
        with _lock:
            others = {tree for tree in _living if tree is not self}
            return [
                pid
                for pid, owner in _scan()
                if owner is self
                or (
                    isinstance(owner, frozenset)
                    and self in owner
                    and not others.intersection(owner)
                )
            ]

    def _reap(self, pid: int) -> None:
        """Reap a process if it is a zombie, and count its time. Raises OSError if it is not a
        child of the judge."""
        found, _, usage = os.wait4(pid, os.WNOHANG)
        if found:
            self._reaped += usage.ru_utime + usage.ru_stime


def _scan() -> list[tuple[int, Owner]]:
    """Return every process of a program with its owner; attribute new sessions. The caller holds
    the lock."""
    for _ in range(SCANS):
        found: list[tuple[int, Owner]] = []
        alive, is_sure = set(), True
        for pid, session in _sessions():
            alive.add(session)
            if session not in _owners:
                try:
                    _owners[session] = _attribute(pid)
                except ProcessLookupError:  # what it started last may not be listed yet
                    is_sure = False
                    continue
            owner = _owners[session]
            if owner is not None:
                found.append((pid, owner))
        if is_sure:
            break
    for session in _owners.keys() - alive:
        del _owners[session]  # the system may reuse its number
    return found


def _attribute(pid: int) -> Owner | None:
    """Return the owner of a new session, by the process of it that was seen first.

    Raises:
        ProcessLookupError: The process died before that was known.
    """
    us = os.getpid()
    for _ in range(CLIMBS):
        above = pid
        try:
            while above > 1 and above != us:
                session = os.getsid(above)
                if session in _owners:
                    return _owners[session]
                above = psutil.Process(above).ppid()
        except (psutil.Error, OSError):
            continue
        return _marked(pid) if above == us else None
    raise ProcessLookupError(pid)


def _marked(pid: int) -> Owner | None:
    """Return the owner of an orphan, or of a child of the judge."""
    if len(_living) == 1:
        return _living[0]
    with suppress(psutil.Error, OSError):
        mark = psutil.Process(pid).environ().get(MARK)
        for tree in _living:
            if tree._mark == mark:  # noqa: SLF001
                return tree
    return frozenset(_living) or None


def _sessions() -> Iterable[tuple[int, int]]:
    """Yield every process of the machine with its session. It is quick: the kernel returns only
    numbers."""
    for pid in psutil.pids():
        with suppress(OSError):
            yield pid, os.getsid(pid)


def _cpu(pid: int) -> float:
    """Return the processor time of all threads of a process and of its reaped children, in seconds;
    0 if it has gone."""
    if not LINUX:
        with suppress(psutil.Error):
            return sum(psutil.Process(pid).cpu_times()[:4])
        return 0.0
    own = inherited = 0.0
    with suppress(OSError):
        own = time.clock_gettime((~pid << 3) | 2)  # see clock_getcpuclockid(3)
    with suppress(OSError, ValueError, IndexError):
        # After the name, which may hold anything, come the state and numbers; see proc_pid_stat(5).
        numbers = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        inherited = (int(numbers[13]) + int(numbers[14])) / TICKS
    return own + inherited


def _run_queue(pid: int) -> float:
    """Return the seconds for which threads of a process were ready but not running."""
    total = 0.0
    with suppress(OSError, ValueError, IndexError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                total += int((thread / "schedstat").read_text().split()[1]) / 1e9
    return total


def _stop(pids: Iterable[int], stopped: set[int]) -> bool:
    """Stop the processes that are not in `stopped`, with their groups, and add them.

    Process groups do not span sessions, so other programs are not affected.

    Returns:
        True if there were any.
    """
    before = len(stopped)
    groups: set[int] = set()
    for pid in pids:
        if pid not in stopped:
            stopped.add(pid)
            with suppress(OSError):
                group = os.getpgid(pid)
                if group not in groups:
                    groups.add(group)
                    os.killpg(group, signal.SIGSTOP)
    return len(stopped) > before


def _is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


@contextmanager
def _haste() -> Iterator[None]:
    """Raise the judge's priority, if the system allows."""
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    except OSError:
        yield
    else:
        yield
        os.setpriority(os.PRIO_PROCESS, 0, usual)
