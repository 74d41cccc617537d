"""Signals end a program by an exception, even in code in which Python drops exceptions."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests.games import ROOT

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")

PROGRAM = """
import os, signal, sys, time, weakref
from core.signals import exit_on_signal

exit_on_signal("SIGTERM", "SIGNO")


class Thing:
    pass


def gone(_):
    os.kill(os.getpid(), signal.{signal})
    for _ in range(1000):  # an exception raised here is dropped
        pass


thing = Thing()
reference = weakref.ref(thing, gone)
try:
    del thing
    {then}
finally:
    print("tidied", flush=True)
"""


@posix
@pytest.mark.parametrize("then", ["time.sleep(60)", "while True: pass", "sys.stdin.read()"])
@pytest.mark.parametrize(("name", "status"), [("SIGTERM", 143), ("SIGINT", -signal.SIGINT)])
def test_a_signal_is_not_lost(name: str, status: int, then: str) -> None:
    program = PROGRAM.format(signal=name, then=then)
    silence, ours = os.pipe()  # an input that says nothing and does not end
    try:
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            stdin=silence,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    finally:
        os.close(silence)
        os.close(ours)
    assert (done.stdout, done.returncode) == ("tidied\n", status)
    assert "Exception ignored" not in done.stderr


def test_other_dropped_exceptions_are_printed() -> None:
    program = (
        "from core.signals import exit_on_signal; exit_on_signal(); type('T', (), {'__del__': lambda _: "
        "1 / 0})()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "ZeroDivisionError" in done.stderr
