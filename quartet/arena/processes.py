"""Worker processes: they ignore Ctrl-C, end their programs on SIGTERM, and end with their
parent."""

from __future__ import annotations

import _thread
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from core.signals import exit_on_signal, is_exiting

if TYPE_CHECKING:
    from types import FrameType

GRACE = 10.0
"""Seconds that a worker has to end: to end its programs if its parent was killed, and to receive
what its parent sends if it was told to end while it did nothing."""

busy = threading.Event()
"""Set in a worker while it does a unit, and may have programs to end."""


@contextmanager
def no_ctrl_c() -> Iterator[None]:
    """Delay Ctrl-C; a process that is started meanwhile does not receive it before
    `start_worker`."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ignore signals that end this process: while workers end, an exception would leave some of
    them waiting for ever."""
    if threading.current_thread() is not threading.main_thread():
        yield  # which gets no signals
        return
    numbers = [getattr(signal, n) for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n)]
    before = [signal.signal(number, signal.SIG_IGN) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def start_worker() -> None:
    """Prepare a new worker process: leave Ctrl-C to the parent, end on SIGTERM and with the
    parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # see no_ctrl_c
    threading.Thread(target=_follow_parent, daemon=True).start()
    signal.signal(signal.SIGTERM, _end)


def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    """End this process: at once during a unit, else by the parent's next message.

    Between units, an exception could cut a message of the pool in two. The next reader of that pipe
    would find half a message or wait forever.
    """
    if busy.is_set():
        exit_on_signal("SIGTERM")
        signal.raise_signal(number)
    elif not is_exiting.is_set():
        is_exiting.set()
        _thread.start_new_thread(_end_later, ())


def _end_later() -> None:
    """End this process after GRACE, if the parent has sent no message."""
    time.sleep(GRACE)
    os._exit(128 + signal.SIGTERM)


def _follow_parent() -> None:
    """End this process when its parent has ended; an executor's worker would wait forever."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    parent.join()
    if sys.platform != "win32":  # there programs are in a job that ends with this process
        # SIGTERM raises an exception, which ends the programs of a running game.
        os.kill(os.getpid(), signal.SIGTERM)
        deadline = time.monotonic() + GRACE
        while busy.is_set() and time.monotonic() < deadline:
            time.sleep(0.01)
    os._exit(1)
