"""`python -m tests.bench.judge_overhead`: measure the judge's own time per ply in line-protocol
games.

Own time is the time from one ply to the next without the program's, from the call to its answer. It
includes rules, messages to both programs, clocks, log and memory checks. The programs answer
immediately. Run it on an idle machine.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import pairwise
from random import Random
from statistics import median, quantiles

import click

from core.commands.program import execute
from quartet import registry
from quartet.judge import game as games
from quartet.judge.match import Match
from quartet.judge.process.pipes import hub
from quartet.judge.seats.lines import Command, LineSeat
from quartet.judge.table import table_rules

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
"""A program that answers every call immediately, with the next answer of its argument."""


def measure(game: games.JudgedGame, number: int, *, cpu: bool = False) -> list[float]:
    """Return the judge's own seconds for every ply of a random game but the first, which includes
    the start of the programs."""
    answers = _script(game, number)
    shared = hub()
    seats = [
        LineSeat(Command([sys.executable, "-c", PARROT, ";".join(seat)]), shared)
        for seat in answers
    ]
    table = table_rules(game.info, ms=[60_000] * 2, ready_ms=60_000, cpu=cpu)
    with Match(game, seats, ["parrot"] * 2, table, games.Start(number, {})) as match:
        judged = [(time.perf_counter(), turn.seconds) for turn in match.play()]
    if match.result is None or match.result.offender is not None:
        reason = match.result and match.result.reason
        raise SystemExit(f"the game differs from its script: {reason}")
    return [now - before - answer for (before, _), (now, answer) in pairwise(judged)]


def _script(game: games.JudgedGame, number: int) -> list[list[str]]:
    """Return the answers of both sides in a random game."""
    random = Random(f"{game.info.name} {number}")
    position = game.position.start(number)
    answers: list[list[str]] = [[], []]
    while not position.over:
        legal = position.legal()
        # A game of passes is short: pass only if no other move is legal.
        move = random.choice([move for move in legal if move != game.pass_move] or legal)
        answers[position.to_move].append(game.protocol.format_answer(move, position.to_move))
        position = position.play(move)
    return answers


@click.command()
@click.argument("names", nargs=-1, metavar="GAME...")
@click.option(
    "--games",
    "count",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Random games per game.",
)
@click.option("--cpu", is_flag=True, help="Use clocks that count processor time.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(names: tuple[str, ...], count: int, cpu: bool, as_json: bool) -> None:
    """Print median, 99th percentile and maximum of the judge's own milliseconds per ply for every
    GAME (default: all line-protocol games)."""
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
    execute(command)
