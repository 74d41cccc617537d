"""Signals that end a program become SystemExit, so that whatever it has started is ended, and
folders are removed, on the way out."""

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
"""Seconds until a signal whose exception was lost is sent again."""

leaving = threading.Event()
"""A signal has come: another one will not disturb the way out."""


def leave_on(*names: str) -> None:
    """On the first of these signals, where the system has them, leave with a status of 128 and the
    signal's number."""
    for name in names:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _leave)
    sys.unraisablehook = _lost


class _Left(SystemExit):
    """Raised where a signal has come."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


def _leave(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    if not leaving.is_set():
        leaving.set()
        raise _Left(number)


def _lost(unraisable: UnraisableHookArgs) -> None:
    """Python drops an exception that a destructor or a weak reference's callback raises, and a
    signal may come just there: send it again."""
    error = unraisable.exc_value
    if isinstance(error, _Left):
        leaving.clear()  # or it would not be heard the second time
        number = error.number
    elif isinstance(error, KeyboardInterrupt):
        number = signal.SIGINT
    else:
        sys.__unraisablehook__(unraisable)
        return
    # not threading's, which waits for the thread: the signal would come in here, and be lost
    _thread.start_new_thread(_send, (number,))


def _send(number: int) -> None:
    time.sleep(SOON)
    # to the process, so that a main thread that waits for something is woken
    if os.name == "posix":
        os.kill(os.getpid(), number)
    else:
        signal.raise_signal(number)
