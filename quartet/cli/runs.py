"""`quartet runs`: the runs in a folder and their outcomes, finished or not. Records are read
only."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console, Group, RenderableType
from rich.live import Live

from core.errors import QuartetError
from quartet.arena import catalogue, records, tuning
from quartet.arena.catalogue import RESULTS, Filter, RecordedRun
from quartet.arena.outcome import Outcome
from quartet.arena.standings import points_against
from quartet.arena.unit import GameResult
from quartet.cli import gauntlet, outcomes, plots, tables, tune
from quartet.cli.exports import EXPORTS
from quartet.cli.paths import PathType

HOME = Path("runs")
"""The folder of runs that were not given another one."""
PROBE_SECONDS = 1.0
"""Time between two probes of the records with --watch."""


@click.command(short_help="List runs, and print their outcomes.")
@click.argument("folder", required=False, type=PathType())
@click.option("--games", "list_games", is_flag=True, help="List the games.")
@click.option("--player", metavar="NAME", help="Select games of this player.")
@click.option(
    "--result",
    type=click.Choice(list(RESULTS)),
    help="Select games that --player won, drew or lost.",
)
@click.option("--forfeit", is_flag=True, help="Select games with forfeited turns (of --player).")
@click.option("--opening", type=int, metavar="SEED", help="Select games from this opening.")
@click.option(
    "--plies", metavar="LEAST..MOST", help="Select games of this length; either end may be omitted."
)
@click.option(
    "--worst", type=click.IntRange(1), metavar="N", help="List the N worst openings of --player."
)
@click.option("--crosstable", "cross", is_flag=True, help="Print the points of all against all.")
@click.option("--openings", is_flag=True, help="Print the results by opening.")
@click.option(
    "--watch", is_flag=True, help="Follow the run until it ends; Ctrl-C ends only the display."
)
@click.option(
    "--export", type=click.Choice(list(EXPORTS)), help="Print every game for other tools."
)
@click.option(
    "--plot",
    type=PathType(dir_okay=False),
    metavar="FILE",
    help="Draw the run into a file (.svg, .png, .pdf; extra `plot`).",
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
    """List the runs in runs/, or print the table of the run in FOLDER, finished or not.

    Records are only read, so an active run is not disturbed. Options that select games apply to
    lists and exports; the table is always of the whole run. Games after the decision of a
    sequential test do not count, and are not listed. FOLDER may also be a folder of runs,
    or, for --plot, a file of losses that `quartet train` wrote (OUT.losses.jsonl).

    \b
    quartet runs
    quartet runs runs/ataxx-sprt-1a2b3c4d --games --player new --result loss
    quartet runs runs/ataxx-sprt-1a2b3c4d --export csv > games.csv
    quartet runs runs/ataxx-sprt-1a2b3c4d --plot run.svg
    """
    ways = {"--watch": watch, "--plot": plot, "--export": export, "--json": as_json}
    given = [name for name, value in ways.items() if value]
    if len(given) > 1:
        raise QuartetError(f"{given[0]} and {given[1]} exclude each other: pass one")
    folder = folder or HOME
    if folder.is_file():
        _plot_losses(folder, plot)
        return
    of_games = {
        "--games": list_games,
        "--worst": worst,
        "--crosstable": cross,
        "--openings": openings,
        "--export": export,
    }
    filters = {
        "--player": player,
        "--result": result,
        "--forfeit": forfeit,
        "--opening": opening is not None,
        "--plies": plies,
    }
    for name in (name for name, value in of_games.items() if value and (watch or plot)):
        raise QuartetError(f"{given[0]} shows the whole run: omit {name}")
    if not any(of_games.values()):
        for name in (name for name, value in filters.items() if value):
            raise QuartetError(f"{name} selects games for {', '.join(of_games)}: add one of these")
    if not catalogue.is_run(folder):
        _reject({**of_games, "--watch": watch, "--plot": plot}, folder, "holds no run")
        show_list(folder, as_json=as_json)
        return
    run = catalogue.read(folder)
    if not run.shown:
        _reject(of_games, folder, f"is a run of {run.kind}")
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
        raise QuartetError(f"no player is called {player!r}; there are: {', '.join(found.names)}")
    if result is not None and player is None:
        raise QuartetError("--result is of a player: name one with --player")
    taken = [game for game in found.results if chosen.takes(game, found.names)]
    if plot is not None:
        plots.run(found, folder, plot)
        return
    if export is not None:
        print(EXPORTS[export](folder, taken, found), end="")
        return
    parts: dict[str, list[dict[str, Any]]] = {}
    if list_games:
        parts["list"] = [row(folder, game, found) for game in taken]
    by_opening = catalogue.by_opening(taken, found, player) if worst or openings else []
    if worst is not None:
        parts["worst"] = by_opening[:worst]
    if cross:
        parts["crosstable"] = _crosstable(taken, found)
    if openings:
        parts["openings"] = sorted(by_opening, key=lambda line: int(line["opening"]))
    if as_json:
        facts = outcomes.figures(found, folder, silent=True)
        print(json.dumps({**_state(run, found), "live": run.live, **facts, **parts}, indent=2))
        return
    console = tables.wide(Console(highlight=False))
    if not parts:
        if found.groups:
            gauntlet.show(console, found, folder)
        else:
            outcomes.show(console, found, folder, silent=False)
        console.print(_progress(run, found), soft_wrap=True)
    for lines in parts.values():
        console.print(tables.rows(lines))
    if list_games:
        console.print(f"{len(taken)} of {len(found.results)} games")


def _state(run: RecordedRun, found: Outcome | None) -> dict[str, Any]:
    return {
        "kind": run.kind,
        "state": catalogue.state_of(run, found),
        "recorded": len(run.results),
    }


def _state_word(state: str) -> str:
    """Return a run's state for people; JSON keeps its former word for an active run."""
    return "running" if state == catalogue.ACTIVE else state


def _progress(run: RecordedRun, found: Outcome) -> str:
    units = catalogue.units_of(run, found)
    total = f" of {units}" if units else ""
    live = f", {run.live} running" if run.live else ""
    state = _state_word(catalogue.state_of(run, found))
    return f"{state}; {len(run.results)}{total} games on record{live}"


# Runs


def _reject(options: Mapping[str, Any], folder: Path, why: str) -> None:
    """Raise QuartetError for the first of these options that was given."""
    for name, value in options.items():
        if value:
            raise QuartetError(f"{name} is for the folder of a run with players; {folder} {why}")


def show_list(folder: Path, *, as_json: bool) -> None:
    """Print the runs in a folder. Raises QuartetError if there is no such folder."""
    if not folder.is_dir():
        raise QuartetError(
            f"there is no folder {folder}; runs are kept in {HOME}/, or in the folder of --out"
        )
    paths = [path for path in folder.iterdir() if path.is_dir() and catalogue.is_run(path)]
    paths.sort(key=catalogue.last_change, reverse=True)
    lines = [_listed(path) for path in paths]
    if as_json:
        print(json.dumps(lines, indent=2))
        return
    console = tables.wide(Console(highlight=False))
    if not lines:
        console.print(f"there are no runs in {folder}", soft_wrap=True, markup=False)
        return
    damaged = [line for line in lines if line["kind"] == "?"]
    console.print(
        tables.rows(
            [
                {**line, "state": "unreadable" if line in damaged else _state_word(line["state"])}
                for line in lines
            ]
        )
    )
    for line in damaged:
        console.print(line["state"], soft_wrap=True, markup=False)


def _listed(path: Path) -> dict[str, Any]:
    """Return a line of the list; for damaged records the error is its state."""
    try:
        run = catalogue.read(path)
        line = catalogue.listed(path, run, run.outcome() if run.shown else None)
    except QuartetError as error:
        return {"folder": str(path), "kind": "?", "state": str(error)}
    of, players = line["of"] or "", ", ".join(line["players"])
    return {"folder": str(path), **line, "of": of, "players": players}


def _print_plan(run: RecordedRun, *, as_json: bool) -> None:
    state = catalogue.state_of(run, None)
    unit = "games" if run.kind == "selfplay" else "units"
    if as_json:
        print(json.dumps({"plan": run.plan, unit: run.samples, "state": state}))
        return
    for name, value in run.plan.items():
        print(f"{name}: {value}")
    print(f"{run.samples} {unit} on record; {_state_word(state)}")


def _show_tuning(run: RecordedRun, plot: Path | None, *, as_json: bool) -> None:
    start, steps = tuning.values_of(run.plan), tuning.read(run.folder)
    if plot is not None:
        plots.tuning(start, steps, f"{run.plan['game']}, {run.plan['method']}", plot)
        return
    state = _state(run, None)
    if as_json:
        lines = [msgspec.to_builtins(step) for step in steps]
        print(json.dumps({**state, "start": start, "trajectory": lines}, indent=2))
        return
    console = tables.wide(Console(highlight=False))
    console.print(tune.table(start, steps))
    word, of = _state_word(state["state"]), run.plan["games"]
    console.print(f"{word}; {len(run.results)} of {of} games on record")


def _plot_losses(file: Path, plot: Path | None) -> None:
    if plot is None:
        raise QuartetError(
            f"{file} is not the folder of a run; draw a file of losses with --plot FILE"
        )
    plots.losses(file, plot)


# Games


def row(folder: Path, game: GameResult, found: Outcome) -> dict[str, Any]:
    """Return a game's line in the list of games."""
    forfeits = [f"{found.names[game.seats[f.seat]]}: {f.verdict}" for f in game.forfeits]
    return {
        "game": game.number,
        "opening": game.seed,
        "players": " - ".join(found.names[player] for player in game.seats),
        "shares": " - ".join(f"{share:g}"[:5] for share in game.shares),
        "scores": " - ".join("-" if s is None else str(s) for s in game.scores),
        "plies": game.plies,
        "seconds": round(game.seconds, 2),
        "forfeited": ", ".join(forfeits),
        "log": str(folder / records.log_name(game.number)),
    }


def _crosstable(games: Sequence[GameResult], found: Outcome) -> list[dict[str, Any]]:
    """Return the points of each player against each other, and out of how many."""
    points, number = points_against(games, len(found.names))
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
    """Return the range of --plies. Raises QuartetError."""
    if text is None:
        return None, None
    least, dots, most = text.partition("..")
    most = most if dots else least
    if not all(not part or part.isdecimal() for part in (least, most)) or not (least or most):
        raise QuartetError(f"--plies wants LEAST..MOST, not {text!r}")
    bounds = (int(least) if least else None), (int(most) if most else None)
    if bounds[0] is not None and bounds[1] is not None and bounds[0] > bounds[1]:
        raise QuartetError(f"--plies wants LEAST..MOST, and {least} is more than {most}")
    return bounds


# Watching


def follow(folder: Path) -> None:
    """Show a run until no process plays it any more."""
    console = Console(stderr=not sys.stdout.isatty(), highlight=False)
    drawn = -1
    with Live(console=console, auto_refresh=False, transient=False) as live:
        while True:
            run = catalogue.read(folder)
            found = run.outcome()
            if console.is_terminal:
                live.update(_view(run, found), refresh=True)
            elif len(run.results) != drawn:
                drawn = len(run.results)
                print(f"quartet: {_progress(run, found)}", file=sys.stderr, flush=True)
            if not run.active:
                break
            time.sleep(PROBE_SECONDS)
    if not sys.stdout.isatty():
        tables.wide(Console(highlight=False)).print(_view(run, found))


def _view(run: RecordedRun, found: Outcome) -> RenderableType:
    parts: list[RenderableType] = [outcomes.table(found)]
    if found.test is not None:
        parts.append(outcomes.test_text(found.test, found.scores))
    for number, turns in catalogue.live_games(run.folder):
        parts.append(f"game {number} is running, {turns} turns")
    return Group(*parts, _progress(run, found))
