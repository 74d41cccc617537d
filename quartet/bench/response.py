"""How long a file-exchange agent takes as a whole process, in games that it plays from its folder,
while other processes keep cores busy and one more does nothing but sleep: where that wakes up late,
too, the machine stood still.

`python -m quartet.bench.response ugolki --calls 10000 --busy 2 --out runs/response` is the shape of
it, and goes on after a kill; with `--program`, for an executable file.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from multiprocessing import Pipe, Process, Value
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Self

import click
import msgspec

from core.errors import QuartetError, TextError
from core.limits import Limits
from core.rules import Move, Position
from quartet import registry
from quartet.arena import builds
from quartet.arena.files import write_whole
from quartet.cli.progress import Progress
from quartet.review.work import Kept, Piece

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

SEARCH = Limits(nodes=2000)
NAP = 0.005
"""Seconds for which the control process sleeps at a time."""
CONTROL_LATE = 0.02
"""Seconds: a turn in which the control process woke up later than that is listed apart."""
PARTS = (0.0, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0)
"""The quantiles that are shown."""
STEP = 10
"""Milliseconds in a row of the distribution."""


class Call(msgspec.Struct, frozen=True):
    """One whole process.

    Attributes:
        game: int; that it was a turn of, from 0.
        seconds: float; from its start to its end, as whoever started it sees it.
        control: float; by how much the control process woke up late meanwhile, at the most.
        fault: str; "illegal", "missing", or empty. exit: int; its status.
        load: float; how many processes ran or wanted to, the mean over a minute.
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
    """The number of the game, from `first` on, and positions where the agent is to move and has a
    choice, in games without end: it sits now here, now there, against other built-in players, who
    play one ply in five at random. Send its move; None where it has lost its turn.
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
    """Keeps so many cores busy."""
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
    while os.getppid() == parent:  # which may be killed
        for _ in range(100_000):
            pass


class Control:
    """A process that sleeps, and notes when it wakes up late."""

    def __init__(self) -> None:
        self._late: Connection
        self._late, theirs = Pipe(duplex=False)
        self._awake = Value("d", 0.0)
        self.process = Process(target=_sleep, args=(theirs, self._awake), daemon=True)
        self.process.start()

    def since(self, started: float) -> float:
        """By how many seconds it woke up late since that moment of `time.monotonic`, at the most;
        waits until it has slept once more."""
        asked = time.monotonic()
        while self._awake.value < asked:
            time.sleep(NAP / 5)
        longest = 0.0
        while self._late.poll():
            woke, late = self._late.recv()
            if woke >= started:
                longest = max(longest, late)
        return longest

    def __enter__(self) -> Self:
        return self

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
    """What is shown of the calls; times in milliseconds."""
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
    default=1000,
    show_default=True,
    help="Whole processes to start, one after the other.",
)
@click.option(
    "--busy",
    "spinners",
    default=1,
    show_default=True,
    help="Other processes that keep a core busy each.",
)
@click.option(
    "--program",
    help="What to start instead of `python -m GAME`: a program and its arguments, with absolute "
    "paths.",
)
@click.option(
    "--allowed",
    default=0.5,
    show_default=True,
    metavar="SECONDS",
    help="Above this a call is late.",
)
@click.option("--seed", default=1, show_default=True)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Keep every call in this folder, with result.json in the end; the same command goes on "
    "there.",
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
    """Start the agent of GAME in games and print the distribution of its whole-process times."""
    reference, protocol = registry.load(game, "reference"), registry.load(game, "protocol")
    exchange = reference.INFO.exchange
    if exchange is None:
        raise QuartetError(f"{game} has no file exchange")
    root = str(registry.ROOT)
    words = (
        [sys.executable, "-m", registry.GAMES[game]] if program is None else shlex.split(program)
    )
    plan = {"game": game, "busy": spinners, "program": program, "seed": seed}
    with tempfile.TemporaryDirectory() as folder, Kept(out or Path(folder, "kept"), plan) as kept:
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
                    env={**os.environ, "PYTHONPATH": root},
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
                kept.add(Piece(len(done), f"game {number}", msgspec.json.encode(done[-1])))
                progress.done(len(done))
                number, position = asked.send(move)
    found = {
        **plan,
        "allowed ms": _ms(allowed),
        "cores": os.cpu_count(),
        "commit": builds.head(),
        "command": shlex.join(["python", "-m", "quartet.bench.response", *sys.argv[1:]]),
        **figures(done[:calls], allowed),
    }
    text = msgspec.json.encode(found)
    if out is not None:
        write_whole(out / "result.json", msgspec.json.format(text) + b"\n")
    print(text.decode() if as_json else "\n".join(_lines(found)))


def _lines(found: dict[str, Any]) -> Iterator[str]:
    """The result as a person reads it."""
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
    try:
        command.main()
    except QuartetError as error:
        raise SystemExit(f"quartet: {error}") from None
