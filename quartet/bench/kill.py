"""A command killed by SIGKILL again and again, and started again with the same words: nothing may be
lost, nothing counted twice, and what comes out must be what an undisturbed run gives.

`python -m quartet.bench.kill GAME --kills 20 --size 200` is a tournament; `--what` names the others.
All of them search by nodes, so that what comes out depends on nothing else.
"""

from __future__ import annotations

import hashlib
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
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import msgspec

from core.errors import QuartetError
from quartet import registry
from quartet.arena.unit import GameResult

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

RUN = ("--in-process", "--json")
HERE = ("--crowded", "--jobs", "2")
"""Where it runs: on two cores of this machine, whoever else is on them."""
LAST_WORDS = 5
"""Lines that are shown of a command that fails by itself."""


class Task(NamedTuple):
    """A command that can be killed.

    Attributes:
        words: game, size -> the words after `quartet`; it runs in a folder of its own, where `..` is
            the one of `prepare`.
        outcome: folder -> what must be the same whatever happened; as JSON has it.
        done: folder -> how far it is, in any unit.
        prepare: game, size -> the words of what is run before, once.
    """

    words: Callable[[str, int], Sequence[str]]
    outcome: Callable[[Path], object]
    done: Callable[[Path], int]
    prepare: Callable[[str, int], Sequence[str]] = lambda _game, _size: ()


def tournament(game: str, size: int, where: tuple[str, ...] = HERE) -> tuple[str, ...]:
    """At least so many games between the first two built-in players."""
    names = registry.load(game, "players").NAMES[:2]
    players = [word for name in names for word in ("--player", f"{name}={name}")]
    bound = ("--pairing", "gauntlet", "--nodes", "1000", "--games", str(size), "--out", "run")
    return ("tournament", game, *players, *RUN, *where, *bound)


def results(folder: Path) -> list[GameResult]:
    """The finished games in the order of the schedule; half a line at the end is none."""
    path = folder / "run" / "games.jsonl"
    data = path.read_bytes() if path.exists() else b""
    lines = data[: data.rfind(b"\n") + 1].splitlines()
    return sorted(
        (msgspec.json.decode(line, type=GameResult) for line in lines),
        key=lambda result: result.number,
    )


def essence(result: GameResult) -> list[object]:
    """What a game's result is apart from the time that it took."""
    return [
        *(result.number, result.block, result.seats, result.seed),
        *(result.plies, result.scores, result.places, result.shares),
    ]


def games_on_record(folder: Path) -> dict[str, object]:
    """What a run has on record. Raises QuartetError where its parts do not agree."""
    found = results(folder)
    index = sqlite3.connect(folder / "run" / "index.sqlite")
    rows = index.execute("SELECT count(*) FROM games").fetchone()[0]
    seats = index.execute("SELECT count(*) FROM seats").fetchone()[0]
    index.close()
    logs = sum(path.suffix == ".log" for path in (folder / "run" / "games").iterdir())
    figures = {
        "lines": len(found),
        "distinct games": len({result.number for result in found}),
        "rows in the index": rows,
        "logs": logs,
    }
    if len(set(figures.values())) != 1 or seats != sum(len(result.seats) for result in found):
        raise QuartetError(f"the records are wrong: {figures}")
    return {**figures, "results": list(map(essence, found))}


def tune(game: str, size: int) -> tuple[str, ...]:
    """A tuning of the first number among the engine's options that has a range."""
    declared = registry.load(game, "engine").Engine.OPTIONS
    option = next(
        o for o in declared if o.kind in (int, float) and o.name not in ("hash", "threads")
    )
    parameter = ("--parameter", f"{option.name}={option.least:g}..{option.most:g}")
    return (
        "tune",
        game,
        *parameter,
        "--games",
        str(size),
        *RUN,
        *HERE,
        "--nodes",
        "200",
        "--out",
        "run",
    )


def trajectory(folder: Path) -> dict[str, object]:
    """The games and the way of a tuning."""
    way = (folder / "run" / "trajectory.jsonl").read_text().splitlines()
    return {**games_on_record(folder), "way": way}


def selfplay(game: str, size: int) -> tuple[str, ...]:
    """So many games of self-play."""
    bound = ("--games", str(size), "--nodes", "100", *HERE)
    return ("selfplay", game, *bound, "--out", "samples")


def files_of(*patterns: str) -> Callable[[Path], dict[str, object]]:
    """Digests of the files of these patterns, by name."""

    def found(folder: Path) -> dict[str, object]:
        paths = sorted(path for pattern in patterns for path in folder.glob(pattern))
        return {
            path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()[:16]
            for path in paths
            if path.is_file()
        }

    return found


def lines_of(name: str) -> Callable[[Path], int]:
    """How many lines a file has."""

    def found(folder: Path) -> int:
        path = folder / name
        return path.read_bytes().count(b"\n") if path.exists() else 0

    return found


def train(game: str, size: int) -> tuple[str, ...]:
    """So many epochs of training."""
    bound = ("--epochs", str(size), "--hidden", "64", "--batch", "512", "--jobs", "1")
    return ("train", game, "../samples", "--out", "weights.bin", *bound)


def review(game: str, size: int) -> tuple[str, ...]:
    """A review of so many games."""
    del game, size
    return ("review", "../run", "--nodes", "300", *HERE, "--out", "reviews")


def reviewed(folder: Path) -> list[object]:
    """The reviews, whatever order they were made in."""
    lines = (folder / "reviews" / "done.jsonl").read_bytes().splitlines()
    return sorted(map(msgspec.json.decode, lines), key=lambda line: int(line["number"]))


def pack(game: str, size: int) -> tuple[str, ...]:
    """What is handed in; nothing of it is kept between two attempts."""
    del size
    target = "nypc" if registry.load(game, "reference").INFO.lines is not None else "exe"
    return ("pack", target, game, "--no-proof", "--out", "packed")


TASKS = {
    "tournament": Task(tournament, games_on_record, lines_of("run/games.jsonl")),
    "tune": Task(tune, trajectory, lines_of("run/games.jsonl")),
    "selfplay": Task(
        selfplay,
        files_of("samples/*.samples"),
        lambda folder: len(list(folder.glob("samples/*.samples"))),
    ),
    "train": Task(
        train,
        files_of("weights.bin", "weights.bin.losses.jsonl", "weights.bin.checkpoint"),
        lines_of("weights.bin.losses.jsonl"),
        lambda game, _: selfplay(game, 128),
    ),
    "review": Task(review, reviewed, lines_of("reviews/done.jsonl"), tournament),
    "pack": Task(pack, files_of("packed/*"), lambda folder: len(list(folder.glob("packed/*")))),
}


def complete(words: Sequence[str], folder: Path) -> float:
    """Let a command go to its end; seconds. Raises QuartetError where it fails."""
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "quartet", *words],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = " | ".join(done.stderr.splitlines()[-LAST_WORDS:])
        raise QuartetError(f"quartet {words[0]} ended with {done.returncode}: {last}")
    return time.monotonic() - started


def survive(
    what: str, game: str, folder: Path, *, size: int, kills: int, seed: int
) -> dict[str, Any]:
    """Kill a task so many times at random moments, let it end, and compare; fewer times where it
    ends before. Raises QuartetError where it is not as an undisturbed one, or fails by itself."""
    task, random = TASKS[what], Random(seed)
    words = task.words(game, size)
    whole, killed = folder / "whole", folder / "killed"
    for place in (whole, killed):
        place.mkdir(parents=True)
    if before := task.prepare(game, size):
        complete(before, folder)
    seconds = complete(words, whole)
    total, wanted = task.done(whole), task.outcome(whole)
    # The moments are random within a span that leaves something to be killed at the last kill,
    # however fast the machine is.
    span = seconds if total <= 1 else 2 * seconds / kills
    progress: list[int] = []
    while len(progress) < kills:
        run = subprocess.Popen(
            [sys.executable, "-m", "quartet", *words],
            cwd=killed,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        time.sleep(random.uniform(0.0, span))
        if run.poll() is not None:
            if run.returncode != 0:
                raise QuartetError(f"it failed after {len(progress)} kills: {_said(run)}")
            run.communicate()
            break
        # Every other time its workers are killed, too; else they must find out by themselves.
        os.killpg(run.pid, signal.SIGKILL) if len(progress) % 2 else run.kill()
        run.communicate()
        progress.append(task.done(killed))
        if total > 1:
            span *= 1.3 if progress[-1] / total < 0.8 * len(progress) / kills else 0.85
    complete(words, killed)
    found = task.outcome(killed)
    if found != wanted:
        raise QuartetError(f"what came out of {what} differs: {found} instead of {wanted}"[:2000])
    figures = {"kills": len(progress), "done after each kill": progress, "done": total}
    if isinstance(found, dict):
        figures |= {name: value for name, value in found.items() if isinstance(value, (int, str))}
    return {**figures, "equal to the undisturbed run's": True}


def environment() -> dict[str, str]:
    """Ours, with our packages to be found."""
    return {**os.environ, "PYTHONPATH": str(registry.ROOT)}


def _said(run: subprocess.Popen[bytes]) -> str:
    return " | ".join(run.communicate()[1].decode("utf-8", "replace").splitlines()[-LAST_WORDS:])


@click.command()
@click.argument("game")
@click.option("--what", type=click.Choice(list(TASKS)), default="tournament", show_default=True)
@click.option(
    "--size", default=200, show_default=True, help="Games; epochs of a training. Whole blocks."
)
@click.option("--kills", default=20, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(game: str, what: str, size: int, kills: int, seed: int) -> None:
    """Show that a task of GAME survives SIGKILL."""
    with tempfile.TemporaryDirectory() as folder:
        figures = survive(what, game, Path(folder), size=size, kills=kills, seed=seed)
    print(json.dumps(figures, indent=2))
    if figures["kills"] < kills:
        raise QuartetError(f"it ended after {figures['kills']} kills: a greater --size is needed")


if __name__ == "__main__":
    try:
        main()
    except QuartetError as error:
        raise SystemExit(f"quartet: {error}") from None
