"""`quartet exam`: how a player does at tables with three that are drawn from a half of the pool."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console, Group, RenderableType
from rich.text import Text

from core.errors import QuartetError
from quartet import registry
from quartet.arena import exam, notes, outcome, runs, schedule
from quartet.arena.exam import Half, Line
from quartet.arena.outcome import Outcome
from quartet.arena.unit import GameResult
from quartet.cli import running
from quartet.cli import tables as figured
from quartet.cli.running import Settings
from quartet.judge import game as games

FIXED = "table"
"""The name of the one part where the opponents are given."""


@click.command(short_help="Examine a player against a pool of others.")
@click.argument("game")
@click.option(
    "--player",
    default="bot",
    show_default=True,
    metavar="COMMAND",
    help="The player to be examined.",
)
@click.option(
    "--half",
    type=click.Choice(["odd", "even", "both"]),
    help="Of the pool: odd is for training and tuning, even the test half, for the figures of a "
    "finished change only.",
)
@click.option(
    "--against",
    metavar="A,B,C",
    help="Always these opponents, instead of a half; one may be named several times.",
)
@click.option(
    "--games",
    "count",
    type=click.IntRange(min=1),
    default=96,
    show_default=True,
    help="Of a half, rounded up to whole blocks: 24 for each table that is drawn.",
)
@running.options
def command(
    game: str, player: str, half: str | None, against: str | None, count: int, **options: Any
) -> None:
    """Play GAME at tables of a player and three opponents, and print the player's share of the wins
    with its error, by opponent and by kind of opponent.

    The opponents are drawn from a half of the game's pool; the seed says which. A block is one
    table with every order of turns, each with another opening, and in each everybody on every seat.
    The error is over blocks. With `--half both` the same number of games is played with each half,
    in turn.

    Games are by file at the judge's own clock, or with --in-process in this process, at what that
    clock leaves for the search (Ugolki: 280 ms a move) where neither --clock nor --nodes is given.
    After whatever happened, a kill included, the
    same command goes on where it stopped.

    \b
    quartet exam ugolki --half odd --games 96 --in-process
    quartet exam ugolki --half both --games 400 --in-process --json
    quartet exam ugolki --player new.exe --against bot2611,bot2611,bot2611 --games 40
    """
    if (half is None) == (against is None):
        raise QuartetError("an examination takes --half or --against, one of them")
    settings = Settings(**options)
    info = games.load(game).info
    search_ms = info.exchange and info.exchange.search_ms
    if settings.in_process and search_ms and not settings.clock and not settings.nodes:
        settings = replace(settings, clock=[str(search_ms)])
    seats = info.players
    if seats < 3:
        raise QuartetError(
            f"an examination is for tables of more than two, and {game} seats {seats}; "
            "choose quartet tournament --pairing gauntlet"
        )
    pool, parts = tables(game, half, against, count, seats, settings.seed)
    # the examined player may be one of the pool, too, and then it has a line of its own
    named = [(f"examined {player}" if player in pool else player, player)]
    named += [(name, name) for name in pool]
    names = [name for name, _ in named]
    casting = settings.casting(game, named)
    kinds = kinds_of(game, names)

    # as JSON gives it back
    plan = [[part.name, [list(table) for table in part.tables]] for part in parts]
    with settings.records("exam", casting, tables=plan) as records:
        results = running.run(
            settings,
            records,
            lambda _: exam.schedule(casting, parts),
            lambda done: report(done, parts, names, kinds),
            exam.total(parts),
        )
        if settings.as_json:
            print(
                json.dumps(
                    {
                        "game": game,
                        "folder": str(records.folder),
                        "player": player,
                        "games": len(results),
                        "halves": figures(exam.by_half(results, parts)),
                        "opponents": figures(
                            {
                                names[number]: line
                                for number, line in exam.by_opponent(results, len(names)).items()
                            }
                        ),
                        "kinds": {
                            kind: figures(exam.by_kind(results, of)) for kind, of in kinds.items()
                        },
                        "players": runs.figures(results, names, None),
                    },
                    indent=2,
                )
            )

        found = outcome.of_records(records.plan, results)
        if not settings.as_json:
            show(figured.wide(Console(highlight=False)), found, records.folder)
        settings.keep_note(
            records,
            len(results),
            lambda console: show(console, found, records.folder),
            notes.OPEN,
        )


def tables(
    game: str, half: str | None, against: str | None, count: int, seats: int, seed: int
) -> tuple[list[str], list[Half]]:
    """The names of all opponents, and the tables of every half; opponents have the numbers of their
    names, from 1 on. Raises QuartetError."""
    if against is not None:
        opponents = [name.strip() for name in against.split(",")]
        if len(opponents) != seats - 1 or not all(opponents):
            raise QuartetError(f"--against wants {seats - 1} players, with commas between them")
        names = list(dict.fromkeys(opponents))
        table = (0, *(1 + names.index(name) for name in opponents))
        return names, [Half(FIXED, [table] * -(-count // schedule.size(table)))]
    pool = pool_of(game).HALVES
    chosen = list(pool) if half == "both" else [half or ""]
    names = [name for one in chosen for name in pool[one]]
    blocks = -(-count // math.factorial(seats))  # every order, everybody first once
    return names, [
        Half(
            one,
            exam.drawn(
                [1 + names.index(name) for name in pool[one]], seats, blocks, f"{seed} {one}"
            ),
        )
        for one in chosen
    ]


def pool_of(game: str) -> registry.Pool:
    """The pool of a game. Raises QuartetError where it has none."""
    found = registry.pool(game)
    if found is None:
        raise QuartetError(f"{game} has no pool of opponents; name some with --against")
    return found


def show(console: Console, found: Outcome, folder: Path) -> None:
    """Print an examination, finished or not."""
    casting, results, names = found.casting, found.results, found.names
    console.print(
        f"{casting.game}, examination of {casting.players[0].command}: {len(results)} games, "
        f"seed {casting.seed}",
        style="bold",
    )
    console.print(report(results, found.halves, names, kinds_of(casting.game, names)))
    present = sorted({number for result in results for number in result.seats})
    console.print(figured.table(results, names, present, {}))
    console.print(f"records: {folder}", soft_wrap=True)


def kinds_of(game: str, names: Sequence[str]) -> dict[str, dict[int, str]]:
    """What there is to tell of opponents, who are the players behind the first -> what it is for
    each, by number."""
    pool = registry.pool(game)
    found: dict[str, dict[int, str]] = {}
    for number, name in enumerate(names[1:], start=1):
        for kind, value in (pool.kinds(name) if pool is not None else {}).items():
            found.setdefault(kind, {})[number] = value
    return found


def report(
    results: Sequence[GameResult],
    parts: Sequence[Half],
    names: Sequence[str],
    kinds: Mapping[str, Mapping[int, str]],
) -> RenderableType:
    """The tables: the halves, the opponents, the kinds."""
    opponents = {
        " ".join(
            [names[number], *(f"({of[number]})" for of in kinds.values() if number in of)]
        ): line
        for number, line in exam.by_opponent(results, len(names)).items()
    }
    shown: list[RenderableType] = [lines("part", exam.by_half(results, parts))]
    shown += [Text(""), lines("with", opponents)]
    for kind, of in kinds.items():
        shown += [Text(""), lines(f"by {kind}", exam.by_kind(results, of))]
    return Group(*shown)


def lines(title: str, found: Mapping[str, Line]) -> RenderableType:
    """A table of lines: games, the examined player's share and its error, that of each of the
    others."""
    grid = figured.grid(title, "games", "%", "±", "theirs %", left=(title,))
    for name, line in found.items():
        grid.add_row(
            name,
            str(line.games),
            figured.figure(100 * line.share, 1),
            figured.figure(100 * line.error, 1),
            figured.figure(100 * line.theirs, 1),
        )
    return grid


def figures(found: Mapping[str, Line]) -> dict[str, dict[str, Any]]:
    """Lines for machines; None for what is not known."""
    return {
        name: {
            "games": line.games,
            "share": runs.known(line.share),
            "error": runs.known(line.error),
            "theirs": runs.known(line.theirs),
        }
        for name, line in found.items()
    }
