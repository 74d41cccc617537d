"""A tournament killed by SIGKILL again and again, and started again with the same command: no game
may be lost or counted twice.

`python -m quartet.bench.kill GAME --kills 20 --games 200` is the shape of it; the players are
deterministic, so the ratings must be those of a run that nobody disturbed.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

import click
import msgspec

from core.errors import QuartetError
from quartet import registry
from quartet.arena.unit import GameResult

OPTIONS = ("--in-process", "--nodes", "1000", "--pairing", "gauntlet", "--json")


def command(game: str, games: int, folder: Path, *more: str) -> list[str]:
    """The tournament: at least so many games between the first two built-in players, whom nodes and
    seeds make deterministic."""
    names = registry.load(game, "players").NAMES[:2]
    players = [word for name in names for word in ("--player", f"{name}={name}")]
    return [
        sys.executable,
        "-m",
        "quartet",
        "tournament",
        game,
        *players,
        *OPTIONS,
        "--games",
        str(games),
        "--out",
        str(folder),
        *more,
    ]


def environment() -> dict[str, str]:
    """Ours, with our packages to be found."""
    return {**os.environ, "PYTHONPATH": str(registry.ROOT)}


def results(folder: Path) -> list[GameResult]:
    """The finished games in the order of the schedule; half a line at the end is none."""
    path = folder / "games.jsonl"
    data = path.read_bytes() if path.exists() else b""
    lines = data[: data.rfind(b"\n") + 1].splitlines()
    return sorted(
        (msgspec.json.decode(line, type=GameResult) for line in lines),
        key=lambda result: result.number,
    )


def essence(result: GameResult) -> tuple[object, ...]:
    """What a game's result is apart from the time that it took."""
    return (
        result.number,
        result.block,
        result.seats,
        result.seed,
        result.plies,
        result.scores,
        result.places,
        result.shares,
    )


def check(folder: Path, undisturbed: Path, games: int) -> dict[str, Any]:
    """Compare what two runs have on record. Raises QuartetError where they differ."""
    here, there = results(folder), results(undisturbed)
    index = sqlite3.connect(folder / "index.sqlite")
    rows = [number for (number,) in index.execute("SELECT number FROM games ORDER BY number")]
    seats = index.execute("SELECT count(*) FROM seats").fetchone()[0]
    index.close()
    logs = sorted(path.name for path in (folder / "games").iterdir() if path.suffix == ".log")
    figures = {
        "lines": len(here),
        "distinct games": len({result.number for result in here}),
        "rows in the index": len(rows),
        "logs": len(logs),
        "results equal to the undisturbed run's": [essence(r) for r in here]
        == [essence(r) for r in there],
    }
    if figures != {
        **dict.fromkeys(list(figures)[:4], games),
        "results equal to the undisturbed run's": True,
    } or seats != sum(len(result.seats) for result in here):
        raise QuartetError(f"the records are wrong: {figures}")
    return figures


def survive(game: str, folder: Path, games: int, kills: int, seed: int) -> dict[str, Any]:
    """Kill the tournament so many times at random moments, let it end, and compare; fewer times
    where it ends before."""
    random = Random(seed)
    undisturbed, _ = _run(game, games, folder / "whole")
    # all is on record: it only starts, and ends
    _, most_seconds = _run(game, games, folder / "whole")
    progress: list[int] = []
    while len(progress) < kills:
        run = subprocess.Popen(
            command(game, games, folder / "killed"),
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        time.sleep(random.uniform(0.0, most_seconds))
        if run.poll() is not None:
            run.communicate()
            break
        # Every other time its workers are killed, too; else they must find out by themselves.
        os.killpg(run.pid, signal.SIGKILL) if len(progress) % 2 else run.kill()
        run.communicate()
        progress.append(len(results(folder / "killed")))
        # The moments are random within a span that leaves something to be killed at the last kill,
        # however fast the machine is.
        most_seconds *= 1.3 if progress[-1] / games < 0.8 * len(progress) / kills else 0.85
    done, _ = _run(game, games, folder / "killed")
    figures = check(folder / "killed", folder / "whole", games)
    ratings = [
        [(player["name"], player["elo"], player["elo95"]) for player in run["players"]]
        for run in (done, undisturbed)
    ]
    if ratings[0] != ratings[1]:
        raise QuartetError(f"the ratings differ: {ratings}")
    return {
        "kills": len(progress),
        "games after each kill": progress,
        **figures,
        "ratings": ratings[0],
        "ratings equal": True,
    }


def _run(game: str, games: int, folder: Path) -> tuple[dict[str, Any], float]:
    """Let the tournament go to its end: its outcome, and seconds."""
    started = time.monotonic()
    done = subprocess.run(
        command(game, games, folder), env=environment(), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout), time.monotonic() - started


@click.command()
@click.argument("game")
@click.option("--games", default=200, show_default=True)
@click.option("--kills", default=20, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(game: str, games: int, kills: int, seed: int) -> None:
    """Show that a tournament of GAME survives SIGKILL; GAMES must be whole blocks."""
    with tempfile.TemporaryDirectory() as folder:
        figures = survive(game, Path(folder), games, kills, seed)
    print(json.dumps(figures, indent=2))
    if figures["kills"] < kills:
        raise QuartetError(f"the run ended after {figures['kills']} kills: more games are needed")


if __name__ == "__main__":
    try:
        main()
    except QuartetError as error:
        raise SystemExit(f"quartet: {error}") from None
