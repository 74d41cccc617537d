"""The records of played games: the result store of a run of games, and its files.

    run.json        the plan
    games.jsonl     a line per finished game; this file is the truth
    games/N.log     the log of game N in the judge's format
    games/N.err     standard error of its programs, if they wrote any
    live/N.jsonl    the turns so far of game N, which is running; others may read it
    lock            held by the process that plays

The log of a game is complete before its line is written. `quartet.arena.store` says how a run
resumes.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from core.errors import QuartetError, TextError
from quartet.arena.config import GameUnit
from quartet.arena.files import write_whole
from quartet.arena.store import PLANS, ResultStore, parse_lines, read_plan
from quartet.arena.unit import GameResult, Played

LIVE = "live"
"""The folder in a run's folder with a file for every running game."""


class Records(ResultStore[GameResult]):
    """The open folder of a run of games."""

    PLAN = PLANS[0]
    LINES = "games.jsonl"

    def __init__(self, folder: Path, plan: Mapping[str, object]) -> None:
        """Create the folder, or open it again to resume. Raises as `ResultStore` does."""
        super().__init__(folder, plan, GameResult)

    def _open(self, at_close: Callable[[Callable[[], None]], object]) -> list[GameResult]:
        shutil.rmtree(self.folder / LIVE, ignore_errors=True)  # of games that a kill interrupted
        (self.folder / LIVE).mkdir()
        (self.folder / "games").mkdir(exist_ok=True)
        return super()._open(at_close)

    def add(self, played: Played) -> None:
        """Keep a game with its log; when this returns, it survives the process.

        A game that is there already stays as it is. Raises QuartetError if it cannot be written.
        """
        number = played.result.number
        if number in self.done:
            return
        with self.writing():
            write_whole(self.folder / log_name(number), played.log)
            if played.stderr:
                stderr = played.stderr.encode("utf-8", "replace")
                write_whole(self.folder / stderr_name(number), stderr)
        self.keep(played.result)
        with self.writing(), suppress(PermissionError):  # on Windows, while another reads it
            (self.folder / live_name(number)).unlink(missing_ok=True)

    def live(self, unit: GameUnit) -> str:
        """Return the path of the file to which a running game appends its turns."""
        return str((self.folder / live_name(unit.number)).resolve())


def live_name(number: int) -> str:
    """Return the path, in the run's folder, of the turns of a running game."""
    return f"{LIVE}/{number:06}.jsonl"


def log_name(number: int) -> str:
    """Return the path, in the run's folder, of a game's log."""
    return f"games/{number:06}.log"


def stderr_name(number: int) -> str:
    """Return the path, in the run's folder, of the standard error of a game's programs."""
    return f"games/{number:06}.err"


def read(folder: Path) -> tuple[dict[str, Any], list[GameResult]]:
    """Return the plan and the finished games of a run, which may be running.

    Raises:
        QuartetError: The folder holds no run.
        TextError: Its records are damaged: a line cannot be read, a game is recorded twice or has a
            player that the plan does not have, or the plan's players are not a list.
    """
    plan = read_plan(folder / Records.PLAN)
    file = folder / Records.LINES
    try:
        results = list(parse_lines(file, file.read_bytes(), GameResult))
    except OSError as error:
        raise QuartetError(f"{folder} holds no records of a run: {error.strerror}") from error
    listed = plan.get("players", [])
    if not isinstance(listed, list):
        raise TextError(f"{folder}: the players of the run are not a list")
    players, numbers = range(len(listed)), set()
    for game in results:
        if game.number in numbers:
            raise TextError(f"{folder}: game {game.number} is recorded twice")
        if players and not all(player in players for player in game.seats):
            raise TextError(f"{folder}: game {game.number} has a player that the run does not have")
        numbers.add(game.number)
    return plan, results
