"""`quartet lost`: every turn and game that was forfeited in a run, and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from core.errors import QuartetError
from quartet.arena.records import log_name, read, stderr_name
from quartet.cli.paths import PathType


@click.command(short_help="List the forfeits of a run, and why.")
@click.argument("folder", type=PathType(file_okay=False))
@click.option("--player", metavar="NAME", help="List only what this player forfeited.")
@click.option("--stderr", is_flag=True, help="Print the standard error of these games, too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else.")
def command(folder: Path, player: str | None, stderr: bool, as_json: bool) -> None:
    """List the forfeited turns and games of the run in FOLDER: log, ply, player and reason.

    \b
    quartet lost runs/ugolki-sprt-1a2b3c4d --player new --stderr
    quartet replay ugolki runs/ugolki-sprt-1a2b3c4d/games/000017.log
    """
    plan, results = read(folder)
    names = [player["name"] for player in plan["players"]]
    if player is not None and player not in names:
        raise QuartetError(f"no player is called {player!r}; there are: {', '.join(names)}")
    forfeits: list[dict[str, Any]] = []
    for result in sorted(results, key=lambda result: result.number):
        printed = folder / stderr_name(result.number)
        for forfeit in result.forfeits:
            name = names[result.seats[forfeit.seat]]
            if player in {None, name}:
                has_text = stderr and printed.exists()
                forfeits.append(
                    {
                        "game": result.number,
                        "log": str(folder / log_name(result.number)),
                        "ply": forfeit.ply,
                        "player": name,
                        "verdict": forfeit.verdict,
                        "reason": forfeit.reason,
                        "overloaded": result.overloaded,
                        "stderr": printed.read_text(encoding="utf-8") if has_text else "",
                    }
                )
    if as_json:
        print(json.dumps(forfeits, indent=2))
        return
    for line in forfeits:
        print("{log}, ply {ply}, {player}: {verdict}: {reason}".format_map(line))
        print("".join(f"    {text}\n" for text in line["stderr"].splitlines()), end="")
    print(f"{len(forfeits)} forfeited in {len(results)} games")
