"""`quartet tournament`: many games between many players, and who is stronger."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click
from rich.console import Console, RenderableType
from rich.progress import track

from core.errors import QuartetError
from quartet.arena import ratings as rating
from quartet.arena import schedule, swiss
from quartet.arena.ratings import Rating
from quartet.arena.schedule import Casting, Results, Schedule
from quartet.arena.standings import by_seat, crosstable, standings
from quartet.arena.unit import GameResult
from quartet.cli import running
from quartet.cli.running import Settings


@click.command(short_help="Play many games, and rate the players.")
@click.argument("game")
@click.option(
    "--player",
    "players",
    multiple=True,
    required=True,
    metavar="NAME=COMMAND",
    help="Somebody who takes part; repeat it.",
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
@running.options
def command(
    game: str,
    players: tuple[str, ...],
    games: int,
    pairing: str,
    rounds: int | None,
    **options: Any,
) -> None:
    """Play a tournament of GAME and print a table: games, won-drawn-lost, Elo with its interval,
    time, depth, forfeits by reason.

    A COMMAND is an executable file, a shell command, a built-in player or uai:COMMAND, as in
    `quartet match`. Games are rounded up to whole
    blocks: with two seats a pair with the same opening and the sides swapped, with four seats a
    round of all four seats. Players are named in the order of their seeds; where Swiss cannot tell
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
    played: list[swiss.Round] = []

    def plan(done: Results) -> Schedule:
        if pairing == "swiss":
            return schedule.swiss_rounds(casting, rounds or 0, games, done, played)
        return schedule.fixed(casting, tables(casting, pairing), games)

    if pairing == "swiss":
        plan({})
    with settings.records(
        "tournament", casting, pairing=pairing, games=games, rounds=rounds
    ) as records:
        results = running.run(
            settings,
            records,
            plan,
            lambda done: running.table(done, names, by_share(done, len(names)), {}),
            total(casting, pairing, games, rounds),
        )
        order = ranking(results, casting, pairing, played)
        ratings, complaint = rate(results, casting, silent=running.is_silent(settings))
        if settings.as_json:
            print(
                json.dumps(
                    {
                        "game": game,
                        "folder": str(records.folder),
                        "games": len(results),
                        "ranking": [names[player] for player in order],
                        "players": running.figures(results, names, ratings),
                        "seat_shares": by_seat(results),
                        "note": complaint,
                    },
                    indent=2,
                )
            )
            return
        console = Console(highlight=False)
        extra = {**running.rating_columns(ratings), **tie_breaks(results, casting, pairing, played)}
        console.print(
            f"{game}, {pairing}: {len(results)} games, seed {settings.seed}", style="bold"
        )
        console.print(_wide(console, running.table(results, names, order, extra)))
        if complaint:
            console.print(complaint, markup=False)
        console.print(f"records: {records.folder}", soft_wrap=True)


def _wide(console: Console, table: RenderableType) -> RenderableType:
    """Where there is no terminal, nobody's width limits the table."""
    if not console.is_terminal:
        console.width = 400
    return table


def _named(text: str) -> tuple[str, str]:
    name, equals, command = text.partition("=")
    if not (name.strip() and equals and command.strip()):
        raise QuartetError(f"--player wants NAME=COMMAND, not {text!r}")
    return name, command


def tables(casting: Casting, pairing: str) -> list[schedule.Seating]:
    """Who meets whom, unless it is Swiss."""
    choose = schedule.gauntlet if pairing == "gauntlet" else schedule.round_robin
    return choose(len(casting.players), casting.seats)


def total(casting: Casting, pairing: str, games: int, rounds: int | None) -> int:
    """All games of the tournament."""
    size = schedule.blocks(games, casting.seats) * casting.seats
    if pairing == "swiss":
        return (rounds or 0) * (len(casting.players) // 2) * size
    return len(tables(casting, pairing)) * size


def by_share(results: Sequence[GameResult], players: int) -> list[int]:
    """The players by their share of wins."""
    return [
        line.player
        for line in sorted(
            standings(results, players), key=lambda line: -line.share if line.games else 0.0
        )
    ]


def ranking(
    results: Sequence[GameResult], casting: Casting, pairing: str, played: Sequence[swiss.Round]
) -> list[int]:
    """The players, the best first, by the rules of the pairing."""
    players = len(casting.players)
    if pairing == "swiss":
        return [place.player for place in swiss.ranking(players, played)]
    if pairing == "roundrobin" and casting.seats == 2:
        points = crosstable(results, players)
        tie_break = swiss.sonneborn_berger(points)
        return sorted(range(players), key=lambda c: (-sum(points[c]), -tie_break[c], c))
    return by_share(results, players)


def tie_breaks(
    results: Sequence[GameResult], casting: Casting, pairing: str, played: Sequence[swiss.Round]
) -> dict[str, list[str]]:
    """Columns that tell why equal scores rank as they do."""
    players = len(casting.players)
    if pairing == "swiss":
        places = sorted(swiss.ranking(players, played), key=lambda place: place.player)
        return {
            "rounds won": [str(place.won) for place in places],
            "opponents": [f"{place.opponents:g}" for place in places],
            "early": [f"{place.early:g}" for place in places],
            "opp. early": [f"{place.opponents_early:g}" for place in places],
        }
    if pairing == "roundrobin" and casting.seats == 2 and players > 2:
        return {
            "SB": [f"{value:g}" for value in swiss.sonneborn_berger(crosstable(results, players))]
        }
    return {}


def rate(
    results: Sequence[GameResult], casting: Casting, *, silent: bool
) -> tuple[list[Rating] | None, str | None]:
    """Everybody's rating, or why there is none. Of two players each has the difference to the
    other."""
    blocks = rating.blocks(results)
    if not blocks:
        return None, None
    if casting.seats == 2 and len(casting.players) == 2:
        pairs: dict[float, float] = {}
        for block in blocks:
            score = sum(game.shares[game.seats.index(0)] for game in block) / len(block)
            pairs[score] = pairs.get(score, 0) + 1
        first = rating.elo(pairs)
        return [first, Rating(-first.elo, -first.high, -first.low)], None
    resamples = track(
        range(rating.RESAMPLES),
        "rating",
        console=Console(stderr=True),
        transient=True,
        disable=silent,
    )
    try:
        return rating.plackett_luce(
            blocks, len(casting.players), resamples=resamples, seed=casting.seed
        ), None
    except QuartetError as error:
        return None, str(error)
