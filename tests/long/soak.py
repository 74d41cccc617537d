"""Play thousands of games in one judge process: `python -m tests.long.soak --games 3000`.

The bots play as programs, one game after the other. No turn may be forfeited. No process, thread,
descriptor or file may remain. The judge's memory must not grow after the first games. Searches have
node limits, so that no result depends on time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import psutil

from core.commands.program import execute
from core.errors import QuartetError
from quartet import registry
from quartet.arena.config import GameUnit, PlayerConfig, RunConfig
from quartet.arena.unit import GameResult, play
from quartet.judge import game as games

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from tests.long.progress import Attempt

POINTS = 20
"""Points of the curve of memory."""
TRIAL_NODES = 200
"""Nodes per search in a trial."""
SLACK_MEGABYTES = 8.0
"""Allowed growth of the judge from the first tenth of the games to the end."""


def held() -> dict[str, float]:
    """Return the resources of this process."""
    us = psutil.Process()
    children = us.children(recursive=True)
    return {
        "processes": sum(child.status() != psutil.STATUS_ZOMBIE for child in children),
        "zombies": sum(child.status() == psutil.STATUS_ZOMBIE for child in children),
        "threads": threading.active_count(),
        "descriptors": us.num_fds() if sys.platform != "win32" else 0,
        "files": len(list(Path(tempfile.gettempdir()).iterdir())),
        "megabytes": round(us.memory_info().rss / 2**20, 1),
    }


def game(name: str, number: int, nodes: int) -> GameUnit:
    """Return a game with the bot on every seat."""
    seats = games.load(name).info.players
    players = tuple(
        PlayerConfig(f"bot{seat}", "bot", ms=600_000, nodes=nodes) for seat in range(seats)
    )
    config = RunConfig(game=name, players=players)
    return config.unit(number, number, tuple(range(seats)), number)


def soak(name: str, count: int, nodes: int) -> dict[str, object]:
    """Play `count` games. Raises QuartetError if a turn is forfeited or a resource remains."""
    curve: list[float] = []
    plies = 0
    play(game(name, 0, nodes))  # load everything that is loaded once
    before = held()
    for number in range(count):
        result = play(game(name, number, nodes)).result
        plies += result.plies
        if result.forfeits:
            raise QuartetError(f"{name}, game {number}: {result.forfeits[0].reason}")
        if (number + 1) % max(1, count // POINTS) == 0:
            curve.append(held()["megabytes"])
            print(f"{name}: {number + 1:,} games, {curve[-1]} MB", file=sys.stderr, flush=True)
    after = held()
    check(name, before, after, curve)
    return {"games": count, "plies": plies, "left over": 0, "megabytes": curve}


def clocked(name: str, number: int, *, in_process: bool, ms: float | None = None) -> GameUnit:
    """Return a game with the bot on every seat and the judge's clocks, or clocks of `ms`."""
    seats = games.load(name).info.players
    players = tuple(PlayerConfig(f"bot{seat}", "bot", ms=ms) for seat in range(seats))
    config = RunConfig(game=name, players=players, in_process=in_process)
    return config.unit(number, number, tuple(range(seats)), number)


class SoakKind(NamedTuple):
    """A kind of trial.

    Attributes:
        unit: Game and number -> a game to play.
        count: What a game counts.
        busy: Number of busy processes next to it.
    """

    unit: Callable[[str, int], GameUnit]
    count: Callable[[GameResult], int]
    busy: int = 0


PROGRAMS = SoakKind(lambda name, number: game(name, number, TRIAL_NODES), lambda _: 1)
"""Games of programs with node limits."""
CLOCKS = SoakKind(
    lambda name, number: clocked(name, number, in_process=True),
    lambda result: round(sum(use.seconds for use in result.use)),
)
"""Games of engines in this process, by the seconds of their turns."""
BUSY = SoakKind(
    lambda name, number: clocked(name, number, in_process=False),
    lambda result: result.plies,
    busy=2,
)
"""Turns of programs with the judge's clocks, next to two busy processes."""
ONE_SECOND = SoakKind(
    lambda name, number: clocked(name, number, in_process=False, ms=1000), lambda _: 1, busy=1
)
"""Games of programs with 1 s per player and game, next to a busy process. One player thinks at a
time, so two cores are busy."""


def trial(name: str, kind: SoakKind) -> Callable[[], AbstractContextManager[Attempt]]:
    """Return a trial of games. Each attempt is one game; what remains is checked at the end."""

    @contextmanager
    def started() -> Iterator[Attempt]:
        curve: list[float] = []

        def attempt(number: int) -> tuple[int, str]:
            result = play(kind.unit(name, number)).result
            curve.append(held()["megabytes"])
            forfeits = result.forfeits
            finding = f"{len(forfeits)} of {result.plies} turns forfeited at a load of {load():.1f}"
            return kind.count(result), f"{finding}: {forfeits[0].reason}" if forfeits else ""

        with ExitStack() as cleanup:
            cleanup.callback(setattr, tempfile, "tempdir", tempfile.tempdir)
            folder = tempfile.TemporaryDirectory(prefix="quartet-soak-")
            tempfile.tempdir = cleanup.enter_context(folder)
            for _ in range(kind.busy):
                one = subprocess.Popen([sys.executable, "-c", "while True: pass"])
                cleanup.callback(one.wait)
                cleanup.callback(one.kill)
            play(kind.unit(name, 0))
            before = held()
            yield attempt
            after = held()
        check(name, before, after, curve)

    return started


def load() -> float:
    """Return the number of processes that ran or waited for a core in the last minute."""
    return os.getloadavg()[0]


def check(
    name: str, before: dict[str, float], after: dict[str, float], curve: Sequence[float]
) -> None:
    """Raise QuartetError if a resource remains or the memory has grown."""
    for what in ("processes", "zombies", "threads", "descriptors", "files"):
        if after[what] > before[what]:
            raise QuartetError(f"{name}: {before[what]} {what} before, {after[what]} after")
    early = curve[len(curve) // 10]
    if curve[-1] > early + SLACK_MEGABYTES:
        raise QuartetError(f"{name}: the judge has grown from {early} to {curve[-1]} MB")


@click.command()
@click.argument("names", metavar="[GAME]...", nargs=-1)
@click.option(
    "--games", "count", default=3000, show_default=True, help="Games per line-protocol game."
)
@click.option("--by-files", default=100, show_default=True, help="Games per file-protocol game.")
@click.option("--nodes", default=200, show_default=True, help="Nodes per search.")
def main(names: tuple[str, ...], count: int, by_files: int, nodes: int) -> None:
    """Play the GAMEs, by default all, and print the figures as JSON."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="quartet-soak-") as folder:
        tempfile.tempdir = folder
        for name in names or tuple(registry.GAMES):
            lines = games.load(name).info.lines is not None
            found[name] = soak(name, count if lines else by_files, nodes)
        tempfile.tempdir = None
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    execute(main)
