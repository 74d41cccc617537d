"""A pool's workers end without a traceback or a deadlock, even while a unit or a result is on its
way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import wait
from typing import NamedTuple

import psutil
import pytest

from quartet.arena.processes import undisturbed
from quartet.arena.runner import LocalWorkers
from tests.games import ROOT

MUCH = 200_000_000
"""Bytes that no pipe holds."""
BEGUN = 1_000_000
"""A process that has read more bytes than this is receiving the large message."""
PROGRAM = "from tests.test_workers import end_during; end_during(*map(int, {sizes}))"


class LargeUnit(NamedTuple):
    """A unit that is large, or has a large result."""

    number: int
    content: bytes
    size: int = 0

    def require_same(self, result: object) -> None:
        """Accept every result."""


class LargeResult(NamedTuple):
    """The process that did the unit, and a result of any size."""

    process: int
    result: bytes


def play(unit: LargeUnit, cores: tuple[int, ...] | None) -> LargeResult:
    """Return a result of the unit's size."""
    return LargeResult(os.getpid(), bytes(unit.size))


def end_during(content: int, size: int) -> None:
    """Close a pool of two workers while a unit or its result is on its way.

    The worker that receives a unit has to end before the other one.
    """
    pool = LocalWorkers(play, 2, oversubscribe=True)
    ready = set[int]()
    while len(ready) < 2:
        both = [pool.submit(LargeUnit(number, b"")) for number in range(2)]
        ready |= {future.result().process for future in both}
    before = {
        process: process.io_counters().read_chars
        for process in map(psutil.Process, (os.getpid(), *ready))
    }
    future = pool.submit(LargeUnit(2, bytes(content), size))
    while not future.done():
        process, read = max(
            (
                (process, process.io_counters().read_chars - count)
                for process, count in before.items()
            ),
            key=lambda pair: pair[1],
        )
        if read > BEGUN:
            if process.pid in ready:
                process.terminate()
                wait([future])
            break
    pool.close()


def test_signals_do_not_disturb_the_end_of_workers() -> None:
    before = signal.getsignal(signal.SIGINT)
    with undisturbed():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.raise_signal(number)
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts bytes as Linux does")
@pytest.mark.parametrize("sizes", [(MUCH, 0), (0, MUCH)], ids=["unit", "result"])
def test_workers_end_during_a_transfer(sizes: tuple[int, int]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(sizes=sizes)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
