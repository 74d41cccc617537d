"""`python -m tests.bench.page_overhead`: measure what a page that follows timed games costs them.

It needs Debian's package chromium and the developers' tools. It plays short runs of the same timed
games, between programs on one core, in pairs. In one run of a pair, `quartet serve` and a Chromium
show the run in one tab and its current game in another. In the other run Chromium shows nothing.
Which comes first alternates. The ratio is the mean over pairs of nodes/s with the page divided by
nodes/s without it, with its 95 % interval.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import click
import psutil

from core.commands.program import execute
from core.errors import QuartetError
from quartet.arena import records
from quartet.arena.unit import Use
from tests.bench.page import GAME, serving


@dataclass
class RunTotals:
    """Totals of the runs of one kind.

    Attributes:
        games: Games of all runs.
        uses: What the players of each run used.
    """

    games: int = 0
    uses: list[Use] = field(default_factory=list)

    def add(self, run: Path) -> None:
        """Add a run."""
        _, results = records.read(run)
        self.games += len(results)
        self.uses.append(Use.total([use for result in results for use in result.use]))

    def speeds(self) -> list[float]:
        """Return the nodes per second of each run."""
        return [use.nodes / use.search_seconds for use in self.uses]

    def said(self, name: str) -> str:
        """Return a line of the report."""
        total = Use.total(self.uses)
        forfeits = ", ".join(f"{n} {verdict}" for verdict, n in sorted(total.lost.items()))
        return (
            f"{name:<8} {self.games:4} games {total.turns:6} turns  "
            f"forfeits: {forfeits or 'none'}  "
            f"{total.nodes / total.search_seconds / 1000:.1f} thousand nodes a second"
        )


def ratio(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """Return the mean of the ratios and half its 95 % interval."""
    ratios = [a / b for a, b in zip(one, other, strict=True)]
    error = 1.96 * stdev(ratios) / math.sqrt(len(ratios)) if len(ratios) > 1 else math.inf
    return fmean(ratios), error


def processor_seconds(parent: psutil.Process, but: int) -> float:
    """Return the processor time of a process's descendants, without one child and its
    descendants."""
    total = 0.0
    for child in parent.children():
        if child.pid == but:
            continue
        with suppress(psutil.NoSuchProcess):
            for one in (child, *child.children(recursive=True)):
                with suppress(psutil.NoSuchProcess):
                    spent = one.cpu_times()
                    total += spent.user + spent.system
    return total


def play(runs: Path, name: str, words: Sequence[str]) -> Any:
    """Start a run and return its process."""
    command = [sys.executable, "-m", "quartet", "tournament", *words, "--out", str(runs / name)]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)


def follow(page: Any, other: Any, base: str, name: str, run: Any) -> int:
    """Show a run and its games until it ends; return the number of games shown."""
    shown: set[str] = set()
    page.goto(f"{base}#/run/{name}")
    while run.poll() is None:
        page.wait_for_timeout(200)
        if page.locator("main .bad").count():  # the run has no folder yet
            page.reload()
            continue
        links = page.locator("#run-live a")
        address = links.first.get_attribute("href", timeout=2000) if links.count() else None
        if address and address not in shown:
            shown.add(address)
            other.goto(base + address)
    return len(shown)


@click.command()
@click.argument("game", default=GAME)
@click.option("--pairs", type=click.IntRange(2), default=10, show_default=True)
@click.option(
    "--games", type=click.IntRange(1), default=2, show_default=True, help="Games per run."
)
@click.option(
    "--clock", default=2000, show_default=True, help="Milliseconds, as for `quartet tournament`."
)
@click.option("--chromium", default="/usr/bin/chromium", show_default=True)
def command(game: str, pairs: int, games: int, clock: int, chromium: str) -> None:
    """Play timed games of GAME with and without a page that follows them, alternately."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    os.environ.pop("PYTHONUNBUFFERED", None)
    words = [game, "--player", "a=bot", "--player", "b=bot", "--clock", str(clock)]
    words += ["--games", str(games), "--jobs", "1", "--oversubscribe"]
    without, with_page = RunTotals(), RunTotals()
    looked, spent, lasted = 0, 0.0, 0.0
    here = psutil.Process()
    with (
        tempfile.TemporaryDirectory(prefix="quartet-page-") as place,
        sync_playwright() as driver,
    ):
        runs = Path(place)
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        context = browser.new_context()
        page, other = context.new_page(), context.new_page()
        for number in range(pairs):
            seeded = [*words, "--seed", str(1 + number)]
            for look in (True, False) if number % 2 else (False, True):
                name = f"{'page' if look else 'without'}-{number}"
                if look:
                    with serving(runs) as (address, _):
                        page.goto(address)
                        page.locator("#lobby").wait_for()
                        run = play(runs, name, seeded)
                        before, started = processor_seconds(here, run.pid), time.monotonic()
                        looked += follow(page, other, re.sub(r"\?.*", "", address), name, run)
                        spent += processor_seconds(here, run.pid) - before
                        lasted += time.monotonic() - started
                        page.goto("about:blank")
                        other.goto("about:blank")
                else:
                    run = play(runs, name, seeded)
                if run.wait():
                    raise QuartetError(f"the run {name} ended with status {run.returncode}")
                (with_page if look else without).add(runs / name)
            print(f"{number + 1} of {pairs} pairs", file=sys.stderr, flush=True)
        browser.close()
    print(without.said("without"))
    print(with_page.said("page"))
    mean, error = ratio(with_page.speeds(), without.speeds())
    print(f"page by without: {mean:.3f} +- {error:.3f}, {pairs} pairs; {looked} games shown")
    print(f"server and Chromium: {spent / lasted:.2f} s of processor time a second")


if __name__ == "__main__":
    execute(command)
