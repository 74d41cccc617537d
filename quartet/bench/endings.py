"""What the players of recorded games gave away in the last plies, which an engine can solve.

`python -m quartet.bench.endings connexion runs/FOLDER` is the shape of it; the folder is one that
`quartet tournament` wrote.
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

import click
import msgspec
from rich.console import Console
from rich.progress import track
from rich.table import Table

from core.engine import SOLVE, can
from core.errors import QuartetError
from quartet import registry
from quartet.arena import records
from quartet.judge import game as games
from quartet.judge.logs.check import check

if TYPE_CHECKING:
    from quartet.judge.logs.check import CheckedLog


@dataclass
class Ledger:
    """What one player did.

    Attributes:
        lost: by game, what its moves took from the value of the ending; in points, or in results
            where a win is 1 and a loss -1.
        unsolved: games in which one of its moves could not be judged; they are in no other figure.
        turns: its moves that were judged; faults: those of them that gave something away, by ply.
    """

    lost: list[int] = field(default_factory=list)
    unsolved: int = 0
    turns: int = 0
    faults: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    def figures(self) -> dict[str, Any]:
        """As the command prints them."""
        games = len(self.lost)
        error = stdev(self.lost) / math.sqrt(games) if games > 1 else math.nan
        return {
            "games": games,
            "unsolved": self.unsolved,
            "without a fault": sum(lost == 0 for lost in self.lost),
            "turns": self.turns,
            "given away a game": round(fmean(self.lost), 3) if games else None,
            "error": None if math.isnan(error) else round(error, 3),
            "faults by ply": dict(sorted(self.faults.items())),
        }


def losses(
    engine: Any, log: CheckedLog, plies: int, nodes: int
) -> list[tuple[int, int, int | None]]:
    """Ply, seat and loss of the last moves of a game that came to its end; None for a loss that
    more than `nodes` would be needed for.

    The two sides must move in turn: what a position is worth is then minus what it is worth to who
    moved last.
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
    help="How many of the last ones are looked at.",
)
@click.option(
    "--nodes",
    type=click.IntRange(1),
    default=20_000_000,
    show_default=True,
    help="Bound of solving a position.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(game: str, run: Path, plies: int, nodes: int, as_json: bool) -> None:
    """Solve the last plies of every game of GAME in the records RUN, and print what each player
    gave away in them."""
    engine: Any = registry.load(game, "engine").Engine()
    if not can(engine, SOLVE):
        raise QuartetError(f"the engine of {game} solves no endings")
    rules = registry.load(game, "rules").Position
    plan, results = records.read(run)
    if plan["game"] != game:
        raise QuartetError(f"{run} holds games of {plan['game']}")
    ledgers: dict[str, Ledger] = {player["name"]: Ledger() for player in plan["players"]}
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
            ledger = ledgers[plan["players"][player]["name"]]
            own = {ply: loss for ply, mover, loss in moves if mover == seat}
            if None in own.values():
                ledger.unsolved += 1
                continue
            ledger.turns += len(own)
            ledger.lost.append(sum(loss or 0 for loss in own.values()))
            for ply, loss in own.items():
                ledger.faults[ply] += bool(loss)
    figures = {name: ledger.figures() for name, ledger in ledgers.items()}
    if as_json:
        print(msgspec.json.encode(figures).decode())
        return
    table = Table("player", *next(iter(figures.values())))
    for name, row in figures.items():
        faults = (
            ", ".join(f"{ply}: {number}" for ply, number in row["faults by ply"].items() if number)
            or "none"
        )
        table.add_row(
            name, *(str(value) for key, value in row.items() if key != "faults by ply"), faults
        )
    Console().print(table)


if __name__ == "__main__":
    try:
        command.main()
    except QuartetError as error:
        raise SystemExit(f"quartet: {error}") from None
