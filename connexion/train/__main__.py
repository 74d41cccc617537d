"""`python -m connexion.train FILE`: learn the evaluation's numbers by self-play, starting from 0.

The same options give the same file.
"""

from __future__ import annotations

import sys
from array import array
from pathlib import Path

import click

from connexion.train.learner import Learner
from core.commands.program import execute
from core.nn.learning import require_place
from core.nn.sealed import seal

CHUNK = 500
"""Games at one learning rate. Progress is printed every 20 chunks."""


def sealed(numbers: array[int], command: str) -> bytes:
    """Return the content of a weights file."""
    words = array("h", numbers)
    if sys.byteorder == "big":
        words.byteswap()
    return seal(
        "weights",
        {"game": "connexion", "numbers": str(len(words)), "command": command},
        words.tobytes(),
    )


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--games",
    type=click.IntRange(1),
    default=60_000,
    show_default=True,
    help="Number of games, rounded up to a multiple of 500.",
)
@click.option("--seed", default=1, show_default=True, help="Random seed.")
@click.option(
    "--td-lambda",
    "--trace",
    "td_lambda",
    type=click.FloatRange(0, 1),
    default=0.3,
    show_default=True,
    help="Lambda of the temporal-difference targets, 0 to 1. --trace is the name of version 1.0.",
)
@click.option(
    "--explore",
    type=click.FloatRange(0, 1),
    default=0.1,
    show_default=True,
    help="Fraction of random moves.",
)
@click.option(
    "--width",
    type=click.IntRange(1, 1000),
    default=16,
    show_default=True,
    help="Moves evaluated per position.",
)
@click.option(
    "--rate",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.3,
    show_default=True,
    help="Initial learning rate. It falls to 1/100 of this.",
)
def command(
    file: Path, games: int, seed: int, td_lambda: float, explore: float, width: int, rate: float
) -> None:
    """Learn the evaluation's numbers by self-play and write them to FILE."""
    require_place(file)
    learner = Learner(seed, td_lambda, explore, width)
    chunks = -(-games // CHUNK)
    for chunk in range(chunks):
        error = learner.play(CHUNK, rate * max(0.01, (1 - chunk / chunks) ** 1.5))
        if chunk % 20 == 0 or chunk == chunks - 1:
            click.echo(f"{(chunk + 1) * CHUNK} games, error {error:.3f} points", err=True)
    options = (
        f"--games {games} --seed {seed} --td-lambda {td_lambda:g} --explore {explore:g} --width "
        f"{width} --rate {rate:g}"
    )
    file.write_bytes(sealed(learner.numbers(), f"python -m connexion.train {options}"))


if __name__ == "__main__":
    execute(command)
