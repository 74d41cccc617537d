"""Logs and positions named on the command line: files, a log at a ply, a line of moves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.errors import QuartetError
from quartet import registry
from quartet.judge import game as games
from quartet.judge.logs.check import check, origin
from quartet.judge.logs.checked import CheckedLog
from quartet.judge.seats.engine import fast_rules, shown
from quartet.review.logged_game import LoggedGame

LOGS = (".txt", ".log", ".jsonl")
"""Suffixes of logs in a folder."""


def log_files(paths: Sequence[Path]) -> list[Path]:
    """Return logs, replacing a folder by its logs and the folder of a run by its games.

    Raises QuartetError if a folder has none.
    """
    found: list[Path] = []
    for path in paths:
        home = path / "games" if (path / "run.json").is_file() else path
        inside = [path]
        if path.is_dir():
            inside = sorted(file for file in home.iterdir() if file.suffix in LOGS)
        if not inside:
            raise QuartetError(f"{path}: there are no logs in this folder ({', '.join(LOGS)})")
        found += inside
    return found


def is_log(name: str) -> bool:
    """Return True if the argument for a game is the file of a log."""
    return name not in registry.GAMES and Path(name).is_file()


def game_of(log: str) -> str:
    """Return the game of a log. Raises QuartetError."""
    try:
        found = origin(Path(log).read_bytes())
    except OSError as error:
        raise QuartetError(f"cannot read {log}: {error.strerror}") from error
    if found is None:
        raise QuartetError(f"{log} is not a log of a known game")
    return found


def of_log(log: str, game: str, ply: int | None) -> tuple[Any, Any]:
    """Return the position of a log before a ply, by the fast rules and by the reference rules.

    Args:
        log: File of the log.
        game: Name of the game.
        ply: The ply; None for the last position in which a player is to move.

    Raises:
        QuartetError: The log disagrees with the rules, or has no such position.
    """
    data = Path(log).read_bytes()
    known = games.load(game)
    checked = check(known, data)
    if checked.complaint is not None or checked.match is None:
        raise QuartetError(f"{log}: {checked.complaint}")
    truth = _at(checked, ply, log)
    rules = fast_rules(game)
    logged = LoggedGame(known, checked, data, rules)
    position = logged.positions[checked.positions.index(truth)]
    if not isinstance(position, rules):  # the fast rules cannot replay this log
        position = shown(checked.match, truth, rules)
    return position, truth


def _at(checked: CheckedLog, ply: int | None, log: str) -> Any:
    open_ones = [position for position in checked.positions if not position.over]
    for position in reversed(open_ones):
        if ply is None or position.ply == ply:
            return position
    known = [position.ply for position in open_ones]
    span = f"it has moves from ply {known[0]} to {known[-1]}" if known else "it has no moves"
    raise QuartetError(f"{log}: no player moves at ply {ply}; {span}")


def along(game: str, moves: str, position: Any, truth: Any) -> tuple[Any, Any]:
    """Return both positions after a line of moves in the judge's notation.

    Args:
        game: Name of the game.
        moves: The moves, separated by semicolons.
        position: Position by the fast rules.
        truth: The same by the reference rules.

    Raises:
        QuartetError: A move cannot be read or is not legal; the message names it.
    """
    scene = games.scene(game)
    for number, text in enumerate(filter(None, map(str.strip, moves.split(";"))), start=1):
        try:
            move = scene.read(text, truth)
            position, truth = position.play(move), truth.play(move)
        except QuartetError as error:
            raise QuartetError(f"--moves, number {number}, {text!r}: {error}") from error
    return position, truth
