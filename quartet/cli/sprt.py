"""`quartet sprt`: is the new version stronger than the old one? As few games as possible."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click
from rich.console import Group

from core.errors import QuartetError
from quartet import registry
from quartet.arena import outcome, schedule
from quartet.arena.outcome import FAIR_STEP, USUAL_ELO
from quartet.arena.sprt import Decision, Sprt, block_score, expected_score
from quartet.arena.unit import GameResult
from quartet.cli import outcomes, run_options, tables
from quartet.cli.run_options import RunOptions
from quartet.judge import game as games
from quartet.judge.seats import versions

MAX_ELO = 4000
"""Limit of the hypotheses; beyond it, a player wins one game of ten billion."""


@click.command(short_help="Test whether a new version is stronger than the old one.")
@click.argument("game")
@click.argument("new")
@click.argument("old")
@click.option(
    "--elo0",
    type=click.FloatRange(-MAX_ELO, MAX_ELO),
    help="H0 for two seats, in logistic Elo  [default: 0].",
)
@click.option(
    "--elo1",
    type=click.FloatRange(-MAX_ELO, MAX_ELO),
    help="H1 for two seats, in logistic Elo  [default: 10].",
)
@click.option(
    "--share0",
    type=float,
    help="H0 for more seats, as a win share  [default: the fair one, 0.25 of four].",
)
@click.option(
    "--share1",
    type=float,
    help="H1 for more seats, as a win share  [default: the fair one + 0.05].",
)
@click.option("--alpha", default=0.05, show_default=True, help="P(accept H1) if H0 is true.")
@click.option("--beta", default=0.05, show_default=True, help="P(accept H0) if H1 is true.")
@click.option(
    "--games",
    "count",
    type=click.IntRange(min=1),
    help="Stop without a decision before a block that would exceed this number of games.",
)
@run_options.options
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
    count: int | None,
    **options: Any,
) -> None:
    """Test the program NEW of GAME against OLD with a generalised sequential probability ratio
    test, corrected for overshoot as fishtest's is.

    With two seats the test is pentanomial: on pairs of games with one opening and the sides
    swapped, in logistic Elo. With four seats it is on blocks. NEW alone plays three OLD on every
    seat, then OLD alone three NEW, all from one opening. The score of a block is the mean of two
    figures: the win share of the lone NEW, and 0.5 minus that of the lone OLD. 0.25 is fair.

    Blocks count in the order of the schedule. So the outcome depends neither on --jobs nor on
    interruptions; the same command resumes. Exit status: 0 NEW is stronger (H1 was accepted), 1 it
    is not, or the test is inconclusive.

    \b
    quartet sprt ataxx bot git:main                       the test before every merge
    quartet sprt ugolki bot brs:5 --in-process --clock 10 --option opening=4
    """
    settings = RunOptions.read(options)
    seats = games.load(game).info.players
    size = schedule.sprt_block_size(seats)
    if count is not None and count < size:
        raise QuartetError(f"a block has {size} games: --games must be at least {size}")
    test = hypotheses(seats, elo0, elo1, share0, share1, alpha, beta)
    # The outcome decides which change is accepted.
    registry.require_training(game, [versions.player_of(program) for program in (new, old)])
    names = ["new", "old"]
    config = settings.config(game, list(zip(names, (new, old), strict=True)))
    scores: list[float] = []

    def decided(blocks: Sequence[Sequence[GameResult]]) -> bool:
        scores.append(block_score(blocks[-1]))
        return test.state(scores).decision is not None

    with settings.records("sprt", config) as records:
        outcome.keep_test(records.folder, test)
        records.keep_goal(None if count is None else count // size * size)
        results = run_options.run(
            settings,
            config,
            records,
            lambda done: schedule.sprt(config, done, decided, count),
            lambda done: Group(
                tables.table(done, names, [0, 1], {}), outcomes.test_text(test, scores)
            ),
            None,
        )
        # Games that were running at the time of the decision are on record, but do not count.
        found = outcome.of_records(records.plan, results, test)
        decision = test.state(found.scores).decision
        outcomes.finish(settings, records, found, outcomes.WORDS[decision])
    sys.exit(0 if decision is Decision.H1 else 1)


def hypotheses(
    seats: int,
    elo0: float | None,
    elo1: float | None,
    share0: float | None,
    share1: float | None,
    alpha: float,
    beta: float,
) -> Sprt:
    """Return the test that the options ask for. Raises QuartetError."""
    if seats == 2:
        if share0 is not None or share1 is not None:
            raise QuartetError(
                "--share0 and --share1 are for games of more than two; use --elo0 and --elo1"
            )
        low = expected_score(0 if elo0 is None else elo0)
        high = expected_score(USUAL_ELO if elo1 is None else elo1)
    else:
        if elo0 is not None or elo1 is not None:
            raise QuartetError("--elo0 and --elo1 are for games of two; use --share0 and --share1")
        low = 1 / seats if share0 is None else share0
        high = 1 / seats + FAIR_STEP if share1 is None else share1
    return Sprt(seats, low, high, alpha, beta)
