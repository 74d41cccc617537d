"""Measure the errors of players in the last plies of recorded games, by an engine that solves them.

    python -m tests.bench.endgames connexion runs/FOLDER

`quartet tournament` writes such a folder.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.progress import track
from rich.table import Table

from core.commands.program import execute
from core.engine import SOLVE, can
from core.errors import QuartetError
from quartet import registry
from quartet.arena import records
from quartet.judge import game as games
from quartet.judge.logs.check import check
from quartet.judge.logs.checked import CheckedLog


@dataclass
class EndgameErrors:
    """The errors of one player.

    Attributes:
        lost: Per game, the loss of value by its moves; in points, or in results of 1 for a win and
            -1 for a loss.
        unsolved: Games in which a position was not solved. No other figure includes them.
        turns: Its judged moves.
        by_ply: Ply -> number of its moves that lost value.
    """

    lost: list[int] = field(default_factory=list)
    unsolved: int = 0
    turns: int = 0
    by_ply: Counter[int] = field(default_factory=Counter)

    def figures(self) -> dict[str, Any]:
        """Return the figures that the command prints."""
        games = len(self.lost)
        error = stdev(self.lost) / math.sqrt(games) if games > 1 else math.nan
        return {
            "games": games,
            "unsolved": self.unsolved,
            "without an error": sum(lost == 0 for lost in self.lost),
            "turns": self.turns,
            "given away a game": round(fmean(self.lost), 3) if games else None,
            "standard error": None if math.isnan(error) else round(error, 3),
            "errors by ply": dict(sorted(self.by_ply.items())),
        }


def losses(
    engine: Any, log: CheckedLog, plies: int, nodes: int
) -> list[tuple[int, int, int | None]]:
    """Return ply, seat and loss of the last moves of a finished game.

    A loss is None if a position needs more than `nodes`. The two sides must alternate: a position's
    value for the side to move is then minus its value for the other side.
    """
    positions: list[Any] = log.positions[-1 - plies :]
    values = [engine.solve(position, nodes) for position in positions]
    return [
        (position.ply, position.to_move, None if None in two else sum(two))
        for position, two in zip(positions, pairwise(values), strict=False)
    ]


@click.command()
@click.argument("game")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--plies",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Number of last plies to solve.",
)
@click.option(
    "--nodes",
    type=click.IntRange(1),
    default=20_000_000,
    show_default=True,
    help="Node limit per position.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(game: str, run: Path, plies: int, nodes: int, as_json: bool) -> None:
    """Solve the last plies of every game of GAME in the folder RUN, and print what each player lost
    in them."""
    engine: Any = registry.load(game, "engine").Engine()
    if not can(engine, SOLVE):
        raise QuartetError(f"the engine of {game} solves no endings")
    rules = registry.load(game, "rules").Position
    plan, results = records.read(run)
    if plan["game"] != game:
        raise QuartetError(f"{run} holds games of {plan['game']}")
    errors: dict[str, EndgameErrors] = {
        player["name"]: EndgameErrors() for player in plan["players"]
    }
    for result in track(
        results, "solving", console=Console(stderr=True), disable=not sys.stderr.isatty()
    ):
        log = run / records.log_name(result.number)
        try:
            data = log.read_bytes()
        except OSError as error:
            raise QuartetError(f"cannot read {log}: {error.strerror}") from error
        checked = check(games.load(game), data, rules=rules)
        if not checked.agrees:
            raise QuartetError(f"{log}, {checked.complaint}")
        if not checked.positions[-1].over:
            continue
        moves = losses(engine, checked, plies, nodes)
        for seat, player in enumerate(result.seats):
            own_errors = errors[plan["players"][player]["name"]]
            own = {ply: loss for ply, mover, loss in moves if mover == seat}
            if None in own.values():
                own_errors.unsolved += 1
                continue
            own_errors.turns += len(own)
            own_errors.lost.append(sum(loss or 0 for loss in own.values()))
            own_errors.by_ply.update({ply: bool(loss) for ply, loss in own.items()})
    figures = {name: one.figures() for name, one in errors.items()}
    if as_json:
        print(msgspec.json.encode(figures).decode())
        return
    table = Table("player", *next(iter(figures.values())))
    for name, row in figures.items():
        by_ply = (
            ", ".join(f"{ply}: {number}" for ply, number in row["errors by ply"].items() if number)
            or "none"
        )
        table.add_row(
            name, *(str(value) for key, value in row.items() if key != "errors by ply"), by_ply
        )
    Console().print(table)


if __name__ == "__main__":
    execute(command)
