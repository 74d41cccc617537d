"""`python -m quartet.bench`, and `quartet bench`."""

from __future__ import annotations

import math
import sys

import click
import msgspec
from rich.console import Console
from rich.table import Table

from core.commands.program import execute
from core.errors import QuartetError
from quartet import registry
from quartet.bench import fingerprint, speed


@click.command(
    name="bench", short_help="Print the fingerprint of rules and search, or their speed."
)
@click.argument("games", nargs=-1, metavar="[GAME]...")
@click.option(
    "--check",
    is_flag=True,
    help="Compare with the recorded fingerprint; exit with 1 if it differs.",
)
@click.option(
    "--record",
    is_flag=True,
    help="Record this fingerprint (name it in the commit message: `Bench: GAME N`).",
)
@click.option(
    "--speed",
    "speeds",
    is_flag=True,
    help="Measure speed instead: perft by fast and reference rules, and the search.",
)
@click.option(
    "--depth",
    type=click.IntRange(1),
    help="With --speed: depth of the fast perft  [default: about a second].",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    games: tuple[str, ...],
    check: bool,
    record: bool,
    speeds: bool,
    depth: int | None,
    as_json: bool,
) -> None:
    """Print the fingerprint of every GAME (default: all with an engine).

    It has the nodes searched and a hash of the moves and scores, for the engine and for every other
    built-in player. Builds with the same fingerprint search the same tree. A commit that changes
    search or rules changes it.

    \b
    quartet bench                       print the fingerprint of every game
    quartet bench ataxx --check         compare with the recorded one
    quartet bench ugolki --speed        nodes per second, perft by both rules
    """
    if check + record + speeds > 1:
        raise QuartetError("--check, --record and --speed exclude each other: pass one")
    if depth is not None and not speeds:
        raise QuartetError("--depth is for --speed")
    chosen = games or tuple(game for game in registry.GAMES if registry.has(game, "engine"))
    for game in chosen:
        registry.check(game)
    if speeds:
        _print_speeds([speed.measure(game, depth) for game in chosen], as_json=as_json)
        return
    figures = {
        name: figure for game in chosen for name, figure in fingerprint.fingerprint(game).items()
    }
    if as_json:
        print(msgspec.json.encode(figures).decode())
    else:
        for name, figure in figures.items():
            print(name, figure)
    if record:
        fingerprint.record(figures)
    if check:
        known = fingerprint.recorded()
        changed = [
            f"{name} is {figure}, recorded {known.get(name, 'nothing')}"
            for name, figure in figures.items()
            if known.get(name) != figure
        ]
        if not games:
            changed += [
                f"{name} is recorded, but no longer there" for name in known if name not in figures
            ]
        if changed:
            print("quartet: the fingerprint changed: " + "; ".join(changed), file=sys.stderr)
            sys.exit(1)


def _print_speeds(speeds: list[speed.Speed], *, as_json: bool) -> None:
    if as_json:
        print(msgspec.json.encode(speeds).decode())
        return
    table = Table(
        "game",
        "perft",
        "fast leaves/s",
        "all made",
        "reference leaves/s",
        "ratio",
        "search nodes/s",
    )
    for s in speeds:
        rates = [_short(figure) for figure in (s.fast, s.made, s.slow)]
        table.add_row(
            s.game,
            f"{_short(s.leaves)} at depth {s.depth}",
            *rates,
            f"{s.ratio:,.0f}",
            _short(s.nodes),
        )
    Console().print(table)


def _short(figure: float | None) -> str:
    """Return a number with three digits and a unit; empty for None."""
    if figure is None:
        return ""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if figure >= size:
            digits = 2 - int(math.log10(figure / size))
            return f"{figure / size:.{digits}f} {unit}"
    return f"{figure:.0f}"


if __name__ == "__main__":
    execute(command)
