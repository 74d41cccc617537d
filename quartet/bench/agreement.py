"""Whether a review finds what a longer one finds: `python -m quartet.bench.agreement GAME LOG...`.

Every log is reviewed twice, at the default effort and with so many times the nodes. Of the moves
that the longer review calls blunders, the figure is the part that the default calls mistakes at
least; beside it is the same with the two reviews exchanged.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import click

from core.errors import QuartetError
from quartet.arena.ratings import wilson
from quartet.cli.review import found_logs
from quartet.review import figures, work, worker
from quartet.review.document import LABELS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quartet.review.document import Review, TurnReview

BLUNDER = figures.severity(LABELS[-1])


@dataclass
class Agreement:
    """How many blunders of one review another one calls mistakes at least.

    Attributes:
        blunders, found: int.
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


def blunders(one: Review, other: Review) -> Iterator[tuple[TurnReview, TurnReview]]:
    """The blunders of a review, with the same turns of another one of the same log."""
    for mine, theirs in zip(one.turns, other.turns, strict=True):
        if figures.severity(mine.label) == BLUNDER:
            yield mine, theirs


def compare(one: Review, other: Review, total: Agreement) -> list[tuple[TurnReview, TurnReview]]:
    """Count the blunders of a review; gives those that the other one does not find."""
    missed = []
    for mine, theirs in blunders(one, other):
        found = figures.severity(theirs.label) >= BLUNDER - 1
        total.blunders += 1
        total.found += found
        if not found:
            missed.append((mine, theirs))
    return missed


@click.command()
@click.argument("game")
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="LOG...")
@click.option("--times", type=click.IntRange(2), default=20, show_default=True, help="The nodes.")
@click.option("--nodes", type=click.IntRange(1), help="Of the default  [default: the review's].")
@click.option("--enough", type=click.IntRange(1), help="Stop after so many blunders.")
@click.option("--seed", default=1, show_default=True, help="Of the order of the logs.")
@click.option("--skip", type=click.IntRange(0), default=0, help="Leave out so many of them.")
def command(
    game: str,
    logs: tuple[Path, ...],
    times: int,
    nodes: int | None,
    enough: int | None,
    seed: int,
    skip: int,
) -> None:
    """Review every LOG of GAME (folders as for `quartet review`) twice, in a random order, and print
    what the two reviews agree in. Intervals are Wilson's, of 95 %, a blunder for a trial."""
    paths = found_logs(logs)
    Random(seed).shuffle(paths)
    usual = nodes or worker.known(game, "bot", None, "").asker.nodes
    found, other_way = Agreement(), Agreement()
    seconds = [0.0, 0.0]

    def review(path: Path, data: bytes, effort: int) -> Review:
        unit = work.Unit(number=0, game=game, name=path.name, data=data, nodes=effort)
        started = time.process_time()
        told = worker.reviewed(unit)
        seconds[effort != usual] += time.process_time() - started
        if told.complaint:
            raise QuartetError(f"{path}: {told.complaint}")
        return told

    number = 0
    for number, path in enumerate(paths[skip:], start=1):  # noqa: B007  (the number is printed)
        data, complaint = work.read(path)
        if complaint:
            raise QuartetError(f"{path}: {complaint}")
        short, long = review(path, data, usual), review(path, data, times * usual)
        for mine, theirs in compare(long, short, found):
            print(f"{path}, ply {mine.ply}: {mine.move} lost {mine.loss}, by default {theirs.loss}")
        compare(short, long, other_way)
        print(f"{path}: {found}; the other way round {other_way}", flush=True)
        if enough is not None and found.blunders >= enough:
            break
    print(
        f"{game}, {usual} and {times * usual} nodes, {number} games: found {found}; "
        f"the other way round {other_way}; {seconds[0] / max(1, number):.1f} and "
        f"{seconds[1] / max(1, number):.1f} s of processor time a game"
    )


if __name__ == "__main__":
    try:
        command.main()
    except QuartetError as error:
        raise SystemExit(f"quartet: {error}") from None
