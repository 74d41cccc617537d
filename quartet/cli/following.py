"""The position that `quartet analyse` begins with: of a log at a ply, and after a line of moves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import QuartetError
from quartet import registry
from quartet.cli import drawing
from quartet.judge import game as games
from quartet.judge.logs.check import check, origin
from quartet.judge.seats.engine import fast_rules, shown

if TYPE_CHECKING:
    from quartet.judge.logs.check import CheckedLog


def is_log(name: str) -> bool:
    """Whether what stands where a game is expected is a log."""
    return name not in registry.GAMES and Path(name).is_file()


def game_of(log: str) -> str:
    """The game of a log. Raises QuartetError."""
    try:
        found = origin(Path(log).read_bytes())
    except OSError as error:
        raise QuartetError(f"cannot read {log}: {error.strerror}") from error
    if found is None:
        raise QuartetError(f"{log} is no log of a game that is known here")
    return found


def of_log(log: str, game: str, ply: int | None) -> tuple[Any, Any]:
    """The position of a log before a ply, by default the last one that is not over: on the fast
    rules, and on the reference rules, which are drawn. Raises QuartetError."""
    data = Path(log).read_bytes()
    known = games.load(game)
    checked = check(known, data)
    if checked.complaint is not None or checked.match is None:
        raise QuartetError(f"{log}: {checked.complaint}")
    truth = _at(checked, ply, log)
    rules = fast_rules(game)
    try:
        fast = check(known, data, rules=rules)
        if fast.agrees and len(fast.positions) == len(checked.positions):
            return fast.positions[checked.positions.index(truth)], truth
    except (QuartetError, AttributeError):  # the fast rules know no empty seats
        pass
    return shown(checked.match, truth, rules), truth


def _at(checked: CheckedLog, ply: int | None, log: str) -> Any:
    open_ones = [position for position in checked.positions if not position.over]
    for position in reversed(open_ones):
        if ply is None or position.ply == ply:
            return position
    known = [position.ply for position in open_ones]
    span = f"from ply {known[0]} to {known[-1]}" if known else "nowhere"
    raise QuartetError(f"{log}: nobody moves at ply {ply}; somebody does {span}")


def along(game: str, moves: str, position: Any, truth: Any) -> tuple[Any, Any]:
    """Both positions after a line of moves, as the judge writes them, with semicolons between.

    Raises TextError and IllegalMoveError that name the move.
    """
    scene = drawing.scenes(game)
    for number, text in enumerate(filter(None, map(str.strip, moves.split(";"))), start=1):
        try:
            move = scene.read(text, truth)
            position, truth = position.play(move), truth.play(move)
        except QuartetError as error:
            raise QuartetError(f"--moves, number {number}, {text!r}: {error}") from error
    return position, truth
