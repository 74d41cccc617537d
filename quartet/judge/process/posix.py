"""The processes of programs on Linux and macOS: how to find them all, whose they are, what they
use, and how to end them all.

Every program is started in a session of its own, and whatever it starts is in that session or in a
newer one. So the processes of programs are those in sessions whose members descend from us and that
were not there before. On Linux this process becomes a
*subreaper*: a process whose parent has died becomes our child instead of init's, and no fork,
double fork or setsid leads out of our sight. macOS has no such thing; there a process that leaves
the session and loses its parent between two looks escapes.

Several programs may live at a time. A new session belongs to the program that its first process
descends from when it is first seen; an orphan, whose parents are dead, to the program whose mark it
carries in its environment. One without either belongs to the
only program there is, or to nobody: it is a stray, and ended together with the last of the programs
    that could have started it.
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

LINUX: bool = sys.platform == "linux"

SPAWN: dict[str, Any] = {"start_new_session": True}
"""Keywords for Popen."""

TICKS = os.sysconf("SC_CLK_TCK")
"""The kernel's unit of time, per second."""
PR_SET_CHILD_SUBREAPER = 36
MARK = "QUARTET_TREE"
"""The name of the environment variable that tells whose a process is."""
SWEEP_SECONDS = 10.0
"""How long to go on stopping, and then killing. Only a process that hangs inside the kernel can
outlast this."""
FRESH_SECONDS = 0.01
"""How long the processes that were found are taken for all there are, where only their time is
asked for."""
LOOKS = 3
"""Looks in a row while processes die under our eyes before it is known whose they are."""
CLIMBS = 20
"""Attempts to follow a process up to us; one fails when an ancestor dies meanwhile."""

_lock = threading.RLock()
_living: list[Tree] = []
"""The trees that have not been ended yet."""
_owners: dict[int, Tree | frozenset[Tree] | None] = {}
"""Whose a session is: a tree's, one of several trees' (a stray's), or None: none of our
business."""


class Tree:
    """All processes of the one program that is started with `environment` after the tree was made;
    they are found anew at every look."""

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
                _look()
            _living.append(self)

    def adopt(self, main: psutil.Popen) -> None:
        """`main` is the program; it leads its session."""
        with _lock:
            self._main = main.pid
            _owners[main.pid] = self

    def members(self) -> list[int]:
        """The ids of the program's processes that there are now, the dead ones that nobody has
        waited for included.

        Orphans that have died are waited for.
        """
        with _lock:
            members = [pid for pid, owner in _look() if owner is self]
        for pid in members:
            if pid != self._main:
                with suppress(OSError):
                    self._reap(pid)
        self._seen, self._seen_at = members, time.monotonic()
        return members

    def cpu(self) -> float:
        """Seconds of processor time that the program's processes have used so far, dead ones
        included.

        A process that was started only just now may be counted a little later. What a child used
        that was waited for by a parent that ignores its death is lost when it happens between two
        looks.
        """
        members = self._seen if time.monotonic() < self._seen_at + FRESH_SECONDS else self.members()
        self._spent = max(self._spent, self._reaped + sum(map(_cpu, members)))
        return self._spent

    def waited(self) -> float | None:
        """Seconds that the program's threads have waited for a processor so far, None where the
        system does not say."""
        if not LINUX:
            return None
        return sum(_run_queue(pid) for pid in self.members())

    def kill(self, main: psutil.Popen | None) -> int:
        """End every process and wait until it is gone; gives the number of those that were alive,
        `main` not counted, nor those that are its sandbox.

        `main` is None where starting it was interrupted: it may or may not be there.

        They are stopped first and killed when none runs any more: killed one by one they could
        start others meanwhile. A signal to a whole process group reaches all its members at once,
        so that a fork bomb cannot outrun it, unless every process of the bomb starts a session of
        its own; then it is a race, and root starts it with an advantage.
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
                    # Those that are no children of ours yet will be: their parents die as well.
                    main.wait(0) if main is not None and pid == main.pid else self._reap(pid)
            time.sleep(0.001)
        self.close()
        return left

    def close(self) -> None:
        """The tree is no longer looked after: it has been ended, or no program was started."""
        with _lock, suppress(ValueError):
            _living.remove(self)

    def _doomed(self) -> list[int]:
        """The processes that must end with this program: its own, and strays that none of the
        others can have started."""
        with _lock:
            others = {tree for tree in _living if tree is not self}
            return [
                pid
                for pid, owner in _look()
                if owner is self
                or (
                    isinstance(owner, frozenset)
                    and self in owner
                    and not others.intersection(owner)
                )
            ]

    def _reap(self, pid: int) -> None:
        """Wait for a dead process that has become our child; its time is counted. Does nothing to
        others. Raises OSError."""
        found, _, usage = os.wait4(pid, os.WNOHANG)
        if found:
            self._reaped += usage.ru_utime + usage.ru_stime


def _look() -> list[tuple[int, Tree | frozenset[Tree]]]:
    """Every process of a program, with its owner. New sessions get theirs. The caller holds the
    lock."""
    for _ in range(LOOKS):
        found: list[tuple[int, Tree | frozenset[Tree]]] = []
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
        del _owners[session]  # its number may be given to another one
    return found


def _attribute(pid: int) -> Tree | frozenset[Tree] | None:
    """Whose a process is that is the first of its session to be seen. Raises ProcessLookupError
    where it dies before that is known."""
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


def _marked(pid: int) -> Tree | frozenset[Tree] | None:
    """Whose an orphan, or a child of ours, is."""
    if len(_living) == 1:
        return _living[0]
    with suppress(psutil.Error, OSError):
        mark = psutil.Process(pid).environ().get(MARK)
        for tree in _living:
            if tree._mark == mark:  # noqa: SLF001
                return tree
    return frozenset(_living) or None


def _sessions() -> Iterable[tuple[int, int]]:
    """Every process of the machine with its session; this asks the kernel for numbers only and is
    quick."""
    for pid in psutil.pids():
        with suppress(OSError):
            yield pid, os.getsid(pid)


def _own_cpu(pid: int) -> float:
    """Seconds of processor time of all threads of a process, to the microsecond where the system
    has them; 0 when it is gone."""
    if LINUX:
        with suppress(OSError):
            # the clock of another process; see clock_getcpuclockid(3)
            return time.clock_gettime((~pid << 3) | 2)
        return 0.0
    with suppress(psutil.Error):
        times = psutil.Process(pid).cpu_times()
        return times.user + times.system
    return 0.0


def _cpu(pid: int) -> float:
    """Seconds of processor time of a process and of its children that it has waited for."""
    inherited = 0.0
    if LINUX:
        with suppress(OSError, ValueError, IndexError):
            # After the name, which may hold anything, come the state and numbers; see
            # proc_pid_stat(5).
            numbers = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
            inherited = (int(numbers[13]) + int(numbers[14])) / TICKS
    else:
        with suppress(psutil.Error):
            times = psutil.Process(pid).cpu_times()
            inherited = times.children_user + times.children_system
    return _own_cpu(pid) + inherited


def _run_queue(pid: int) -> float:
    """Seconds that the threads of a process have been ready to run while others ran."""
    total = 0.0
    with suppress(OSError, ValueError, IndexError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                total += int((thread / "schedstat").read_text().split()[1]) / 1e9
    return total


def _stop(pids: Iterable[int], stopped: set[int]) -> bool:
    """Stop those of `pids` that are not in `stopped` yet, with their groups, and add them; whether
    there were any.

    Process groups do not span sessions, so nobody else is in them.
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
    """Take precedence over the processes of others, where the system lets us."""
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    except OSError:
        yield
    else:
        yield
        os.setpriority(os.PRIO_PROCESS, 0, usual)
