"""`python -m ataxx.make_openings`: make the book of balanced openings, ataxx/openings.txt.

An opening is a fixed number of random plies from the start. The engine searches it with a fixed
number of nodes and must find neither side far ahead. No opening is a rotation or reflection of
another. The first line of the book is the command that made it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import click
from rich.console import Console
from rich.progress import track

from ataxx.fen import SIZE
from ataxx.openings import BOOK
from ataxx.players import NAMES, player
from ataxx.rules import Position
from core.commands.program import execute
from core.engine import NEW_GAME, can
from core.limits import Limits
from core.nn.learning import require_place


def symmetries() -> Iterator[list[int]]:
    """Yield the eight rotations and reflections: for each cell, the cell that is moved to it."""
    board = [[row * SIZE + column for column in range(SIZE)] for row in range(SIZE)]
    for _ in range(2):
        for _ in range(4):
            board = [list(row) for row in zip(*board[::-1], strict=True)]
            yield [cell for row in board for cell in row]
        board = [row[::-1] for row in board]


SYMMETRIES = list(symmetries())


def canonical(position: Position) -> tuple[int, ...]:
    """Return the cells of a position, the same for all its rotations and reflections."""
    return min(tuple(position.cells[cell] for cell in order) for order in SYMMETRIES)


def openings(
    plies: int, nodes: int, most: int, seed: int, name: str
) -> Iterator[tuple[Position, int]]:
    """Yield balanced openings with their scores, until 1000 drawn ones in a row are unusable.

    A drawn opening is unusable if its game has ended or a symmetric one was drawn before.

    Args:
        plies: Plies of each opening.
        nodes: Nodes per search.
        most: Greatest score of a balanced opening, for either side.
        seed: Seed of the random plies and of the player.
        name: The built-in player that evaluates.
    """
    random = Random(seed)
    engine: Any = player(name, seed)
    known: set[tuple[int, ...]] = set()
    repeated = 0
    while repeated < 1000:
        position = Position.start()
        while position.ply < plies and not position.over:
            position = position.play(random.choice(position.legal()))
        if position.over or canonical(position) in known:
            repeated += 1
            continue
        repeated = 0
        known.add(canonical(position))
        if can(engine, NEW_GAME):
            engine.new_game()  # a score must not depend on earlier searches
        score = engine.choose(position, Limits(nodes=nodes)).score
        if abs(score) <= most:
            yield position, score


@click.command(context_settings={"show_default": True})
@click.option("--plies", type=click.IntRange(min=1), default=4, help="Plies per opening.")
@click.option("--count", type=click.IntRange(min=1), default=2000, help="Number of openings.")
@click.option("--nodes", type=click.IntRange(min=1), default=20000, help="Nodes per search.")
@click.option(
    "--most",
    type=click.IntRange(min=0),
    default=60,
    help="Greatest score of a balanced opening, for either side.",
)
@click.option("--seed", default=1, help="Random seed.")
@click.option("--player", default=NAMES[0], type=click.Choice(NAMES), help="Player that evaluates.")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), default=BOOK, help="The book."
)
def command(
    plies: int, count: int, nodes: int, most: int, seed: int, player: str, out: Path
) -> None:
    """Make the book of balanced openings."""
    require_place(out)
    options = (
        f"--plies {plies} --count {count} --nodes {nodes} --most {most} --seed {seed} "
        f"--player {player}"
    )
    lines = [f"# python -m ataxx.make_openings {options}"]
    shown = track(
        islice(openings(plies, nodes, most, seed, player), count),
        "openings",
        count,
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
    )
    lines += [position.text() for position, _ in shown]
    if len(lines) <= count:
        click.echo(
            f"only {len(lines) - 1} openings are balanced; raise --plies or --most", err=True
        )
    out.write_text("".join(line + "\n" for line in lines), encoding="ascii", newline="\n")


if __name__ == "__main__":
    execute(command)
