"""`python -m quartet.bench.judge_overhead`: the line judge's own time per ply, with programs that
answer at once. Nothing else should run.

Own time is what passes from one ply to the next less what the program had, from the call to its
answer: reading the rules, telling both programs, clocks, log, memory.
"""

from __future__ import annotations

import json
import sys
import time
from random import Random
from statistics import median, quantiles
from typing import TYPE_CHECKING

import click

from quartet import registry
from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.match import Match
from quartet.judge.process.pipes import hub
from quartet.judge.seats.lines import Command, LineSeat
from quartet.judge.table import table_rules

if TYPE_CHECKING:
    from quartet.judge.game import Game

PARROT = """
import sys
answers = iter(sys.argv[1].split(";"))
for line in sys.stdin:
    if line.startswith("READY"):
        print("OK", flush=True)
    elif line.startswith("T"):
        print(next(answers), flush=True)
    elif line.startswith("FINISH"):
        break
"""
"""Answers every call at once, with what its argument says."""


def measure(game: Game, number: int, *, cpu: bool = False) -> list[float]:
    """Own seconds of every ply of one random game but the first, whose time is the programs'
    start."""
    answers = _script(game, number)
    shared = hub()
    seats = [
        LineSeat(Command([sys.executable, "-c", PARROT, ";".join(seat)]), shared)
        for seat in answers
    ]
    table = table_rules(game.info, ms=[60_000] * 2, ready_ms=60_000, cpu=cpu)
    own = []
    with Match(game, seats, ["parrot"] * 2, table, Start(number, {})) as match:
        turns = match.play()
        next(turns, None)
        before = time.perf_counter()
        for turn in turns:
            now = time.perf_counter()
            own.append(now - before - turn.seconds)
            before = now
        # The last round ends the programs; it is no ply.
    if match.result is None or match.result.offender is not None:
        reason = match.result and match.result.reason
        raise SystemExit(f"the game did not go as written: {reason}")
    return own


def _script(game: Game, number: int) -> list[list[str]]:
    """What both sides answer in a random game."""
    random = Random(f"{game.info.name} {number}")
    position = game.position.start(number)
    answers: list[list[str]] = [[], []]
    while not position.over:
        legal = position.legal()
        # A game of passes is short: they are played when there is nothing else.
        move = random.choice([move for move in legal if move != game.pass_move] or legal)
        answers[position.to_move].append(game.protocol.format_answer(move, position.to_move))
        position = position.play(move)
    return answers


@click.command()
@click.argument("names", nargs=-1, metavar="GAME...")
@click.option("--games", "count", default=10, show_default=True, help="Random games of each.")
@click.option("--cpu", is_flag=True, help="With clocks that count processor time.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(names: tuple[str, ...], count: int, cpu: bool, as_json: bool) -> None:
    """Print median, 99th percentile and maximum of the judge's own milliseconds per ply, for every
    GAME (default: all games of lines)."""
    chosen = names or tuple(
        name for name in registry.GAMES if registry.load(name, "reference").INFO.lines is not None
    )
    figures = {}
    for name in chosen:
        game = games.load(name)
        own = [
            1000 * seconds for number in range(count) for seconds in measure(game, number, cpu=cpu)
        ]
        figures[name] = {
            "plies": len(own),
            "median": median(own),
            "p99": quantiles(own, n=100)[98],
            "max": max(own),
        }
    if as_json:
        print(json.dumps(figures, indent=2))
        return
    for name, row in figures.items():
        print(
            f"{name}: {row['plies']} plies, median {row['median']:.3f} ms, p99 {row['p99']:.3f} "
            f"ms, max {row['max']:.3f} ms"
        )


if __name__ == "__main__":
    command()
