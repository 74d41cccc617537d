"""How long a file-exchange agent takes as a whole process, in games that it plays from its folder,
while other processes keep cores busy.

`python -m quartet.bench.response ugolki --calls 1000` is the shape of it; with `--program`, for an
executable file.
"""

from __future__ import annotations

import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import count
from multiprocessing import Process
from pathlib import Path
from random import Random

import click
import msgspec
from rich.console import Console
from rich.progress import track

from core.errors import QuartetError, TextError
from core.limits import Limits
from core.rules import Move, Position
from quartet import registry

SEARCH = Limits(nodes=2000)


def games(game: str, seed: int) -> Generator[Position, Move | None, None]:
    """Positions where the agent is to move and has a choice, in games without end: it sits now
    here, now there, against other built-in players, who play one ply in five at random. Send its
    move; None where it has lost its turn.
    """
    load, fast = registry.load(game, "reference"), registry.load(game, "rules")
    players, random = registry.load(game, "players"), Random(seed)
    for number in count():
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
                move = yield truth
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
    while True:
        pass


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
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    game: str,
    calls: int,
    spinners: int,
    program: str | None,
    allowed: float,
    seed: int,
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
    times, missing, illegal, failed = [], 0, 0, 0
    with tempfile.TemporaryDirectory() as folder, busy(spinners):
        source, target = Path(folder, exchange.input), Path(folder, exchange.output)
        asked = games(game, seed)
        position = next(asked)
        for _ in track(
            range(calls), "asking", console=Console(stderr=True), disable=not sys.stderr.isatty()
        ):
            source.write_text(position.text())
            target.unlink(missing_ok=True)
            started = time.perf_counter()
            done = subprocess.run(
                words,
                cwd=folder,
                env={**os.environ, "PYTHONPATH": root},
                stdin=subprocess.DEVNULL,
                check=False,
            )
            times.append(time.perf_counter() - started)
            failed += done.returncode != 0
            move = None
            try:
                move = protocol.parse_answer(target.read_text(), position.to_move)
            except (OSError, TextError):
                missing += 1
            if move is not None and move not in position.legal():
                illegal += 1
                move = None
            position = asked.send(move)
    times.sort()
    figures = {
        "calls": calls,
        "busy": spinners,
        "seed": seed,
        "late": sum(seconds > allowed for seconds in times),
        "illegal": illegal,
        "missing": missing,
        "non-zero exits": failed,
        "median ms": round(1000 * statistics.median(times), 1),
        "p95 ms": round(1000 * times[min(calls - 1, int(0.95 * calls))], 1),
        "p99 ms": round(1000 * times[min(calls - 1, int(0.99 * calls))], 1),
        "max ms": round(1000 * times[-1], 1),
    }
    print(
        msgspec.json.encode(figures).decode()
        if as_json
        else "\n".join(f"{name:15} {figure}" for name, figure in figures.items())
    )


if __name__ == "__main__":
    try:
        command.main()
    except QuartetError as error:
        raise SystemExit(f"quartet: {error}") from None
