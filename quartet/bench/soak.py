"""Games without end in one judge: `python -m quartet.bench.soak --games 3000` plays the bots of all
games of lines as programs, one game after the other, and then Ugolki by files.

What is watched: nothing is forfeited; no process, thread, descriptor or file is left over; the memory
of the judge is flat after the first games. Searches are by nodes, so no clock decides.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click
import psutil

from core.errors import QuartetError
from quartet import registry
from quartet.arena.unit import Player, Unit, play
from quartet.judge import game as games

if TYPE_CHECKING:
    from collections.abc import Sequence

POINTS = 20
"""Of the curve of the memory."""
SLACK_MEGABYTES = 8.0
"""What the judge may grow between the first tenth of the games and the end."""


def held() -> dict[str, float]:
    """What this process has now."""
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


def game(name: str, number: int, nodes: int) -> Unit:
    """A game between the bot, twice or as often as there are seats."""
    seats = games.load(name).info.players
    players = tuple(Player(f"bot{seat}", "bot", ms=600_000, nodes=nodes) for seat in range(seats))
    return Unit(
        number=number,
        block=number,
        game=name,
        seats=tuple(range(seats)),
        players=players,
        seed=number,
    )


def soak(name: str, count: int, nodes: int) -> dict[str, object]:
    """Play so many games. Raises QuartetError where something is lost, or left over."""
    curve: list[float] = []
    plies = 0
    play(game(name, 0, nodes))  # what is loaded once is there
    before = held()
    for number in range(count):
        result = play(game(name, number, nodes)).result
        plies += result.plies
        if result.fouls:
            raise QuartetError(f"{name}, game {number}: {result.fouls[0].reason}")
        if (number + 1) % max(1, count // POINTS) == 0:
            curve.append(held()["megabytes"])
            print(f"{name}: {number + 1:,} games, {curve[-1]} MB", file=sys.stderr, flush=True)
    after = held()
    check(name, before, after, curve)
    return {"games": count, "plies": plies, "left over": 0, "megabytes": curve}


def check(
    name: str, before: dict[str, float], after: dict[str, float], curve: Sequence[float]
) -> None:
    """Raise QuartetError where something is left over, or the memory has grown."""
    for what in ("processes", "zombies", "threads", "descriptors", "files"):
        if after[what] > before[what]:
            raise QuartetError(f"{name}: {before[what]} {what} before, {after[what]} after")
    early = curve[len(curve) // 10]
    if curve[-1] > early + SLACK_MEGABYTES:
        raise QuartetError(f"{name}: the judge has grown from {early} to {curve[-1]} MB")


@click.command()
@click.argument("names", metavar="[GAME]...", nargs=-1)
@click.option("--games", "count", default=3000, show_default=True, help="Of each game of lines.")
@click.option("--by-files", default=100, show_default=True, help="Games of those by files.")
@click.option("--nodes", default=200, show_default=True, help="Of every search.")
def main(names: tuple[str, ...], count: int, by_files: int, nodes: int) -> None:
    """Play games of the GAMEs, by default of all. Prints the figures, as JSON."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="quartet-soak-") as folder:
        tempfile.tempdir = folder
        for name in names or tuple(registry.GAMES):
            lines = games.load(name).info.lines is not None
            found[name] = soak(name, count if lines else by_files, nodes)
        tempfile.tempdir = None
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    try:
        main()
    except QuartetError as error:
        raise SystemExit(f"quartet: {error}") from None
