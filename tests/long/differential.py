"""Compare fast rules with reference rules in random games: `python -m tests.long.differential
--seconds 7200`.

Every position must have the same text, moves, scores and end by both rules; some positions must
have the same perft.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import nullcontext
from functools import cache
from itertools import chain, count, islice
from random import Random
from typing import TYPE_CHECKING, Any

import click

from core.commands.program import execute
from core.errors import QuartetError, RuleError
from quartet import registry
from quartet.judge import game as games
from tests.long.progress import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from tests.long.progress import Attempt

PERFT_EVERY, PERFT_NODES = 5000, 20_000
"""Count the leaves of every PERFT_EVERYth position, to a depth of about PERFT_NODES leaves."""
FORFEIT = 0.02
"""Probability that a turn is forfeited, if the rules allow that."""
REPORT_SECONDS = 10.0


@cache
def remembering(rules: type[Any]) -> type[Any]:
    """Return the rules with results that are computed once per position: `play` asks for the legal
    moves again, and they cost most."""

    def once(name: str, compute: Callable[[Any], object]) -> Callable[[Any], object]:
        def result(self: Any) -> object:
            known = self.__dict__
            return known[name] if name in known else known.setdefault(name, compute(self))

        return result

    methods = {name: once(f"_{name}", getattr(rules, name)) for name in ("legal", "scores")}
    over: Any = rules.over
    return type(rules.__name__, (rules,), {**methods, "over": property(once("_over", over.fget))})


def game(name: str, seed: int, number: int) -> Iterator[tuple[Any, Any]]:
    """Yield the positions of a random game by both rules."""
    random = Random(f"{name} {seed} {number}")
    slow = remembering(games.load(name).position).start(number)
    fast: Any = registry.load(name, "rules").Position.start(number)
    yield slow, fast
    while not slow.over:
        move = random.choice(slow.legal())
        lost = random.random() < FORFEIT
        try:
            slow, fast = (p.lose_turn() if lost else p.play(move) for p in (slow, fast))
        except RuleError:
            slow, fast = slow.play(move), fast.play(move)
        yield slow, fast


def positions(name: str, seed: int) -> Iterator[tuple[Any, Any]]:
    """Yield the positions of random games by both rules, endlessly."""
    return chain.from_iterable(game(name, seed, number) for number in count())


def trial(name: str) -> Callable[[], AbstractContextManager[Attempt]]:
    """Return a trial of random games. Each attempt is one game."""

    def attempt(number: int) -> tuple[int, str]:
        total = 0
        for slow, fast in game(name, 0, number):
            compare(slow, fast)
            total += 1
        if number % 50 == 0:
            same_leaves(*next(islice(game(name, 0, number), total // 2, None)))
        return total, ""

    return lambda: nullcontext(attempt)


def compare(slow: Any, fast: Any) -> None:
    """Raise QuartetError if the two positions differ."""
    for what in ("text", "over", "to_move", "ply", "legal", "scores"):
        found = [getattr(position, what) for position in (slow, fast)]
        a, b = (
            sorted(one()) if what == "legal" else one() if callable(one) else one for one in found
        )
        if a != b:
            raise QuartetError(
                f"{what} of {slow.text()!r}: {a} by the reference, {b} by the fast rules"
            )


def same_leaves(slow: Any, fast: Any) -> int:
    """Count the leaves of a position by both rules, to a depth that is quick. Raises QuartetError
    if they differ."""
    depth = 1
    while depth < 4 and fast.perft(depth) * max(1, len(fast.legal())) < PERFT_NODES:
        depth += 1
    counts = slow.perft(depth), fast.perft(depth)
    if counts[0] != counts[1]:
        raise QuartetError(f"perft {depth} of {slow.text()!r}: {counts[0]} and {counts[1]}")
    return int(counts[0])


def run(name: str, seed: int, most: int, seconds: float) -> dict[str, int]:
    """Compare at most `most` positions of a game in `seconds`. Raises QuartetError."""
    until, progress = time.monotonic() + seconds, Interval(REPORT_SECONDS)
    done = leaves = 0
    for slow, fast in positions(name, seed):
        compare(slow, fast)
        done += 1
        if done % PERFT_EVERY == 0 and not slow.over:
            leaves += same_leaves(slow, fast)
        if progress.is_due():
            print(f"{name}: {done:,} positions", file=sys.stderr, flush=True)
        if done >= most or time.monotonic() > until:
            break
    return {"positions": done, "leaves": leaves}


@click.command()
@click.argument("names", metavar="[GAME]...", nargs=-1)
@click.option("--seconds", default=600.0, show_default=True, help="For all games together.")
@click.option("--positions", "most", default=10**7, show_default=True, help="Positions per game.")
@click.option("--seed", default=1, show_default=True)
def main(names: tuple[str, ...], seconds: float, most: int, seed: int) -> None:
    """Compare the rules of the GAMEs, by default all, and print the figures as JSON."""
    chosen = names or tuple(registry.GAMES)
    found = {name: run(name, seed, most, seconds / len(chosen)) for name in chosen}
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    execute(main)
