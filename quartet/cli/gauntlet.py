"""`quartet gauntlet`: the win share and the rating of a player against standing opponents, over
time."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console, Group, RenderableType
from rich.text import Text

from core.errors import QuartetError
from quartet import registry
from quartet.arena import catalogue, gauntlet, notes, outcome
from quartet.arena.gauntlet import GauntletResult, OpponentGroup, OpponentScore, RatingRecord
from quartet.arena.outcome import Outcome
from quartet.arena.store import read_lines
from quartet.arena.unit import GameResult
from quartet.cli import gauntlet_tables as opponents_of
from quartet.cli import rating_curve, run_options, scaling, tables
from quartet.cli.paths import PathType
from quartet.cli.run_options import RenamedOption, RunOptions
from quartet.judge import game as games
from quartet.judge.seats import versions

KIND = "gauntlet"
"""The kind of the run in its plan; `quartet exam`, the former command, has its own."""
STANDING_FILE = "gauntlet.txt"
"""The file of a game's package that lists its standing opponents."""

pool_option = click.option(
    "--pool",
    "--half",
    "pool",
    cls=RenamedOption,
    type=click.Choice(["train", "test", "both", "odd", "even"]),
    metavar="[train|test|both]",
    help="Draw the opponents from the game's pool: its training set, its test set (for finished "
    "changes only), or both in turn.",
)


@click.command(short_help="Rate a player against standing opponents, and show the curve.")
@click.argument("game")
@click.argument("player", default="bot")
@click.option(
    "--games",
    "count",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="Games, rounded up to whole blocks: both sides of an opening, or every move order of a "
    "table. With `--pool both`, games against each set.",
)
@click.option(
    "--against",
    multiple=True,
    metavar="NAME",
    help="Draw the opponents from those named, instead of the standing ones; repeat it.",
)
@pool_option
@click.option(
    "--table",
    metavar="A,B,C",
    help="Seat these opponents at every table; a name may occur several times.",
)
@click.option(
    "--scale",
    metavar="X,Y,...",
    help="Play once for each factor, with --clock and --nodes of all players times it, and print the "
    "win share by factor.",
)
@click.option("--curve", is_flag=True, help="Play nothing; print the kept ratings.")
@click.option(
    "--plot",
    type=PathType(dir_okay=False),
    help="Play nothing; draw the kept ratings into this file (extra `plot`).",
)
@run_options.options
def command(
    game: str,
    player: str,
    count: int,
    against: Sequence[str],
    pool: str | None,
    table: str | None,
    scale: str | None,
    curve: bool,
    plot: Path | None,
    **options: Any,
) -> None:
    """Measure PLAYER [default: bot], for example git:HEAD~5, against standing opponents of GAME.

    The opponents are those of the game's `gauntlet.txt`, or the training set of its pool, or its
    other built-in players, and never change. A block is a table of them with every move order, each
    from another opening, and every player on every seat. Errors are over blocks.

    The rating is in Elo. At 0 the player wins as often as each opponent, if these are all alike. It
    is kept in docs/ratings/GAME.jsonl below the working directory, with commit, conditions and
    interval. Ratings under the same conditions can be compared. The same command resumes a run that
    was interrupted, and replaces its rating.

    With --pool or --table, --in-process, and neither --clock nor --nodes, a move takes the time
    that the judge's clock leaves for the search (Ugolki: 280 ms).

    \b
    quartet gauntlet ataxx --nodes 20000 --option opening=4 --games 600
    quartet gauntlet ataxx git:HEAD~20 --nodes 20000 --option opening=4 --games 600
    quartet gauntlet ataxx --curve
    quartet gauntlet ugolki --pool train --games 96 --in-process
    quartet gauntlet ugolki new.exe --table bot2611,bot2611,bot2611 --games 40
    quartet gauntlet ugolki --table ucb,ucb,ucb --in-process --clock 20 --scale 1,3,10,30
    """
    settings = RunOptions.read(options)
    registry.check(game)
    if curve or plot is not None:
        records = read_lines(gauntlet.FOLDER / f"{game}.jsonl", RatingRecord)
        rating_curve.show(game, records, plot, as_json=settings.as_json)
        return
    if sum(map(bool, (against, pool, table))) > 1:
        raise QuartetError("--against, --pool and --table exclude each other: pass one")
    steps = [settings] if scale is None else scaling.steps(settings, scale)
    measured = [
        play_groups(KIND, game, player, count, step, pool=pool, table=table)
        if pool is not None or table is not None
        else play_standing(game, player, count, step, against)
        for step in steps
    ]
    if settings.as_json:
        print(json.dumps(measured[0] if scale is None else measured, indent=2))
    elif scale is not None:
        tables.wide(Console(highlight=False)).print(scaling.table(measured))


def play_standing(
    game: str, player: str, count: int, settings: RunOptions, against: Sequence[str]
) -> dict[str, Any]:
    """Play a player against standing opponents. Raises QuartetError."""
    seats = games.load(game).info.players
    opponents = list(dict.fromkeys(against)) or standing(game, player)
    if len(opponents) < seats - 1:
        needed = opponents_of.opponents_word(seats - 1)
        raise QuartetError(f"a gauntlet of {game} takes {needed} at least")
    numbers = list(range(1, len(opponents) + 1))
    blocks = -(-count // math.factorial(seats))
    drawn = gauntlet.draw_tables(numbers, seats, blocks, f"{settings.fields['seed']}")
    names = [f"rated {player}", *map(versions.short, opponents)]
    everyone = list(zip(names, [player, *opponents], strict=True))
    groups = [OpponentGroup(KIND, drawn)]
    return play(KIND, game, everyone, groups, settings, list(map(list, drawn)))


def play_groups(
    kind: str,
    game: str,
    player: str,
    count: int,
    settings: RunOptions,
    *,
    pool: str | None,
    table: str | None,
) -> dict[str, Any]:
    """Play a player against its game's pool, or at one table. Raises QuartetError."""
    info = games.load(game).info
    search_ms = info.exchange and info.exchange.search_ms
    if settings.fields["in_process"] and search_ms and not settings.clock and not settings.nodes:
        settings = replace(settings, clock=[str(search_ms)])
    if table is not None:
        opponents, groups = opponents_of.fixed_table(table, count, info.players)
    else:
        seed = settings.fields["seed"]
        opponents, groups = opponents_of.pool_groups(
            kind == KIND, game, pool or "", count, info.players, seed
        )
    label = "examined" if kind != KIND else "rated"
    # The player may be one of the opponents, too, and then has a separate line.
    first = f"{label} {player}" if player in opponents or kind == KIND else player
    everyone = [(first, player), *((name, name) for name in opponents)]
    plan = [[group.name, list(map(list, group.tables))] for group in groups]
    return play(kind, game, everyone, groups, settings, plan)


def play(
    kind: str,
    game: str,
    players: Sequence[tuple[str, str]],
    groups: Sequence[OpponentGroup],
    settings: RunOptions,
    plan: object,
) -> dict[str, Any]:
    """Play a gauntlet, print its outcome, and keep the rating of one that is not an `exam`.

    With --json nothing is printed: the caller prints the figures that are returned.

    Args:
        kind: The kind of the run in its plan.
        game: The game's name.
        players: Names and commands, the measured player first.
        groups: The opponents.
        settings: The options.
        plan: The tables as the plan has them.

    Raises:
        QuartetError: A player cannot play, or something cannot be written.
    """
    config = settings.config(game, players)
    kinds, total = kinds_of(game, config.names), gauntlet.total(groups)
    more = {"tables": plan} | ({"games": total} if kind == KIND else {})
    file = gauntlet.FOLDER / f"{game}.jsonl"
    if kind == KIND:
        read_lines(file, RatingRecord)  # a damaged file is an error before the games
    with settings.records(kind, config, **more) as records:
        results = run_options.run(
            settings,
            config,
            records,
            lambda _: gauntlet.schedule(config, groups),
            lambda done: report(done, groups, config.names, kinds),
            total,
        )
        found = outcome.of_records(records.plan, results)
        scores = figures(found)
        if not settings.as_json:
            show(tables.wide(Console(highlight=False)), found, records.folder)
        if kind == KIND:
            record = record_of(found, settings, records.folder)
            gauntlet.keep(file, record)
            facts = {**msgspec.to_builtins(record), "scores": scores}
        else:
            facts = {
                "game": game,
                "folder": str(records.folder),
                "player": players[0][1],
                "games": len(results),
                "halves": scores.pop("groups"),
                **scores,
            }
        if kind == KIND and not settings.as_json:
            print(f"rating kept in {file}")
        settings.keep_note(
            records,
            len(results),
            lambda console: show(console, found, records.folder),
            notes.OPEN,
        )
        return facts


def record_of(found: Outcome, settings: RunOptions, folder: Path) -> RatingRecord:
    """Return the rating of a gauntlet as it is kept."""
    config = found.config
    result = gauntlet.rate(found.results, config.seats)
    known = catalogue.known
    opponents: Sequence[int] = range(1, len(config.players))
    if [group.name for group in found.groups] == [opponents_of.FIXED]:
        opponents = found.groups[0].tables[0][1:]
    return RatingRecord(
        day=notes.today().isoformat(),
        commit=notes.commit(),
        player=config.players[0].command,
        opponents=[config.players[number].command for number in opponents],
        conditions={
            "clock": " ".join(settings.clock),
            "nodes": " ".join(settings.nodes),
            "options": " ".join(sorted(settings.variants)),
            "how": "in process" if config.in_process else "programs",
            "cores": str(config.cores),
            **{
                name: "on" if value is True else f"{value:g}"
                for name, value in settings.changed.items()
                if name not in {"cores", "in_process"}
            },
        },
        seed=config.seed,
        games=len(found.results),
        share=round(result.share, 6),
        error=None if math.isnan(result.error) else round(result.error, 6),
        elo=known(result.rating.elo),
        low=known(result.rating.low),
        high=known(result.rating.high),
        records=str(folder),
    )


def standing(game: str, player: str) -> list[str]:
    """Return the standing opponents of a game, in the order of their list. Raises QuartetError."""
    listed = files(registry.GAMES[game]).joinpath(STANDING_FILE)
    if listed.is_file():
        return gauntlet.standing(listed.read_text(encoding="utf-8"))
    if registry.pool(game) is not None:
        return registry.training_set(game)
    first, *others = registry.load(game, "players").NAMES
    return [name for name in others if name not in {first, player}]


def kinds_of(game: str, names: Sequence[str]) -> dict[str, dict[int, str]]:
    """Return what the pool says of opponents: by property, its value by player."""
    pool = registry.pool(game)
    found: dict[str, dict[int, str]] = {}
    for number, name in enumerate(names[1:], start=1):
        for kind, value in (pool.kinds(name) if pool is not None else {}).items():
            found.setdefault(kind, {})[number] = value
    return found


# Output


def show(console: Console, found: Outcome, folder: Path) -> None:
    """Print a gauntlet, finished or not."""
    config, results, names = found.config, found.results, found.names
    console.print(
        f"{config.game}, gauntlet of {config.players[0].command}: {len(results)} games, "
        f"seed {config.seed}",
        style="bold",
        markup=False,
    )
    console.print(report(results, found.groups, names, kinds_of(config.game, names)))
    present = sorted({number for result in results for number in result.seats})
    console.print(tables.table(results, names, present, {}))
    if found.kind == KIND and results:
        text = rating_text(gauntlet.rate(results, config.seats), len(results))
        console.print(f"{names[0]}: {text}", soft_wrap=True, markup=False)
    console.print(f"records: {folder}", soft_wrap=True, markup=False)


def rating_text(result: GauntletResult, number: int) -> str:
    """Return a rating in words."""
    share, rating = f"{100 * result.share:.1f} %", result.rating
    bounds = tables.interval(rating)
    if not math.isfinite(rating.elo):
        elo = "" if bounds == "-" else f", Elo {bounds}"
        return f"{share} of the wins in {number} games{elo}"
    known = "interval unknown" if bounds == "-" else bounds
    return f"Elo {tables.elo_text(rating.elo)} ({known}), {share} in {number} games"


def report(
    results: Sequence[GameResult],
    groups: Sequence[OpponentGroup],
    names: Sequence[str],
    kinds: Mapping[str, Mapping[int, str]],
) -> RenderableType:
    """Return the scores by group, by opponent and by kind of opponent as tables."""
    opponents = {
        " ".join(
            [names[number], *(f"({of[number]})" for of in kinds.values() if number in of)]
        ): score
        for number, score in gauntlet.by_opponent(results, len(names)).items()
    }
    shown: list[RenderableType] = [score_table("part", gauntlet.by_group(results, groups))]
    shown += [Text(""), score_table("with", opponents)]
    for kind, of in kinds.items():
        shown += [Text(""), score_table(f"by {kind}", gauntlet.by_kind(results, of))]
    return Group(*shown)


def score_table(title: str, scores: Mapping[str, OpponentScore]) -> RenderableType:
    """Return a table: games, win share and error of the player, win share of an opponent."""
    grid = tables.grid(title, "games", "%", "±", "theirs %", left=(title,))
    for name, score in scores.items():
        percents = (tables.figure(100 * v, 1) for v in (score.share, score.error, score.theirs))
        grid.add_row(name, str(score.games), *percents)
    return grid


def figures(found: Outcome) -> dict[str, Any]:
    """Return the scores of a gauntlet as JSON can hold them."""
    names, results = found.names, found.results
    opponents = gauntlet.by_opponent(results, len(names))
    return {
        "groups": score_figures(gauntlet.by_group(results, found.groups)),
        "opponents": score_figures({names[n]: score for n, score in opponents.items()}),
        "kinds": {
            kind: score_figures(gauntlet.by_kind(results, of))
            for kind, of in kinds_of(found.config.game, names).items()
        },
        "players": catalogue.figures(results, names, None),
    }


def score_figures(scores: Mapping[str, OpponentScore]) -> dict[str, dict[str, Any]]:
    """Return scores as JSON can hold them; None for nan."""
    return {
        name: {
            "games": score.games,
            "share": catalogue.known(score.share),
            "error": catalogue.known(score.error),
            "theirs": catalogue.known(score.theirs),
        }
        for name, score in scores.items()
    }
