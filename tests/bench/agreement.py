"""How well a short review agrees with a longer one: `python -m tests.bench.agreement GAME
LOG...`.

Every log is reviewed twice, with the default nodes and with a multiple of them. The figure is the
share of the longer review's blunders that the default calls mistakes or worse. The second figure is
the same with the two reviews exchanged.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from random import Random

import click

from core.commands.program import execute
from core.errors import QuartetError
from quartet.arena.ratings import wilson
from quartet.cli.following import log_files
from quartet.review import figures, reviewing, work
from quartet.review.document import LABELS, Review, TurnReview

BLUNDER = figures.severity(LABELS[-1])


@dataclass
class Agreement:
    """Blunders of one review that another one finds.

    Attributes:
        blunders: Number of blunders.
        found: Number of these that the other review calls mistakes or worse.
    """

    blunders: int = 0
    found: int = 0

    def __str__(self) -> str:
        if not self.blunders:
            return "no blunder"
        low, high = wilson(self.found, self.blunders)
        part = 100 * self.found / self.blunders
        return (
            f"{self.found} of {self.blunders}, {part:.0f} % ({100 * low:.0f} .. {100 * high:.0f})"
        )


def compare(one: Review, other: Review, total: Agreement) -> list[tuple[TurnReview, TurnReview]]:
    """Count the blunders of a review, and return those that the other one misses, each with the
    same turn of the other review."""
    turns = zip(one.turns, other.turns, strict=True)
    blunders = [pair for pair in turns if figures.severity(pair[0].label) == BLUNDER]
    missed = [pair for pair in blunders if figures.severity(pair[1].label) < BLUNDER - 1]
    total.blunders += len(blunders)
    total.found += len(blunders) - len(missed)
    return missed


@click.command()
@click.argument("game")
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="LOG...")
@click.option(
    "--times",
    type=click.IntRange(2),
    default=20,
    show_default=True,
    help="Nodes of the longer review, in multiples of the default.",
)
@click.option(
    "--nodes",
    type=click.IntRange(1),
    help="Nodes per search of the shorter review  [default: as calibrated].",
)
@click.option("--enough", type=click.IntRange(1), metavar="N", help="Stop after N blunders.")
@click.option("--seed", default=1, show_default=True, help="Seed of the order of the logs.")
@click.option(
    "--skip", type=click.IntRange(0), default=0, metavar="N", help="Skip the first N logs."
)
def command(
    game: str,
    logs: tuple[Path, ...],
    times: int,
    nodes: int | None,
    enough: int | None,
    seed: int,
    skip: int,
) -> None:
    """Review every LOG of GAME (folders as for `quartet review`) twice, in a random order, and
    print how well the two reviews agree. Intervals are Wilson's, 95 %, with a blunder as a
    trial."""
    paths = log_files(logs)
    Random(seed).shuffle(paths)
    usual = nodes or reviewing.engine(game, "bot").nodes
    found, reverse = Agreement(), Agreement()
    seconds = [0.0, 0.0]

    def review(path: Path, effort: int) -> Review:
        data, complaint = work.read(path)
        unit = work.LogTask(
            number=0, game=game, name=path.name, data=data, complaint=complaint, nodes=effort
        )
        started = time.process_time()
        told = reviewing.review(unit)
        seconds[effort != usual] += time.process_time() - started
        if told.complaint:
            raise QuartetError(f"{path}: {told.complaint}")
        return told

    number = 0
    for number, path in enumerate(paths[skip:], start=1):  # noqa: B007  (the number is printed)
        short, long = review(path, usual), review(path, times * usual)
        for mine, theirs in compare(long, short, found):
            print(f"{path}, ply {mine.ply}: {mine.move} lost {mine.loss}, by default {theirs.loss}")
        compare(short, long, reverse)
        print(f"{path}: {found}; reversed: {reverse}", flush=True)
        if enough is not None and found.blunders >= enough:
            break
    print(
        f"{game}, {usual} and {times * usual} nodes, {number} games: found {found}; "
        f"reversed: {reverse}; {seconds[0] / max(1, number):.1f} and "
        f"{seconds[1] / max(1, number):.1f} s of processor time a game"
    )


if __name__ == "__main__":
    execute(command)
