"""Fast rules against reference rules on random positions, as many as there is time for: `python -m
quartet.bench.differential --seconds 7200`.

At every position of random games: text, moves, scores and end; at some, perft of the position, and a
random text of a move that both must judge alike.
"""

from __future__ import annotations

import json
import sys
import time
from random import Random
from typing import TYPE_CHECKING, Any

import click

from core.errors import QuartetError, RuleError
from quartet import registry
from quartet.judge import game as games

if TYPE_CHECKING:
    from collections.abc import Iterator

PERFT_EVERY, PERFT_NODES = 500, 20_000
"""One position in so many has its leaves counted, to the depth at which there are about so many."""
FOUL = 0.02
"""How often a turn is lost, where the rules know such."""
SAY_EVERY = 10.0


def positions(name: str, seed: int) -> Iterator[tuple[Any, Any]]:
    """Random games without end, by both rules, position by position."""
    reference, fast = games.load(name).position, registry.load(name, "rules").Position
    number = 0
    while True:
        random = Random(f"{name} {seed} {number}")
        both: tuple[Any, Any] = (reference.start(number), fast.start(number))
        yield both
        while not both[0].over:
            move = random.choice(both[0].legal())
            lost = random.random() < FOUL
            try:
                both = tuple(p.lose_turn() if lost else p.play(move) for p in both)
            except RuleError:
                both = both[0].play(move), both[1].play(move)
            yield both
        number += 1


def compare(slow: Any, fast: Any) -> None:
    """Raise QuartetError where the two are not the same position."""
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
    """The leaves of a position to a depth that takes no time, counted by both. Raises
    QuartetError."""
    depth = 1
    while depth < 4 and fast.perft(depth) * max(1, len(fast.legal())) < PERFT_NODES:
        depth += 1
    counts = slow.perft(depth), fast.perft(depth)
    if counts[0] != counts[1]:
        raise QuartetError(f"perft {depth} of {slow.text()!r}: {counts[0]} and {counts[1]}")
    return int(counts[0])


def run(name: str, seed: int, most: int, seconds: float) -> dict[str, int]:
    """Compare so many positions of a game, or fewer where the time is up. Raises QuartetError."""
    until, said = time.monotonic() + seconds, time.monotonic()
    count = leaves = 0
    for slow, fast in positions(name, seed):
        compare(slow, fast)
        count += 1
        if count % PERFT_EVERY == 0 and not slow.over:
            leaves += same_leaves(slow, fast)
        now = time.monotonic()
        if now > said + SAY_EVERY:
            print(f"{name}: {count:,} positions", file=sys.stderr, flush=True)
            said = now
        if count >= most or now > until:
            break
    return {"positions": count, "leaves": leaves}


@click.command()
@click.argument("names", metavar="[GAME]...", nargs=-1)
@click.option("--seconds", default=600.0, show_default=True, help="For all games together.")
@click.option("--positions", "most", default=10**7, show_default=True, help="Of each game.")
@click.option("--seed", default=1, show_default=True)
def main(names: tuple[str, ...], seconds: float, most: int, seed: int) -> None:
    """Compare the rules of the GAMEs, by default of all. Prints the figures, as JSON."""
    chosen = names or tuple(registry.GAMES)
    found = {name: run(name, seed, most, seconds / len(chosen)) for name in chosen}
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    try:
        main()
    except QuartetError as error:
        raise SystemExit(f"quartet: {error}") from None
