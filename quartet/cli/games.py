"""`quartet games`: what the registry holds."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from core import engine
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


@click.command(short_help="List the games, or what one game has built in.")
@click.argument("game", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(game: str | None, as_json: bool) -> None:
    """List the games: how many play, how the judge speaks to a program and what it allows, which
    players are built in.

    With GAME, list what its built-in players can do, and the options that they take. A player with
    options is written NAME:OPTION=VALUE,OPTION=VALUE wherever a player is named.

    \b
    quartet games ugolki
    quartet match ugolki bot:exploration=0.8,model=off bot bot bot
    """
    if game is not None:
        _show(game, as_json=as_json)
        return
    rows = [_describe(name) for name in registry.GAMES]
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
        return
    table = _table("name", "game", "players", "judge", "built-in players")
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


def _show(game: str, *, as_json: bool) -> None:
    """One game's players and their options. Raises QuartetError."""
    module = registry.load(game, "players")
    players = {name: module.player(name) for name in module.NAMES}
    if as_json:
        found = {
            "name": game,
            "players": [_player_record(name, player) for name, player in players.items()],
        }
        print(json.dumps(found, indent=2))
        return
    console = Console(highlight=False)
    table = _table("player", "score", "what it can do")
    for name, player in players.items():
        table.add_row(name, engine.score_unit(player), " ".join(_abilities(player)))
    console.print(table)
    shown = {key for player in players.values() for key in _abilities(player)}
    console.print()
    for key, meaning in engine.CAPABILITIES.items():
        if key in shown:
            console.print(f"{key}: {meaning}", soft_wrap=True, markup=False)
    for name, player in players.items():
        if not engine.options_of(player):
            continue
        table = _table(f"{name}: option", "type", "default", "range", "what it is")
        for option in engine.options_of(player):
            default = option.text(option.default) or "the package's own"
            table.add_row(option.name, option.type_name, default, option.range, option.help)
        console.print()
        console.print(table)


def _player_record(name: str, player: object) -> dict[str, Any]:
    """A player for machines."""
    return {
        "name": name,
        "score_unit": engine.score_unit(player),
        "capabilities": _abilities(player),
        "options": [
            {
                "name": option.name,
                "type": option.type_name,
                "default": option.default,
                "range": None if option.kind in (bool, str) else [option.least, option.most],
                "help": option.help,
            }
            for option in engine.options_of(player)
        ],
    }


def _abilities(player: object) -> list[str]:
    """What a player declares, in the contract's order."""
    return [key for key in engine.CAPABILITIES if engine.can(player, key)]


def _table(*columns: str) -> Table:
    return Table(*columns, box=None, pad_edge=False, header_style="bold")
