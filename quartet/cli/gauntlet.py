"""`quartet gauntlet`: one rating of a version against standing opponents, and its curve over time."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console, RenderableType

from core.errors import QuartetError
from quartet import registry
from quartet.arena import exam, gauntlet, notes, runs
from quartet.arena.exam import Half
from quartet.arena.gauntlet import Kept, Measured
from quartet.cli import exam as examination
from quartet.cli import running, tables
from quartet.cli.running import Settings
from quartet.judge import game as games
from quartet.judge.seats import versions

PART = "gauntlet"
"""What the tables of the examination are called that a gauntlet is."""
LIST = "gauntlet.txt"
"""The file of a game that names its standing opponents."""


@click.command(short_help="Rate a version against standing opponents, and keep the curve.")
@click.argument("game")
@click.argument("player", default="bot")
@click.option(
    "--games",
    "count",
    default=200,
    show_default=True,
    help="Games, rounded up to whole blocks: both sides of an opening, or every order of turns.",
)
@click.option(
    "--against",
    multiple=True,
    metavar="NAME",
    help="An opponent, instead of the game's standing ones; other ratings cannot be compared.",
)
@click.option("--curve", is_flag=True, help="Play nothing, print the ratings that were kept.")
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw the ratings that were kept into a file (extra `plot`).",
)
@running.options
def command(
    game: str,
    player: str,
    count: int,
    against: Sequence[str],
    curve: bool,
    plot: Path | None,
    **options: Any,
) -> None:
    """Rate PLAYER [default: bot], for example git:HEAD~5, against the standing opponents of GAME: those
    of its `gauntlet.txt`, the training half of its pool, or its other built-in players. They never
    change, so that ratings under the same conditions can be compared over time.

    The rating is in Elo, 0 where the opponents, if all were alike, would be met evenly. It is kept in
    docs/ratings/GAME.jsonl below the working directory, with commit, conditions and interval; the
    same run again replaces its line. The same command goes on where it stopped.

    \b
    quartet gauntlet ataxx --nodes 20000 --option opening=4 --games 600
    quartet gauntlet ataxx git:HEAD~20 --nodes 20000 --option opening=4 --games 600
    quartet gauntlet ataxx --curve
    """
    settings = Settings(**options)
    file = gauntlet.FOLDER / f"{game}.jsonl"
    registry.check(game)
    if curve or plot is not None:
        show_curve(game, gauntlet.read(file), plot, as_json=settings.as_json)
        return
    seats = games.load(game).info.players
    opponents = list(against) or standing(game, player)
    if len(opponents) < seats - 1:
        raise QuartetError(f"a gauntlet of {game} takes {seats - 1} opponents at least")
    size = math.factorial(seats)  # every order, everybody first once
    numbers = list(range(1, len(opponents) + 1))
    drawn = exam.drawn(numbers, seats, -(-count // size), f"{settings.seed}")
    part = Half(PART, drawn)
    names = [f"rated {player}", *map(versions.short, opponents)]
    casting = settings.casting(game, list(zip(names, [player, *opponents], strict=True)))
    plan = [list(table) for table in drawn]
    total = exam.total([part])
    with settings.records("gauntlet", casting, tables=plan, games=total) as records:
        results = running.run(
            settings,
            records,
            lambda _: exam.schedule(casting, [part]),
            lambda done: examination.report(done, [part], names, {}),
            total,
        )
        found = gauntlet.measured(exam.by_half(results, [part])[PART], seats)
        elo, low, high = map(runs.known, bounds(found))
        kept = Kept(
            day=notes.today().isoformat(),
            commit=notes.commit(),
            player=casting.players[0].command,
            opponents=[opponent.command for opponent in casting.players[1:]],
            conditions=conditions(settings),
            seed=settings.seed,
            games=len(results),
            share=round(found.share, 6),
            error=None if math.isnan(found.error) else round(found.error, 6),
            elo=elo,
            low=low,
            high=high,
            records=str(records.folder),
        )
        gauntlet.keep(file, kept)

        def show(console: Console) -> None:
            console.print(examination.report(results, [part], names, {}))
            console.print(f"{names[0]}: {sentence(kept)}", soft_wrap=True, markup=False)
            console.print(f"kept in {file}; records: {records.folder}", soft_wrap=True)

        if settings.as_json:
            print(json.dumps(msgspec.to_builtins(kept), indent=2))
        else:
            show(tables.wide(Console(highlight=False)))
        settings.keep_note(records, len(results), show, notes.OPEN)


def bounds(found: Measured) -> tuple[float, float, float]:
    """Rating, and the bounds of its interval."""
    return found.rating.elo, found.rating.low, found.rating.high


def standing(game: str, player: str) -> list[str]:
    """The opponents of a game who never change, in the order of their list. Raises QuartetError."""
    listed = files(registry.GAMES[game]).joinpath(LIST)
    if listed.is_file():
        return gauntlet.standing(listed.read_text(encoding="utf-8"))
    pool = registry.pool(game)
    if pool is not None:
        halves = pool.HALVES.items()
        return [name for half, names in halves if half != pool.TEST_HALF for name in names]
    first, *others = registry.load(game, "players").NAMES
    return [name for name in others if name not in {first, player}]


def conditions(settings: Settings) -> dict[str, str]:
    """What decides, beside opponents, which ratings can be compared."""
    return {
        "clock": " ".join(settings.clock),
        "nodes": " ".join(settings.nodes),
        "options": " ".join(sorted(settings.variants)),
        "how": "in process" if settings.in_process else "programs",
        "cores": str(settings.cores),
    }


def sentence(kept: Kept) -> str:
    """A rating in words."""
    if kept.elo is None:
        return f"{100 * kept.share:.1f} % of the wins in {kept.games} games"
    low, high = ("?" if bound is None else f"{bound:+.0f}" for bound in (kept.low, kept.high))
    return f"Elo {kept.elo:+.0f} ({low} .. {high}), {100 * kept.share:.1f} % in {kept.games} games"


def show_curve(game: str, lines: Sequence[Kept], plot: Path | None, *, as_json: bool) -> None:
    """Print or draw the ratings that were kept. Raises QuartetError."""
    if not lines:
        raise QuartetError(f"no rating of {game} is kept below {gauntlet.FOLDER} yet")
    groups = gauntlet.comparable(lines)
    if plot is not None:
        from quartet.cli import plots  # noqa: PLC0415  (an extra)

        plots.ratings_over_time(groups, f"{game}, gauntlet", plot)
        print(plot)
    elif as_json:
        print(json.dumps([{**msgspec.to_builtins(k), "group": k.group} for k in lines], indent=2))
    else:
        console = tables.wide(Console(highlight=False))
        for number, group in enumerate(groups.values()):
            if number:
                console.print()
            first = group[0]
            said = [f"{name} {value}" for name, value in first.conditions.items() if value]
            console.print(
                f"{first.group}: {', '.join(said)}; against", soft_wrap=True, markup=False
            )
            console.print(", ".join(map(versions.short, first.opponents)), soft_wrap=True)
            console.print(curve_table(group))


def curve_table(lines: Sequence[Kept]) -> RenderableType:
    """Ratings that can be compared, one a line."""
    grid = tables.grid(
        "day", "player", "commit", "Elo", "from", "to", "%", "games", left=("player",)
    )
    for line in lines:
        grid.add_row(
            line.day,
            versions.short(line.player),
            line.commit[: versions.SHORT] + ("+" if "," in line.commit else ""),
            *("" if v is None else f"{v:+.0f}" for v in (line.elo, line.low, line.high)),
            f"{100 * line.share:.1f}",
            str(line.games),
        )
    return grid
