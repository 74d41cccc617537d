"""`--selftest` of an executable file: what starting and leaving it costs on this machine, and what
that means for its target."""

from __future__ import annotations

import os
import sys
import time

from core.native.clock import now, process_age, unpacked_itself
from core.timeman import process_deadline

RUNS = 20
ASKED = 0.3
"""Seconds after which the second kind of run has to be over: more than a start takes."""


def main(arguments: list[str]) -> int:
    """Without arguments, the self-test. It starts this executable with one: `leave`, to leave at
    once, `wait`, to leave after ASKED."""
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
        print(f"the self-test cannot go on: {error}", file=sys.stderr)
        return 1
    late = [seconds - ASKED for seconds in waiting]
    if unpacked_itself():
        print(f"one file: it unpacked itself into {getattr(sys, '_MEIPASS', '')}")
    print(f"from the start of the process to this line of the program: {1000 * age:.0f} ms")
    print(f"start and end of a run that does nothing: {_figures(leaving)}, {RUNS} runs")
    print(
        f"asked to be over after {1000 * ASKED:.0f} ms, it was over so much later: "
        f"{_figures(late)}, {RUNS} runs"
    )
    print("A target is safe if it and several times the last figure stay below the judge's limit.")
    sys.stdout.flush()
    return 0


def _measure(what: str) -> list[float]:
    """Seconds from start to end of such runs, as whoever starts the executable sees them, in
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
