"""`quartet tournament`: many games between many players, and who is stronger."""

from __future__ import annotations

import json
from typing import Any

import click
from rich.console import Console

from core.errors import QuartetError
from quartet.arena import notes, outcome, schedule
from quartet.arena.schedule import Results, Schedule
from quartet.cli import outcomes, running, tables
from quartet.cli.running import Settings


@click.command(short_help="Play many games, and rate the players.")
@click.argument("game")
@click.option(
    "--player",
    "players",
    multiple=True,
    required=True,
    metavar="NAME=COMMAND",
    help="A player, by a name for the tables; repeat it.",
)
@click.option(
    "--games",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="For every pair (four seats: table); see below.",
)
@click.option(
    "--pairing",
    type=click.Choice(["roundrobin", "swiss", "gauntlet"]),
    default="roundrobin",
    show_default=True,
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    help="Of Swiss  [default: as many as make everybody meet, at most 20].",
)
@click.option(
    "--all-orders",
    is_flag=True,
    help="Tables of more than two: a block is every order of turns, each from another opening.",
)
@running.options
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
    in `quartet match`. Games are rounded up to whole
    blocks: with two seats a pair with the same opening and the sides swapped, with four seats a
    round of all four seats, or with --all-orders one for every order of turns. Players are named in the order of their seeds; where Swiss cannot tell
    them apart, the one named first ranks better, and the one named last has the better pairing.
    `gauntlet` is the first player against all others.

    Every game is recorded in a folder when it ends. After whatever happened, a kill included, the
    same command goes on where it stopped. Two players are rated by their score, more of them, or
    games of four, by Plackett-Luce (extra `stats`).

    \b
    quartet tournament ugolki --player new=bot --player old=./old.exe --games 40
    quartet tournament ugolki --player a=bot --player b=greedy --in-process --nodes 200 --games 400
    """
    settings = Settings(**options)
    named = [_named(text) for text in players]
    names = [name for name, _ in named]
    if len(set(names)) < len(names):
        raise QuartetError(f"every player needs a name of its own: {', '.join(names)}")
    if len(names) < 2:
        raise QuartetError("a tournament needs two players at least")
    casting = settings.casting(game, named)
    if pairing == "swiss":
        rounds = rounds or min(20, len(names) - 1 + len(names) % 2)
    elif rounds is not None:
        raise QuartetError("--rounds is for --pairing swiss")
    if pairing == "swiss":
        schedule.swiss_rounds(casting, 0, games, {}, [])
    if all_orders and casting.seats == 2:
        raise QuartetError("--all-orders is for tables of more than two")
    facts: dict[str, object] = {"pairing": pairing, "games": games, "rounds": rounds}
    facts |= {"orders": True} if all_orders else {}

    def plan(done: Results) -> Schedule:
        return outcome.plan_of(casting, pairing, games, rounds, done, [], orders=all_orders)

    with settings.records("tournament", casting, **facts) as records:
        results = running.run(
            settings,
            records,
            plan,
            lambda done: tables.table(done, names, outcome.by_share(done, len(names)), {}),
            outcome.total(casting, pairing, games, rounds, orders=all_orders),
        )
        found = outcome.of_records(records.plan, results)
        console = tables.wide(Console(highlight=False))
        if settings.as_json:
            print(json.dumps(outcomes.figures(found, records.folder, silent=True), indent=2))
        else:
            outcomes.show(console, found, records.folder, silent=running.is_silent(settings))
        settings.keep_note(
            records,
            len(results),
            lambda page: outcomes.show(page, found, records.folder, silent=True),
            notes.OPEN,
        )


def _named(text: str) -> tuple[str, str]:
    name, equals, command = text.partition("=")
    if not (name.strip() and equals and command.strip()):
        raise QuartetError(f"--player wants NAME=COMMAND, not {text!r}")
    return name, command
