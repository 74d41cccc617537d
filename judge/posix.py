"""The processes of one program on Linux and macOS: how to find them all, and how to end them all.

Every program is started in a session of its own, so whatever descends from us in a session that was not there before is the
program's. On Linux this process becomes a *subreaper*: a process whose parent has died becomes our child instead of init's, and no
fork, double fork or setsid leads out of our sight. macOS has no such thing; there, what was seen once is remembered.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from typing import Any

import psutil

SPAWN: dict[str, Any] = {"start_new_session": True}
"""Keywords for Popen."""

PR_SET_CHILD_SUBREAPER = 36
SWEEP_SECONDS = 10.0
"""How long to go on killing. Only a process that hangs inside the kernel can outlast this."""


class Tree:
    """All processes of the one program that is started after the tree was made; they are found anew at every look."""

    def __init__(self) -> None:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._me = psutil.Process()
        self._seen: set[psutil.Process] = set()
        self._foreign = {os.getsid(0)}
        self._foreign = {_session(process) for process in self._me.children(recursive=True)} | {os.getsid(0)}

    def adopt(self, main: psutil.Popen) -> None:
        """`main` is the program; here its session already says so."""

    def members(self) -> list[psutil.Process]:
        """The program's processes that there are now, the dead ones that nobody has waited for included."""
        found = {process for process in self._me.children(recursive=True) if _session(process) not in self._foreign}
        if sys.platform != "linux":
            found |= {process for process in self._seen if process.is_running()}
            self._seen |= found
        return list(found)

    def kill(self) -> int:
        """End every process and wait until it is gone; gives the number of those that were alive.

        They are stopped first and killed when none runs any more: killed one by one they could start others meanwhile. A signal
        to a whole process group reaches all its members at once, so that a fork bomb cannot outrun it.
        """
        deadline = time.monotonic() + SWEEP_SECONDS
        stopped: set[psutil.Process] = set()
        while time.monotonic() < deadline:
            running = {process for process in self.members() if _is_alive(process)} - stopped
            if not running:
                break
            _signal_groups(running, signal.SIGSTOP)
            stopped |= running
        while (members := self.members()) and time.monotonic() < deadline:
            _signal_groups(set(members), signal.SIGKILL)
            for process in members:
                with suppress(OSError):  # not a child of ours yet: its parent is not quite dead
                    os.waitpid(process.pid, os.WNOHANG)
            time.sleep(0.001)
        return len(stopped)


def _session(process: psutil.Process) -> int:
    """The session of a process; of one that is gone, ours."""
    try:
        return os.getsid(process.pid)
    except OSError:
        return os.getsid(0)


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _signal_groups(processes: set[psutil.Process], number: signal.Signals) -> None:
    """Signal the process groups of a program's processes; groups do not span sessions, so nobody else is in them."""
    groups = set()
    for process in processes:
        with suppress(OSError):
            groups.add(os.getpgid(process.pid))
    for group in groups - {os.getpgrp()}:
        with suppress(OSError):
            os.killpg(group, number)
