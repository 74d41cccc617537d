"""`quartet lost`: every turn and every game that was forfeited in a tournament or a sequential
test, and why."""

from __future__ import annotations

import json
from pathlib import Path

import click

from core.errors import QuartetError
from quartet.arena.records import log_name, read, stderr_name


@click.command(short_help="Show what was forfeited in a run, and why.")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--player", help="Only what this player forfeited.")
@click.option(
    "--stderr",
    is_flag=True,
    help="Print what the programs of these games said on standard error, too.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else.")
def command(folder: Path, player: str | None, stderr: bool, as_json: bool) -> None:
    """List the forfeited turns and games in FOLDER, the records of a run: the game's log, the ply,
    the player, and the reason.

    \b
    quartet lost runs/ugolki-sprt-1a2b3c4d --player new --stderr
    quartet replay ugolki runs/ugolki-sprt-1a2b3c4d/games/000017.log
    """
    plan, results = read(folder)
    names = [player["name"] for player in plan["players"]]
    if player is not None and player not in names:
        raise QuartetError(f"nobody is called {player!r}; there are: {', '.join(names)}")
    fouls = []
    for result in sorted(results, key=lambda result: result.number):
        said = folder / stderr_name(result.number)
        for foul in result.fouls:
            name = names[result.seats[foul.seat]]
            if player in {None, name}:
                found: dict[str, object] = {
                    "game": result.number,
                    "log": str(folder / log_name(result.number)),
                    "ply": foul.ply,
                    "player": name,
                    "verdict": foul.verdict,
                    "reason": foul.reason,
                    "overloaded": result.overloaded,
                }
                found["stderr"] = (
                    said.read_text(encoding="utf-8") if stderr and said.exists() else ""
                )
                fouls.append(found)
    if as_json:
        print(json.dumps(fouls, indent=2))
        return
    for found in fouls:
        print(
            f"{found['log']}, ply {found['ply']}, {found['player']}: {found['verdict']}: "
            f"{found['reason']}"
        )
        print("".join(f"    {line}\n" for line in str(found["stderr"]).splitlines()), end="")
    print(f"{len(fouls)} forfeited in {len(results)} games")
