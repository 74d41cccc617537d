"""Turn signals into SystemExit, so that a program ends its child processes and removes its folders
before it exits."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs
    from types import FrameType

SOON = 0.05
"""Seconds until a signal whose exception was lost is sent again. Not tuned."""

is_exiting = threading.Event()
"""Set by the first signal; later ones do not interrupt the exit."""


def exit_on_signal(*names: str) -> None:
    """Exit with status 128 + number at the first of these signals; ignore those that the system
    lacks."""
    for name in names:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _exit)
    sys.unraisablehook = _lost


class _SignalExit(SystemExit):
    """Raised by a signal."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


def _exit(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    if not is_exiting.is_set():
        is_exiting.set()
        raise _SignalExit(number)


def _lost(unraisable: UnraisableHookArgs) -> None:
    """Send a signal again whose exception was lost: Python drops exceptions raised in a destructor
    or a weak reference's callback."""
    error = unraisable.exc_value
    if isinstance(error, _SignalExit):
        is_exiting.clear()  # or the second signal would be ignored
        number = error.number
    elif isinstance(error, KeyboardInterrupt):
        number = signal.SIGINT
    else:
        sys.__unraisablehook__(unraisable)
        return
    # not threading's, which waits for the thread: the signal would arrive here, and be lost
    _thread.start_new_thread(_send, (number,))


def _send(number: int) -> None:
    time.sleep(SOON)
    # to the process, so that a waiting main thread wakes up
    if os.name == "posix":
        os.kill(os.getpid(), number)
    else:
        signal.raise_signal(number)
