"""Kill a command with SIGKILL again and again and restart it: nothing may be lost or counted twice.

    python -m tests.long.kill GAME --kills 20 --size 200

The result must equal that of an undisturbed run. `--what` chooses the command, by default a
tournament. All searches have node limits, so that the result does not depend on time.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import msgspec

from core.commands.program import execute
from core.errors import QuartetError
from quartet import registry
from quartet.arena.unit import GameResult

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from tests.long.progress import Attempt

RUN = ("--in-process", "--json")
HERE = ("--oversubscribe", "--jobs", "2")
"""Options for two cores of this machine, shared or not."""
LAST_WORDS = 5
"""Lines to quote of a command that fails by itself."""


class Task(NamedTuple):
    """A command that can be killed.

    Attributes:
        words: Game and size -> the words after `quartet`. The command runs in a subfolder of the
            folder of `prepare`.
        outcome: Folder -> the result that must not change, as values of JSON.
        done: Folder -> its progress, in any unit.
        prepare: Game and size -> the words of a command to run once before.
    """

    words: Callable[[str, int], Sequence[str]]
    outcome: Callable[[Path], object]
    done: Callable[[Path], int]
    prepare: Callable[[str, int], Sequence[str]] = lambda _game, _size: ()


def tournament(game: str, size: int) -> tuple[str, ...]:
    """Return a tournament of at least `size` games between the first two built-in players."""
    names = registry.load(game, "players").NAMES[:2]
    players = [word for name in names for word in ("--player", f"{name}={name}")]
    bound = ("--pairing", "gauntlet", "--nodes", "1000", "--games", str(size), "--out", "run")
    return ("tournament", game, *players, *RUN, *HERE, *bound)


def gauntlet(game: str, size: int) -> tuple[str, ...]:
    """Return a gauntlet of at least `size` games against the second built-in player."""
    against = ("--against", registry.load(game, "players").NAMES[1])
    bound = ("--nodes", "1000", "--games", str(size), "--out", "run")
    return ("gauntlet", game, *against, *RUN, *HERE, *bound)


def results(folder: Path) -> list[GameResult]:
    """Return the finished games in schedule order, without an incomplete last line."""
    path = folder / "run" / "games.jsonl"
    data = path.read_bytes() if path.exists() else b""
    lines = data[: data.rfind(b"\n") + 1].splitlines()
    return sorted(
        (msgspec.json.decode(line, type=GameResult) for line in lines),
        key=lambda result: result.number,
    )


def essence(result: GameResult) -> list[object]:
    """Return a game's result without its times."""
    return [
        *(result.number, result.block, result.seats, result.seed),
        *(result.plies, result.scores, result.places, result.shares),
    ]


def games_on_record(folder: Path) -> dict[str, object]:
    """Return what a run has recorded. Raises QuartetError if its parts differ."""
    found = results(folder)
    logs = sum(path.suffix == ".log" for path in (folder / "run" / "games").iterdir())
    figures = {
        "lines": len(found),
        "distinct games": len({result.number for result in found}),
        "logs": logs,
    }
    if len(set(figures.values())) != 1:
        raise QuartetError(f"the records are wrong: {figures}")
    return {**figures, "results": list(map(essence, found))}


def tune(game: str, size: int) -> tuple[str, ...]:
    """Return a tuning of the engine's first numeric option with a range."""
    declared = registry.load(game, "engine").Engine.OPTIONS
    option = next(
        o for o in declared if o.kind in (int, float) and o.name not in ("hash", "threads")
    )
    parameter = ("--parameter", f"{option.name}={option.minimum:g}..{option.maximum:g}")
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
    """Return the games and the trajectory of a tuning."""
    way = (folder / "run" / "trajectory.jsonl").read_text().splitlines()
    return {**games_on_record(folder), "way": way}


def selfplay(game: str, size: int) -> tuple[str, ...]:
    """Return self-play of `size` games."""
    bound = ("--games", str(size), "--nodes", "100", *HERE)
    return ("selfplay", game, *bound, "--out", "samples")


def files_of(*patterns: str) -> Callable[[Path], dict[str, object]]:
    """Return a function: folder -> name -> digest, for the files of these patterns."""

    def found(folder: Path) -> dict[str, object]:
        paths = sorted(path for pattern in patterns for path in folder.glob(pattern))
        return {
            path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()[:16]
            for path in paths
            if path.is_file()
        }

    return found


def lines_of(name: str) -> Callable[[Path], int]:
    """Return a function: folder -> number of lines of a file."""

    def found(folder: Path) -> int:
        path = folder / name
        return path.read_bytes().count(b"\n") if path.exists() else 0

    return found


def train(game: str, size: int) -> tuple[str, ...]:
    """Return a training of `size` epochs."""
    bound = ("--epochs", str(size), "--hidden", "64", "--batch", "512", "--jobs", "1")
    return ("train", game, "../samples", "--out", "weights.bin", *bound)


def review(game: str, size: int) -> tuple[str, ...]:
    """Return a review of the games."""
    del game, size
    return ("review", "../run", "--nodes", "300", *HERE, "--out", "reviews")


def reviewed(folder: Path) -> list[object]:
    """Return the reviews by number."""
    lines = (folder / "reviews" / "done.jsonl").read_bytes().splitlines()
    return sorted(map(msgspec.json.decode, lines), key=lambda line: int(line["number"]))


def pack(game: str, size: int) -> tuple[str, ...]:
    """Return a packing. It keeps nothing for the next attempt."""
    del size
    target = "nypc" if registry.load(game, "reference").INFO.lines is not None else "exe"
    return ("pack", target, game, "--no-proof", "--out", "packed")


TASKS = {
    "tournament": Task(tournament, games_on_record, lines_of("run/games.jsonl")),
    "gauntlet": Task(gauntlet, games_on_record, lines_of("run/games.jsonl")),
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
    """Run a command to its end and return the seconds. Raises QuartetError if it fails."""
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
    """Kill a task `kills` times at random moments, or until it ends, let it finish, and compare.

    Raises QuartetError if the result differs from an undisturbed run, or if the task fails by
    itself.
    """
    task, random = TASKS[what], Random(seed)
    words = task.words(game, size)
    whole, killed = folder / "whole", folder / "killed"
    for place in (whole, killed):
        place.mkdir(parents=True)
    if before := task.prepare(game, size):
        complete(before, folder)
    seconds = complete(words, whole)
    total, wanted = task.done(whole), task.outcome(whole)
    # The moments are random within a span that adapts, so that the last kill still hits a running
    # task.
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
        # Every second time kill its workers too; otherwise they must notice.
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


def trial(
    what: str, game: str, *, size: int, kills: int
) -> Callable[[], AbstractContextManager[Attempt]]:
    """Return a trial of a task. Each attempt is a run that is killed `kills` times."""

    def attempt(number: int) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as folder:
            figures = survive(what, game, Path(folder), size=size, kills=kills, seed=number)
        return figures["kills"], ""

    return lambda: nullcontext(attempt)


def environment() -> dict[str, str]:
    """Return this environment with the project on the import path."""
    return {**os.environ, "PYTHONPATH": str(registry.ROOT)}


def _said(run: subprocess.Popen[bytes]) -> str:
    return " | ".join(run.communicate()[1].decode("utf-8", "replace").splitlines()[-LAST_WORDS:])


@click.command()
@click.argument("game")
@click.option("--what", type=click.Choice(list(TASKS)), default="tournament", show_default=True)
@click.option(
    "--size",
    default=200,
    show_default=True,
    help="Games, or epochs of a training; complete blocks.",
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
    execute(main)
