"""`quartet runs`: what is in the folders of runs, finished or not; it reads records only."""

from __future__ import annotations

import csv
import io
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
from rich.console import Console, Group
from rich.live import Live

from core.errors import QuartetError
from quartet.arena import records, tuning
from quartet.arena import runs as recorded
from quartet.arena.runs import RESULTS, Filter, Run
from quartet.cli import exam, outcomes, tables, tune

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import RenderableType

    from quartet.arena.outcome import Outcome
    from quartet.arena.unit import GameResult

HOME = Path("runs")
"""Where runs lie that were given no other folder."""


@click.command(short_help="List runs, and print what they have come to.")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--games", "list_games", is_flag=True, help="List the games.")
@click.option("--player", metavar="NAME", help="Only games of this player.")
@click.option(
    "--result", type=click.Choice(list(RESULTS)), help="Only games that --player won, drew or lost."
)
@click.option("--forfeit", is_flag=True, help="Only games with forfeited turns (of --player).")
@click.option("--opening", type=int, metavar="SEED", help="Only games from this start.")
@click.option(
    "--plies", metavar="LEAST..MOST", help="Only games of such a length; either may be left away."
)
@click.option(
    "--worst", type=click.IntRange(1), metavar="N", help="List the N worst openings of --player."
)
@click.option("--crosstable", "cross", is_flag=True, help="Print who scored what against whom.")
@click.option("--openings", is_flag=True, help="Print the results by opening.")
@click.option("--watch", is_flag=True, help="Follow the run until it ends; Ctrl-C leaves it alone.")
@click.option(
    "--export",
    type=click.Choice(["json", "csv", "text"]),
    help="Print every game, for other tools.",
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Draw the run into a file (.svg, .png, .pdf); needs the extra `plot`.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else.")
def command(
    folder: Path | None,
    list_games: bool,
    player: str | None,
    result: str | None,
    forfeit: bool,
    opening: int | None,
    plies: str | None,
    worst: int | None,
    cross: bool,
    openings: bool,
    watch: bool,
    export: str | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """List what lies in runs/, or print the table of the run in FOLDER, be it finished or not.

    Records are read, and nothing else: a run that goes on takes no notice. Filters choose games for
    the lists and the exports; the table is always of the whole run. A folder of runs is listed, and
    a file that `quartet train` left (OUT.losses.jsonl) can be plotted, too.

    \b
    quartet runs
    quartet runs runs/ataxx-sprt-1a2b3c4d --games --player new --result loss
    quartet runs runs/ataxx-sprt-1a2b3c4d --export csv > games.csv
    quartet runs runs/ataxx-sprt-1a2b3c4d --plot run.svg
    """
    folder = folder or HOME
    if folder.is_file():
        _plot_losses(folder, plot)
        return
    if not recorded.is_run(folder):
        show_list(folder, as_json=as_json)
        return
    run = recorded.read(folder)
    if watch:
        follow(folder)
        return
    if run.kind == "tune":
        _show_tuning(run, plot, as_json=as_json)
        return
    if not run.shown:
        _print_plan(run, as_json=as_json)
        return
    found = run.outcome()
    least, most = _bounds(plies)
    chosen = Filter(player, result, forfeit, opening, least, most)
    if player is not None and player not in found.names:
        raise QuartetError(f"nobody is called {player!r}; there are: {', '.join(found.names)}")
    if result is not None and player is None:
        raise QuartetError("--result is of a player: name one with --player")
    taken = sorted(run.results, key=lambda game: game.number)
    taken = [game for game in taken if chosen.takes(game, found.names)]
    if plot is not None:
        from quartet.cli import plots  # noqa: PLC0415  (an extra)

        plots.run(found, run.results, folder, plot)
        print(plot)
        return
    if export is not None:
        print(EXPORTS[export](folder, taken, found), end="")
        return
    console = tables.wide(Console(highlight=False))
    parts: dict[str, list[dict[str, Any]]] = {}
    if list_games:
        parts["list"] = [row(folder, game, found) for game in taken]
    if worst is not None:
        parts["worst"] = recorded.by_opening(taken, found, player)[:worst]
    if cross:
        parts["crosstable"] = _crosstable(taken, found)
    if openings:
        parts["openings"] = sorted(
            recorded.by_opening(taken, found, player), key=lambda line: int(line["opening"])
        )
    if as_json:
        state = {
            "state": recorded.state_of(run, found),
            "recorded": len(run.results),
            "live": run.live,
        }
        facts = outcomes.figures(found, folder, silent=True)
        print(json.dumps({"kind": run.kind, **state, **facts, **parts}, indent=2))
        return
    if not parts:
        if found.halves:
            exam.show(console, found, folder)
        else:
            outcomes.show(console, found, folder, silent=False)
        console.print(f"{recorded.state_of(run, found)}; {_progress(run, found)}", soft_wrap=True)
    for lines in parts.values():
        console.print(tables.rows(lines))
    if list_games:
        console.print(f"{len(taken)} of {len(run.results)} games")


def _progress(run: Run, found: Outcome) -> str:
    total = f" of {found.total}" if found.total else ""
    going = f", {run.live} going on" if run.live else ""
    return f"{len(run.results)}{total} games on record{going}"


# The list of runs.


def show_list(folder: Path, *, as_json: bool) -> None:
    """Print what runs lie in a folder."""
    if not folder.is_dir():
        raise QuartetError(
            f"there is no folder {folder}; runs are kept in {HOME}/, or where --out says"
        )
    paths = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    lines = [_listed(path) for path in paths if path.is_dir() and recorded.is_run(path)]
    if as_json:
        print(json.dumps(lines, indent=2))
        return
    console = tables.wide(Console(highlight=False))
    if not lines:
        console.print(f"there are no runs in {folder}", soft_wrap=True)
        return
    console.print(tables.rows(lines))


def _listed(path: Path) -> dict[str, Any]:
    """A line of the list; what cannot be read says so."""
    try:
        run = recorded.read(path)
        line = recorded.listed(path, run, run.outcome() if run.shown else None)
    except QuartetError as error:
        return {"folder": str(path), "kind": "?", "state": str(error)}
    of, players = line["of"] or "", ", ".join(line["players"])
    return {"folder": str(path), **line, "of": of, "players": players}


def _print_plan(run: Run, *, as_json: bool) -> None:
    if as_json:
        print(
            json.dumps(
                {"plan": run.plan, "units": run.samples, "state": recorded.state_of(run, None)}
            )
        )
        return
    for name, value in run.plan.items():
        print(f"{name}: {value}")
    print(f"{run.samples} units on record; {recorded.state_of(run, None)}")


def _show_tuning(run: Run, plot: Path | None, *, as_json: bool) -> None:
    start, steps = tuning.values_of(run.plan), tuning.read(run.folder)
    if plot is not None:
        from quartet.cli import plots  # noqa: PLC0415  (an extra)

        plots.tuning(start, steps, f"{run.plan['game']}, {run.plan['method']}", plot)
        print(plot)
        return
    if as_json:
        lines = [msgspec.to_builtins(step) for step in steps]
        facts = {
            "kind": run.kind,
            "state": recorded.state_of(run, None),
            "recorded": len(run.results),
        }
        print(json.dumps({**facts, "start": start, "trajectory": lines}, indent=2))
        return
    console = tables.wide(Console(highlight=False))
    console.print(tune.table(start, steps))
    console.print(
        f"{recorded.state_of(run, None)}; {len(run.results)} of {run.plan['games']} games on record"
    )


# Games.


def row(folder: Path, game: GameResult, found: Outcome) -> dict[str, Any]:
    """A game as a line."""
    fouls = [f"{found.names[game.seats[f.seat]]}: {f.verdict}" for f in game.fouls]
    return {
        "game": game.number,
        "opening": game.seed,
        "players": " - ".join(found.names[player] for player in game.seats),
        "shares": " - ".join(f"{share:g}"[:5] for share in game.shares),
        "scores": " - ".join("-" if s is None else str(s) for s in game.scores),
        "plies": game.plies,
        "seconds": round(game.seconds, 2),
        "forfeited": ", ".join(fouls),
        "log": str(folder / records.log_name(game.number)),
    }


def _crosstable(games: Sequence[GameResult], found: Outcome) -> list[dict[str, Any]]:
    """Everybody's points against everybody, and out of how many."""
    points, number = recorded.points_against(games, len(found.names))
    return [
        {
            "player": name,
            **{
                other: f"{points[i][j]:g} of {number[i][j]}" if number[i][j] else "-"
                for j, other in enumerate(found.names)
            },
        }
        for i, name in enumerate(found.names)
    ]


def _bounds(text: str | None) -> tuple[int | None, int | None]:
    """The plies that --plies names. Raises QuartetError."""
    if text is None:
        return None, None
    least, dots, most = text.partition("..")
    if not dots:
        most = least
    if not all(not part or part.isdecimal() for part in (least, most)) or not (least or most):
        raise QuartetError(f"--plies wants LEAST..MOST, not {text!r}")
    return (int(least) if least else None), (int(most) if most else None)


# Exports.


def _as_json(folder: Path, games: Sequence[GameResult], found: Outcome) -> str:
    lines = [
        {
            **msgspec.to_builtins(game),
            "players": [found.names[player] for player in game.seats],
            "log": str(folder / records.log_name(game.number)),
        }
        for game in games
    ]
    return json.dumps(lines, indent=2) + "\n"


def _as_csv(folder: Path, games: Sequence[GameResult], found: Outcome) -> str:
    """A line for every seat of every game."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        [
            "game",
            "block",
            "opening",
            "seat",
            "player",
            "score",
            "place",
            "share",
            "plies",
            "turns",
            "seconds",
            "longest",
            "depth",
            "nodes",
            "forfeited",
            "log",
        ]
    )
    for game in games:
        for seat, player in enumerate(game.seats):
            use = game.use[seat]
            writer.writerow(
                [
                    game.number,
                    game.block,
                    game.seed,
                    seat,
                    found.names[player],
                    game.scores[seat],
                    game.places[seat],
                    game.shares[seat],
                    game.plies,
                    use.turns,
                    use.seconds,
                    use.longest,
                    use.depth / use.searches if use.searches else "",
                    use.nodes,
                    sum(use.lost.values()),
                    folder / records.log_name(game.number),
                ]
            )
    return text.getvalue()


def _as_text(folder: Path, games: Sequence[GameResult], found: Outcome) -> str:
    """Tags as of PGN, then the log as its judge writes it."""
    parts = []
    for game in games:
        log = folder / records.log_name(game.number)
        tags = {
            "Game": found.casting.game,
            "Round": str(game.number),
            "Opening": str(game.seed),
            **{f"Player{i + 1}": found.names[p] for i, p in enumerate(game.seats)},
            "Result": " ".join(f"{share:g}" for share in game.shares),
            "Scores": " ".join("-" if s is None else str(s) for s in game.scores),
            "Plies": str(game.plies),
            "Termination": game.reason,
        }
        head = "".join(f'[{name} "{value}"]\n' for name, value in tags.items())
        try:
            body = log.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise QuartetError(f"cannot read {log}: {error.strerror}") from error
        parts.append(f"{head}\n{body.rstrip()}\n\n")
    return "".join(parts)


EXPORTS: dict[str, Callable[[Path, Sequence[GameResult], Outcome], str]] = {
    "json": _as_json,
    "csv": _as_csv,
    "text": _as_text,
}


# Watching.

LOOK_EVERY = 1.0
"""Seconds between two looks at the records."""


def follow(folder: Path) -> None:
    """Show a run until nobody plays it any more."""
    console = Console(stderr=not sys.stdout.isatty(), highlight=False)
    drawn = -1
    with Live(console=console, auto_refresh=False, transient=False) as live:
        while True:
            run = recorded.read(folder)
            found = run.outcome()
            view = _view(run, found)
            if console.is_terminal:
                live.update(view, refresh=True)
            elif len(run.results) != drawn:
                drawn = len(run.results)
                print(f"quartet: {_progress(run, found)}", file=sys.stderr, flush=True)
            if not run.going:
                return
            time.sleep(LOOK_EVERY)


def _view(run: Run, found: Outcome) -> RenderableType:
    parts: list[RenderableType] = [outcomes.table(found)]
    if found.test is not None:
        parts.append(outcomes.test_text(found.test, found.scores))
    for number, plies in recorded.live_games(run.folder):
        parts.append(f"game {number} goes on, {plies} turns")
    parts.append(f"{recorded.state_of(run, found)}; {_progress(run, found)}")
    return Group(*parts)


def _plot_losses(file: Path, plot: Path | None) -> None:
    if plot is None:
        raise QuartetError(f"{file} is a file; with --plot FILE the losses in it are drawn")
    from quartet.cli import plots  # noqa: PLC0415  (an extra)

    plots.losses(file, plot)
    print(plot)
