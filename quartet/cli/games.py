"""`quartet games`: what the registry holds."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

import click
from rich.console import Console
from rich.table import Table

from core.errors import NotBuiltError
from quartet import registry
from quartet.judge import game as games


@dataclass(frozen=True)
class Row:
    """A game, as the list shows it; `builtin` is None when the game's modules are not compiled."""

    name: str
    title: str
    players: int
    judge: str
    builtin: list[str] | None


@click.command(short_help="List the games and their built-in players.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(as_json: bool) -> None:
    """List the games: how many play, how the judge speaks to a program and what it allows, which
    players are built in."""
    rows = [_describe(name) for name in registry.GAMES]
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
        return
    table = Table(
        "name",
        "game",
        "players",
        "judge",
        "built-in players",
        box=None,
        pad_edge=False,
        header_style="bold",
    )
    for row in rows:
        table.add_row(
            row.name,
            row.title,
            str(row.players),
            row.judge,
            "not built yet" if row.builtin is None else ", ".join(row.builtin),
        )
    Console().print(table)


def _describe(name: str) -> Row:
    info = games.load(name).info
    judge = "none"
    if info.exchange is not None:
        judge = f"files, {info.exchange.seconds:g} s a move, {info.exchange.megabytes} MB"
    elif info.lines is not None:
        judge = f"lines, {info.lines.clock_ms / 1000:g} s a game" + (
            f", {info.lines.megabytes} MB" if info.lines.megabytes else ""
        )
    return Row(name, info.title, info.players, judge, _builtin(name))


def _builtin(name: str) -> list[str] | None:
    """The names of a game's built-in players, None when its modules are not compiled."""
    try:
        return list(registry.load(name, "players").NAMES)
    except NotBuiltError:
        return None
