"""`quartet games`: the games, and the built-in players of one."""

from __future__ import annotations

import json
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from core import engine
from quartet import registry
from quartet.cli import tables
from quartet.judge import game as games
from quartet.judge.seats import players

OLD_NAMES = {engine.NEW_GAME: "forget", engine.MOVES_TO_GO: "pace"}
"""Capability -> its name in version 1.0, which `--json` also lists until 2.0."""


@click.command(short_help="List the games, or the built-in players of one.")
@click.argument("game", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(game: str | None, as_json: bool) -> None:
    """List the games: players, the judge's protocol and limits, built-in players.

    With GAME, list the capabilities and options of its built-in players. Wherever a player is
    named, NAME:OPTION=VALUE,OPTION=VALUE sets its options.

    \b
    quartet games ugolki
    quartet match ugolki bot:exploration=0.8,threads=1 bot bot bot
    """
    if game is not None:
        _show(game, as_json=as_json)
        return
    rows = [_describe(name) for name in registry.GAMES]
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    table = _table("name", "game", "players", "judge", "built-in players")
    for row in rows:
        table.add_row(
            row["name"],
            row["title"],
            str(row["players"]),
            row["judge"],
            "not built yet" if row["builtin"] is None else ", ".join(row["builtin"]),
        )
    tables.wide(Console()).print(table)


def _describe(name: str) -> dict[str, Any]:
    """Return a row of the list of games; its built-in players are None if they are not compiled."""
    info = games.load(name).info
    judge = "none"
    if info.exchange is not None:
        judge = f"files, {info.exchange.seconds:g} s a move, {info.exchange.megabytes} MB"
    elif info.lines is not None:
        judge = f"lines, {info.lines.clock_ms / 1000:g} s a game" + (
            f", {info.lines.megabytes} MB" if info.lines.megabytes else ""
        )
    return {
        "name": name,
        "title": info.title,
        "players": info.players,
        "judge": judge,
        "builtin": list(players.names(name)) or None,
    }


def _show(game: str, *, as_json: bool) -> None:
    """Print the players of a game, and their options. Raises QuartetError."""
    module = registry.load(game, "players")
    by_name = {name: module.player(name) for name in module.NAMES}
    if as_json:
        found = {
            "name": game,
            "players": [_player_record(name, player) for name, player in by_name.items()],
        }
        print(json.dumps(found, indent=2))
        return
    console = tables.wide(Console(highlight=False))
    table = _table("player", "score", "capabilities")
    for name, player in by_name.items():
        table.add_row(name, engine.score_unit(player), " ".join(_capabilities(player)))
    console.print(table)
    shown = {key for player in by_name.values() for key in _capabilities(player)}
    console.print()
    for key, meaning in engine.CAPABILITIES.items():
        if key in shown:
            console.print(f"{key}: {meaning}", soft_wrap=True, markup=False)
    for name, player in by_name.items():
        if not engine.options_of(player):
            continue
        table = _table(f"{name}: option", "type", "default", "range", "meaning")
        for option in engine.options_of(player):
            default = option.text(option.default) or "the package's own"
            table.add_row(option.name, option.type_name, default, option.range, option.help)
        console.print()
        console.print(table)


def _player_record(name: str, player: object) -> dict[str, Any]:
    """Return a player for JSON."""
    return {
        "name": name,
        "score_unit": engine.score_unit(player),
        "capabilities": [
            *_capabilities(player),
            *(OLD_NAMES[key] for key in _capabilities(player) if key in OLD_NAMES),
        ],
        "options": [
            {
                "name": option.name,
                "type": option.type_name,
                "default": option.default,
                "range": None if option.kind in (bool, str) else [option.minimum, option.maximum],
                "help": option.help,
            }
            for option in engine.options_of(player)
        ],
    }


def _capabilities(player: object) -> list[str]:
    """Return the capabilities of a player, in the contract's order."""
    return [key for key in engine.CAPABILITIES if engine.can(player, key)]


def _table(*columns: str) -> Table:
    return Table(*columns, box=None, pad_edge=False, header_style="bold")
