"""`quartet replay`: go through the log of a game, and check that it is what the rules say."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

import registry
from core.errors import RuleError, TextError
from judge import check
from judge.record import read_log
from quartet.screen import Screen

if TYPE_CHECKING:
    from judge.record import Log
    from judge.table import Table


@click.command(short_help="Check the logs of games, and redraw them.")
@click.argument("game")
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="LOG...")
@click.option("--draw/--quiet", default=None, help="Draw every position, or only say what came out  [default: draw a single log].")
@click.option("--step", is_flag=True, help="Wait for a key after every move: i for the next one, p to run on, q to leave.")
@click.option("--delay", type=click.IntRange(min=0), default=0, metavar="MS", help="Wait so many milliseconds after every move.")
def command(game: str, logs: tuple[Path, ...], draw: bool | None, step: bool, delay: int) -> None:
    """Check each LOG of GAME against the reference rules, redraw it, and say in one line what came out.

    Checked are the text that every program was sent, what its answer was worth, the moves, and the result. The log of a game that
    was broken off is checked as far as it goes. Exit status 1: a log disagrees with the rules or cannot be read; the line names the
    place.
    """
    registry.load(game, "reference")  # an unknown game is an error of the command line, not of every log
    console = Console(highlight=False)
    draw = draw if draw is not None else len(logs) == 1
    screen = Screen(console, delay=delay / 1000, step=step) if draw or step else None
    failed = 0
    for path in logs:
        try:
            outcome = _replay(game, path, screen)
        except (TextError, RuleError) as error:
            outcome = str(error)
            failed += 1
        console.print(f"{path}: {outcome}", markup=False, soft_wrap=True)
    if failed:
        sys.exit(1)


def _replay(game: str, path: Path, screen: Screen | None) -> str:
    """Check one log; gives a sentence about it. Raises TextError or RuleError."""
    log = _read(path)
    if log.header.game != game:
        raise TextError(f"line 1: this is a game of {log.header.game!r}, not of {game!r}")
    table = check.open_table(log)
    if screen is not None:
        screen.show_start(table)
    for _, turn in check.turns(log, table):
        if screen is not None:
            screen.show(table, turn)
    return _sentence(log, table)


def _sentence(log: Log, table: Table) -> str:
    result = table.result()
    scores = " ".join("-" if score is None else str(score) for score in result.scores)
    places = " ".join("-" if place is None else str(place) for place in result.places)
    standing = f"{result.plies} plies, {table.game.info.score_name} {scores}, places {places}"
    if log.result is not None:
        return f"ok, {standing}"
    return f"ok as far as it goes (the game was broken off{', in the middle of a line' if log.cut else ''}), {standing}"


def _read(path: Path) -> Log:
    try:
        return read_log(path.read_bytes())
    except OSError as error:
        raise TextError(f"cannot be read: {error.strerror}") from error
