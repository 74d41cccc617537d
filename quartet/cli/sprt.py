"""`quartet sprt`: is the new version stronger than the old one? As few games as the answer
takes."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console, Group, RenderableType

from core.errors import QuartetError
from quartet import registry
from quartet.arena import schedule
from quartet.arena.ratings import elo
from quartet.arena.sprt import Decision, Sprt, block_score, expected_score
from quartet.arena.unit import GameResult
from quartet.cli import running
from quartet.cli.running import Settings
from quartet.judge import game as games

FAIR_STEP = 0.05
"""The default second hypothesis for more than two seats: so much above the fair share."""


@click.command(short_help="Test whether a new version is stronger than the old one.")
@click.argument("game")
@click.argument("new")
@click.argument("old")
@click.option(
    "--elo0", type=float, help="First hypothesis, for two seats, in logistic Elo  [default: 0]."
)
@click.option("--elo1", type=float, help="Second hypothesis  [default: 10].")
@click.option(
    "--share0",
    type=float,
    help="First hypothesis, for more seats, as a share of the wins  [default: the fair one, 0.25 of four].",
)
@click.option("--share1", type=float, help="Second hypothesis  [default: the fair one + 0.05].")
@click.option(
    "--alpha",
    default=0.05,
    show_default=True,
    help="How often, at most, NEW may pass when the first hypothesis is true.",
)
@click.option(
    "--beta",
    default=0.05,
    show_default=True,
    help="How often, at most, NEW may fail when the second hypothesis is true.",
)
@click.option(
    "--games",
    type=click.IntRange(min=1),
    help="Stop undecided when a further block would be more games than this.",
)
@running.options
def command(
    game: str,
    new: str,
    old: str,
    elo0: float | None,
    elo1: float | None,
    share0: float | None,
    share1: float | None,
    alpha: float,
    beta: float,
    games: int | None,
    **options: Any,
) -> None:
    """Test the program NEW of GAME against OLD with a generalised sequential probability ratio
    test.

    With two seats the test is pentanomial: on pairs of games with the same opening and sides
        swapped, in logistic Elo. With four
    seats it is on blocks: NEW alone against three OLD on every seat, then OLD alone against three
    NEW, all with the same opening. The score of a block is the mean of the share of wins of the
    lone NEW, and of 0.5 less that of the lone OLD: 0.25 is fair.

    Blocks count in the order of the schedule, so that the outcome depends neither on --jobs nor on
    interruptions; the same command
    goes on where it stopped. Exit status: 0 NEW is stronger (the second hypothesis was accepted), 1
        it is not, or undecided.
    """
    settings = Settings(**options)
    seats = games_seats(game)
    test = hypotheses(seats, elo0, elo1, share0, share1, alpha, beta)
    registry.require_training(game, [new, old])  # it decides which change is kept
    casting = settings.casting(game, [("new", new), ("old", old)])
    names = ["new", "old"]
    scores: list[float] = []
    state = State(test, scores)

    def decided(blocks: Sequence[Sequence[GameResult]]) -> bool:
        scores.append(block_score(blocks[-1]))
        return state.decision() is not None

    with settings.records("sprt", casting) as records:
        results = running.run(
            settings,
            records,
            lambda done: schedule.sprt(casting, done, decided, games),
            lambda done: Group(running.table(done, names, [0, 1], {}), state.text()),
            None,
        )
        # Games that were under way when the decision fell are on record, but do not count.
        results = [result for result in results if result.block < len(scores)]
        decision = state.decision()
        if settings.as_json:
            print(json.dumps({"game": game, "folder": str(records.folder), "games": len(results), **state.json(),
                              "players": running.figures(results, names, None)}, indent=2))  # fmt: skip
        else:
            show(
                Console(highlight=False),
                running.table(results, names, [0, 1], {}),
                state,
                records.folder,
            )
    sys.exit(0 if decision is Decision.H1 else 1)


def games_seats(game: str) -> int:
    """The seats of a game."""
    return games.load(game).info.players


def hypotheses(
    seats: int,
    elo0: float | None,
    elo1: float | None,
    share0: float | None,
    share1: float | None,
    alpha: float,
    beta: float,
) -> Sprt:
    """The test that the options ask for. Raises QuartetError."""
    if seats == 2:
        if share0 is not None or share1 is not None:
            raise QuartetError(
                "--share0 and --share1 are for games of more than two; use --elo0 and --elo1"
            )
        low, high = (
            expected_score(0 if elo0 is None else elo0),
            expected_score(10 if elo1 is None else elo1),
        )
    else:
        if elo0 is not None or elo1 is not None:
            raise QuartetError("--elo0 and --elo1 are for games of two; use --share0 and --share1")
        low = 1 / seats if share0 is None else share0
        high = 1 / seats + FAIR_STEP if share1 is None else share1
    return Sprt(seats, low, high, alpha, beta)


class State:
    """Where a test stands, by the scores of the blocks that count."""

    def __init__(self, test: Sprt, scores: list[float]) -> None:
        self.test = test
        self.scores = scores

    def decision(self) -> Decision | None:
        """The outcome, None while there is none."""
        return self.test.decision(self.test.llr(self.scores))

    def text(self) -> str:
        """The state in three lines."""
        test, decision = self.test, self.decision()
        words = {
            None: "undecided",
            Decision.H0: "H0 accepted: the new version is not stronger by as much as was asked for",
            Decision.H1: "H1 accepted: the new version is stronger",
        }
        counts = ", ".join(
            f"{score:g}: {count}" for score, count in test.counts(self.scores).items() if count
        )
        return (
            f"{words[decision]}\n"
            f"LLR {test.llr(self.scores):.3f} ({test.lower:.3f}, {test.upper:.3f}) of a mean score of {test.s1:.4f} against {test.s0:.4f}\n"
            f"{len(self.scores)} blocks, mean score {self.mean():.4f}{self._elo()}; blocks by score: {counts or 'none'}"
        )

    def mean(self) -> float:
        """Mean score of the blocks, nan without any."""
        return sum(self.scores) / len(self.scores) if self.scores else float("nan")

    def json(self) -> dict[str, object]:
        """The state for machines."""
        decision = self.decision()
        return {
            "decision": None if decision is None else decision.value,
            "llr": self.test.llr(self.scores),
            "bounds": [self.test.lower, self.test.upper],
            "scores": [self.test.s0, self.test.s1],
            "blocks": len(self.scores),
            "mean": running.known(self.mean()),
            "counts": {
                f"{score:g}": count for score, count in self.test.counts(self.scores).items()
            },
        }

    def _elo(self) -> str:
        if self.test.seats != 2 or not self.scores:
            return ""
        found = elo(
            {score: count for score, count in self.test.counts(self.scores).items() if count}
        )
        return f", Elo {running.elo_text(found.elo)} ({running.interval(found)})"


def show(console: Console, table: RenderableType, state: State, folder: Path) -> None:
    """The outcome for people."""
    if not console.is_terminal:
        console.width = 400
    console.print(state.text(), soft_wrap=True)
    console.print(table)
    console.print(f"records: {folder}", soft_wrap=True)
