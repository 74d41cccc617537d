"""The processes of one program on Linux and macOS: how to find them all, and how to end them all.

Every program is started in a session of its own, and whatever it starts is in that session or in a newer one. So the program's
processes are those in sessions whose members descend from us and that were not there before. On Linux this process becomes a
*subreaper*: a process whose parent has died becomes our child instead of init's, and no fork, double fork or setsid leads out of
our sight. macOS has no such thing; there a process that leaves the session and loses its parent between two looks escapes.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SPAWN: dict[str, Any] = {"start_new_session": True}
"""Keywords for Popen."""

PR_SET_CHILD_SUBREAPER = 36
SWEEP_SECONDS = 10.0
"""How long to go on stopping, and then killing. Only a process that hangs inside the kernel can outlast this."""
CLIMBS = 20
"""Attempts to follow a process up to us; one fails when an ancestor dies meanwhile."""


class Tree:
    """All processes of the one program that is started after the tree was made; they are found anew at every look."""

    def __init__(self) -> None:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._us = os.getpid()
        self._ours: set[int] = set()
        self._others = {session for _, session in _sessions()}

    def adopt(self, main: psutil.Popen) -> None:
        """`main` is the program; it leads its session."""
        self._ours.add(main.pid)

    def members(self) -> Iterator[int]:
        """The ids of the program's processes that there are now, the dead ones that nobody has waited for included."""
        for pid, session in _sessions():
            if session not in self._ours and session not in self._others:
                (self._ours if self._descends(pid) else self._others).add(session)
            if session in self._ours:
                yield pid

    def kill(self, main: psutil.Popen) -> int:
        """End every process and wait until it is gone; gives the number of those that were alive, `main` not counted.

        They are stopped first and killed when none runs any more: killed one by one they could start others meanwhile. A signal
        to a whole process group reaches all its members at once, so that a fork bomb cannot outrun it, unless every process of the
        bomb starts a session of its own; then it is a race, and root starts it with an advantage.
        """
        with _haste():
            stopped: set[int] = set()
            deadline = time.monotonic() + SWEEP_SECONDS
            while _stop(self.members(), stopped) and time.monotonic() < deadline:
                pass
        left = sum(_is_alive(pid) for pid in stopped - {main.pid})
        deadline = time.monotonic() + SWEEP_SECONDS
        while (members := list(self.members())) and time.monotonic() < deadline:
            for pid in members:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                with suppress(OSError, psutil.TimeoutExpired):
                    # Those that are no children of ours yet will be: their parents die as well.
                    main.wait(0) if pid == main.pid else os.waitpid(pid, os.WNOHANG)
            time.sleep(0.001)
        return left

    def _descends(self, pid: int) -> bool:
        """Whether a process is a descendant of ours."""
        for _ in range(CLIMBS):
            above = pid
            try:
                while above > 1 and above != self._us and os.getsid(above) not in self._ours:
                    above = psutil.Process(above).ppid()
            except (psutil.Error, OSError):
                continue
            return above > 1
        return False


def _sessions() -> Iterable[tuple[int, int]]:
    """Every process of the machine with its session; this asks the kernel for numbers only and is quick."""
    for pid in psutil.pids():
        with suppress(OSError):
            yield pid, os.getsid(pid)


def _stop(pids: Iterable[int], stopped: set[int]) -> bool:
    """Stop those of `pids` that are not in `stopped` yet, with their groups, and add them; whether there were any.

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
