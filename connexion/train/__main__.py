"""`python -m connexion.train FILE`: the evaluation's numbers, learned from nothing by self-play.
The same options give the same file."""

from __future__ import annotations

import sys
from array import array
from pathlib import Path

import click

from connexion.train.learner import Learner
from core.nn.sealed import seal

CHUNK = 500
"""Games at one rate, and between two lines of progress."""


def sealed(numbers: array[int], command: str) -> bytes:
    """The file of these numbers."""
    words = array("h", numbers)
    if sys.byteorder == "big":
        words.byteswap()
    return seal(
        "weights",
        {"game": "connexion", "numbers": str(len(words)), "command": command},
        words.tobytes(),
    )


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--games",
    type=click.IntRange(1),
    default=60_000,
    show_default=True,
    help="Rounded up to whole chunks.",
)
@click.option("--seed", default=1, show_default=True)
@click.option("--trace", default=0.3, show_default=True, help="Lambda of the temporal differences.")
@click.option("--explore", default=0.1, show_default=True, help="Share of random moves.")
@click.option("--width", default=16, show_default=True, help="Moves that are looked at.")
@click.option(
    "--rate",
    default=0.3,
    show_default=True,
    help="Of learning, at first; it falls to a hundredth of that.",
)
def command(
    file: Path, games: int, seed: int, trace: float, explore: float, width: int, rate: float
) -> None:
    """Learn the evaluation's numbers by self-play and write them to FILE."""
    learner = Learner(seed, trace, explore, width)
    chunks = -(-games // CHUNK)
    for chunk in range(chunks):
        error = learner.play(CHUNK, rate * max(0.01, (1 - chunk / chunks) ** 1.5))
        if chunk % 20 == 0 or chunk == chunks - 1:
            click.echo(f"{(chunk + 1) * CHUNK} games, error {error:.3f} points", err=True)
    options = (
        f"--games {games} --seed {seed} --trace {trace:g} --explore {explore:g} --width "
        f"{width} --rate {rate:g}"
    )
    file.write_bytes(sealed(learner.numbers(), f"python -m connexion.train {options}"))


if __name__ == "__main__":
    command()
