"""Measure the time of a file-protocol agent from process start to exit, in games.

    python -m tests.bench.latency ugolki --calls 10000 --busy 2 --out runs/latency

Other processes keep cores busy meanwhile. A control process only sleeps: if it wakes up late too,
the machine stalled. The same command resumes an interrupted run. `--program` measures an executable
file.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from multiprocessing import Pipe, Process, Value
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

import click
import msgspec

from core.commands.program import execute
from core.errors import QuartetError, TextError
from core.limits import Limits
from core.rules import Move, Position
from quartet import registry
from quartet.arena import builds
from quartet.arena.files import write_whole
from quartet.cli.progress import Progress
from quartet.review.work import LogResult, ResultFolder

SEARCH = Limits(nodes=2000)
NAP = 0.005
"""Seconds per sleep of the control process."""
CONTROL_LATE = 0.02
"""Seconds: a turn is listed separately if the control process woke up later than that."""
PARTS = (0.0, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0)
"""The quantiles to print."""
STEP = 10
"""Milliseconds per row of the distribution."""


class Call(msgspec.Struct, frozen=True):
    """One process of the agent.

    Attributes:
        game: Number of its game, from 0.
        seconds: Time from start to exit, as its parent sees it.
        control: Largest delay of the control process meanwhile, in seconds.
        fault: "illegal", "missing", or empty.
        exit: Exit status.
        load: Load average over a minute.
    """

    game: int
    seconds: float
    control: float
    fault: str
    exit: int
    load: float


def games(
    game: str, seed: int, first: int = 0
) -> Generator[tuple[int, Position], Move | None, None]:
    """Yield game number, from `first` on, and each position in which the agent has a choice,
    endlessly.

    Send the agent's move, or None if it forfeits the turn. The agent's seat rotates. The opponents
    are built-in players that play one ply in five at random.
    """
    load, fast = registry.load(game, "reference"), registry.load(game, "rules")
    players = registry.load(game, "players")
    for number in count(first):
        random = Random(f"{seed} {number}")
        truth, position = load.Position.start(number), fast.Position.start(number)
        seats = [
            players.player(random.choice(players.NAMES[:2]), random.randrange(1 << 30))
            for _ in range(load.INFO.players)
        ]
        while not truth.over:
            legal = truth.legal()
            move: Move | None
            if len(legal) == 1 or (truth.to_move != number % len(seats) and random.random() < 0.2):
                move = random.choice(legal)
            elif truth.to_move == number % len(seats):
                move = yield number, truth
            else:
                move = seats[truth.to_move].choose(position, SEARCH).move
            truth, position = (
                (truth.lose_turn(), position.lose_turn())
                if move is None
                else (truth.play(move), position.play(move))
            )


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keep that many cores busy meanwhile."""
    spinners = [Process(target=_spin, daemon=True) for _ in range(processes)]
    for spinner in spinners:
        spinner.start()
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.join()


def _spin() -> None:
    parent = os.getppid()
    while os.getppid() == parent:  # the parent may be killed
        for _ in range(100_000):
            pass


class Control(AbstractContextManager["Control"]):
    """A process that sleeps and records when it wakes up late."""

    def __init__(self) -> None:
        self._late: Connection
        self._late, theirs = Pipe(duplex=False)
        self._awake = Value("d", 0.0)
        self.process = Process(target=_sleep, args=(theirs, self._awake), daemon=True)
        self.process.start()

    def since(self, started: float) -> float:
        """Wait for the next wake-up; return the largest delay since `started`, in seconds.

        Args:
            started: A moment of `time.monotonic`.
        """
        asked = time.monotonic()
        while self._awake.value < asked:
            time.sleep(NAP / 5)
        longest = 0.0
        while self._late.poll():
            woke, late = self._late.recv()
            if woke >= started:
                longest = max(longest, late)
        return longest

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.join()


def _sleep(late: Connection, awake: Any) -> None:
    parent = os.getppid()
    while os.getppid() == parent:
        before = time.monotonic()
        time.sleep(NAP)
        now = time.monotonic()
        if now - before > 1.2 * NAP:
            late.send((now, now - before - NAP))
        awake.value = now


def figures(calls: Sequence[Call], allowed: float) -> dict[str, object]:
    """Return the figures to print; times are in milliseconds."""
    times = sorted(call.seconds for call in calls)
    late = [(i, call) for i, call in enumerate(calls) if call.seconds > allowed]
    apart = [(i, call) for i, call in late if call.control > CONTROL_LATE]
    rows = Counter(int(1000 * seconds) // STEP * STEP for seconds in times)
    return {
        "calls": len(calls),
        "late": len(late) - len(apart),
        "late, and the control process too": len(apart),
        "illegal": sum(call.fault == "illegal" for call in calls),
        "missing": sum(call.fault == "missing" for call in calls),
        "non-zero exits": sum(call.exit != 0 for call in calls),
        "turns with a late control process": sum(call.control > CONTROL_LATE for call in calls),
        "load": sorted(call.load for call in calls)[len(calls) // 2],
        "quantiles": {
            f"{100 * part:g} %": _ms(times[round(part * (len(times) - 1))]) for part in PARTS
        },
        "distribution": {str(row): rows[row] for row in sorted(rows)},
        "late calls": [
            {"call": i, "ms": _ms(call.seconds), "control late by": _ms(call.control)}
            for i, call in late
        ],
    }


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 1)


@click.command()
@click.argument("game")
@click.option(
    "--calls",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Processes to start, one after the other.",
)
@click.option(
    "--busy",
    "spinners",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="Number of other processes that keep a core busy.",
)
@click.option(
    "--program",
    help="Program to start instead of `python -m GAME`, with its arguments and absolute paths.",
)
@click.option(
    "--allowed",
    default=0.5,
    show_default=True,
    metavar="SECONDS",
    help="Time limit of a call.",
)
@click.option("--seed", default=1, show_default=True)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for every call and, finally, result.json; the same command resumes there.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    game: str,
    calls: int,
    spinners: int,
    program: str | None,
    allowed: float,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Run the agent of GAME in games and print the distribution of its times from start to exit."""
    reference, protocol = registry.load(game, "reference"), registry.load(game, "protocol")
    exchange = reference.INFO.exchange
    if exchange is None:
        raise QuartetError(f"{game} has no file exchange")
    words = (
        [sys.executable, "-m", registry.GAMES[game]] if program is None else shlex.split(program)
    )
    if not words or shutil.which(words[0]) is None:
        raise QuartetError(f"--program {program}: this program cannot be started")
    plan = {"game": game, "busy": spinners, "program": program, "seed": seed}
    with (
        tempfile.TemporaryDirectory() as folder,
        ResultFolder(out or Path(folder, "kept"), plan) as kept,
    ):
        done = [msgspec.json.decode(value, type=Call) for value in kept.values()]
        asked = games(game, seed, done[-1].game + 1 if done else 0)
        source, target = Path(folder, exchange.input), Path(folder, exchange.output)
        number, position = next(asked)
        with busy(spinners), Control() as control, Progress("calls", calls, len(done)) as progress:
            while len(done) < calls:
                source.write_text(position.text())
                target.unlink(missing_ok=True)
                started = time.monotonic()
                ended = subprocess.run(
                    words,
                    cwd=folder,
                    env={**os.environ, "PYTHONPATH": str(registry.ROOT)},
                    stdin=subprocess.DEVNULL,
                    check=False,
                )
                seconds = time.monotonic() - started
                move, fault = None, ""
                try:
                    move = protocol.parse_answer(target.read_text(), position.to_move)
                except (OSError, TextError):
                    fault = "missing"
                if move is not None and move not in position.legal():
                    move, fault = None, "illegal"
                done.append(
                    Call(
                        number,
                        seconds,
                        control.since(started),
                        fault,
                        ended.returncode,
                        os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0,
                    )
                )
                kept.add(
                    LogResult(
                        len(done), f"game {number}", msgspec.Raw(msgspec.json.encode(done[-1]))
                    )
                )
                progress.update(len(done))
                number, position = asked.send(move)
    found = {
        **plan,
        "allowed ms": _ms(allowed),
        "cores": os.cpu_count(),
        "commit": builds.head(),
        "command": shlex.join(["python", "-m", "tests.bench.latency", *sys.argv[1:]]),
        **figures(done[:calls], allowed),
    }
    text = msgspec.json.encode(found)
    if out is not None:
        write_whole(out / "result.json", msgspec.json.format(text) + b"\n")
    print(text.decode() if as_json else "\n".join(_lines(found)))


def _lines(found: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the printed result."""
    for name, figure in found.items():
        if isinstance(figure, dict):
            yield f"{name}, ms"
            yield from (f"{row:>10} {value}" for row, value in figure.items())
        elif isinstance(figure, list):
            yield name
            yield from (
                f"{call['call']:10} {call['ms']} ms, control late by {call['control late by']}"
                for call in figure
            )
        else:
            yield f"{name:34} {figure}"


if __name__ == "__main__":
    execute(command)
