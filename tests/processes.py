"""Find processes that a judge or a server left behind."""

from __future__ import annotations

import time

import psutil


def is_living(process: psutil.Process) -> bool:
    """Return False for a dead process, also if no one has reaped it.

    The judge makes this process the parent of orphans. If this one waits, or is itself an outer
    test, dead processes remain.
    """
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def command(process: psutil.Process) -> list[str]:
    """Return the words of a process's command line, none if it has ended or is not ours."""
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def is_tracker(process: psutil.Process) -> bool:
    """Return True for the helper of Python's multiprocessing, which stays until its parent ends."""
    return "resource_tracker" in " ".join(command(process))


def living_children(parent: int | None = None) -> set[psutil.Process]:
    """Return the living descendants of a process without trackers; by default, of this one."""
    children = psutil.Process(parent).children(recursive=True)
    return {child for child in children if is_living(child) and not is_tracker(child)}


def outliving(processes: list[psutil.Process], seconds: float) -> list[psutil.Process]:
    """Wait until no process of a list lives, at most so long; return those that still do."""
    until = time.monotonic() + seconds
    while (left := [*filter(is_living, processes)]) and time.monotonic() < until:
        time.sleep(0.02)
    return left
