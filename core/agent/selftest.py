"""`--selftest` of an executable file: measure its start and exit on this machine, to choose a
target."""

from __future__ import annotations

import os
import sys
import time

from core.native.clock import now, process_age, unpacked_itself
from core.timeman import process_deadline

RUNS = 20
ASKED = 0.3
"""Seconds after which a run of the second kind must have ended: more than a start takes."""


def main(arguments: list[str]) -> int:
    """Run the self-test. It starts this executable again, with one argument: `leave` to exit at
    once, `wait` to exit after ASKED."""
    if arguments == ["wait"]:
        deadline = process_deadline(ASKED)
        while now() < deadline:
            pass
        return 0
    if arguments == ["leave"]:
        return 0
    age = process_age()
    try:
        leaving, waiting = _measure("leave"), _measure("wait")
    except OSError as error:
        print(f"the self-test cannot start {sys.executable}: {error}", file=sys.stderr)
        return 1
    late = [seconds - ASKED for seconds in waiting]
    if unpacked_itself():
        print(f"one-file executable, unpacked to {getattr(sys, '_MEIPASS', '')}")
    print(f"start of the process to this line of the program: {1000 * age:.0f} ms")
    print(f"start and exit of a run that does nothing: {_figures(leaving)}, {RUNS} runs")
    print(f"target {1000 * ASKED:.0f} ms, overshoot: {_figures(late)}, {RUNS} runs")
    print("A target is safe if it plus several times the overshoot is below the judge's limit.")
    sys.stdout.flush()
    return 0


def _measure(what: str) -> list[float]:
    """Return the seconds from start to end of RUNS such runs, measured by this process, in
    ascending order."""
    took = []
    for _ in range(RUNS):
        started = time.perf_counter()
        status = os.spawnv(os.P_WAIT, sys.executable, ["selftest", "--selftest", what])
        took.append(time.perf_counter() - started)
        if status != 0:
            raise OSError(f"a run ended with status {status}")
    return sorted(took)


def _figures(seconds: list[float]) -> str:
    return f"median {1000 * seconds[len(seconds) // 2]:.0f} ms, at most {1000 * seconds[-1]:.0f} ms"
