"""`quartet tournament`: many games between many players, and their ratings."""

from __future__ import annotations

from typing import Any

import click

from core.errors import QuartetError
from quartet.arena import notes, outcome, schedule
from quartet.arena.schedule import TournamentPlan
from quartet.cli import outcomes, run_options, tables
from quartet.cli.run_options import RunOptions


@click.command(short_help="Play many games, and rate the players.")
@click.argument("game")
@click.option(
    "--player",
    "players",
    multiple=True,
    required=True,
    metavar="NAME=COMMAND",
    help="A player and its name in the tables; repeat it.",
)
@click.option(
    "--games",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Games per pair of players, or per table if more than two play.",
)
@click.option(
    "--pairing",
    type=click.Choice(["roundrobin", "swiss", "gauntlet"]),
    default="roundrobin",
    show_default=True,
    help="Who meets whom; gauntlet: the first player against all others.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    help="Rounds of Swiss  [default: enough for all to meet, at most 20].",
)
@click.option(
    "--all-orders",
    is_flag=True,
    help="If more than two play: make a block of every move order, each from another opening.",
)
@run_options.options
def command(
    game: str,
    players: tuple[str, ...],
    games: int,
    pairing: str,
    rounds: int | None,
    all_orders: bool,
    **options: Any,
) -> None:
    """Play a tournament of GAME and print a table: games, won-drawn-lost, Elo with its interval,
    time, depth, forfeits by reason.

    A COMMAND is an executable file, a shell command, a built-in player, git:REF or uai:COMMAND, as
    in `quartet match`. Games are rounded up to whole blocks. With two seats a block is a pair with
    one opening and the sides swapped. With four it is a rotation through all seats, or with
    --all-orders every move order.

    Name the players in the order of their seeds. In Swiss ties the player named first ranks better,
    and the one named last gets the better pairing. If their number is odd, one player per round has
    a bye: all points of a match, which count in the ranking but not in the column "score".

    Every game is recorded when it ends. After an interruption, even a kill, the same command
    resumes. Two players are rated by their score. More players, or games of four, are rated by
    Plackett-Luce (extra `stats`).

    \b
    quartet tournament ugolki --player new=bot --player old=./old.exe --games 40
    quartet tournament ugolki --player a=bot --player b=greedy --in-process --nodes 200 --games 400
    """
    settings = RunOptions.read(options)
    named = [_named(text) for text in players]
    names = [name for name, _ in named]
    if len(set(names)) < len(names):
        raise QuartetError(f"two players have one name: {', '.join(names)}")
    if len(names) < 2:
        raise QuartetError("a tournament needs two players at least")
    config = settings.config(game, named)
    if pairing == "swiss":
        rounds = rounds or min(20, len(names) - 1 + len(names) % 2)
        next(schedule.swiss_rounds(config, 0, games, {}, []), None)  # it checks the seats
    elif rounds is not None:
        raise QuartetError("--rounds is for --pairing swiss")
    if all_orders and config.seats == 2:
        raise QuartetError("--all-orders is for tables of more than two")
    plan = TournamentPlan(pairing, games, rounds, all_orders)
    with settings.records("tournament", config, **plan.facts()) as records:
        results = run_options.run(
            settings,
            config,
            records,
            lambda done: plan.schedule(config, done, []),
            lambda done: tables.table(done, names, outcome.by_share(done, len(names)), {}),
            plan.total(config),
        )
        outcomes.finish(settings, records, outcome.of_records(records.plan, results), notes.OPEN)


def _named(text: str) -> tuple[str, str]:
    name, equals, command = text.partition("=")
    if not (name.strip() and equals and command.strip()):
        raise QuartetError(f"--player wants NAME=COMMAND, not {text!r}")
    return name, command
