"""Positions and logs that requests name: of a match, an uploaded log, a game of a run, or a
text."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from core.errors import QuartetError
from core.rules import Move
from quartet.judge import game as games
from quartet.judge.game import JudgedGame, Start
from quartet.judge.logs.check import check, origin
from quartet.judge.logs.checked import CheckedLog
from quartet.judge.match import Match
from quartet.judge.process.words import printable
from quartet.judge.seats.engine import fast_rules
from quartet.web import openings, views
from quartet.web.data_folder import RECORD, DataFolder, Record
from quartet.web.errors import Refused
from quartet.web.payloads import Source

MAX_LOGS = 64 * 2**20
"""Bytes of all uploaded logs; the one that was uploaded first is dropped first."""
LOGS, LOG = "logs", "game.log"
NO_LOG = "this log is not on the server any more: drop it on the page again"
MAX_LINE = 400
"""Moves of a variation."""
HIDDEN = "what will be drawn is hidden until the game is over"


@dataclass(frozen=True)
class Located:
    """A position and its context.

    Attributes:
        game: Its game.
        position: The position, by the reference rules.
        options: Variants of the rules that hold after the start.
        absent: Empty seats.
        last: Seat and parts of the move before.
        secret: True if the game is running and its text would reveal what chance will give.
        move: The move before, in a variation.
    """

    game: JudgedGame
    position: Any
    options: dict[str, bool | int]
    absent: frozenset[int] = frozenset()
    last: views.Json | None = None
    secret: bool = False
    move: Move | None = None

    def shown(self) -> views.Json:
        """Return the position as the page shows it."""
        return views.position(self.game, self.position, self.last, secret=self.secret)

    def after(self, text: str) -> Located:
        """Return the position after a move. Raises QuartetError."""
        if self.secret:
            raise Refused(HIDDEN)
        scene, position = games.scene(self.game.info.name), self.position
        move = scene.read(text, position)
        last = {"seat": position.to_move, "parts": list(scene.parts(move, position))}
        position = position.play(move)
        while not position.over and position.to_move in self.absent:
            position = position.lose_turn()
        return replace(self, position=position, last=last, move=move)

    def written(self, parts: Sequence[str]) -> str:
        """Return the move with these parts as the judge writes it. Raises Refused."""
        scene = games.scene(self.game.info.name)
        return scene.write(views.move_of(scene, self.position, parts), self.position)

    def start(self) -> Start:
        """Return the start of a match that continues from here. Raises Refused."""
        if self.secret:
            raise Refused(HIDDEN)
        return Start(0, self.options, self.position.text())

    @property
    def shift(self) -> int:
        """The seat that comes first in such a match.

        A position whose text is written for the seat to move renumbers the seats.
        """
        parsed = self.start().position(self.game.position)
        return int(self.position.to_move - parsed.to_move) % self.game.info.players


class LogRecord(Record, kw_only=True):
    """An uploaded log in the data folder.

    Attributes:
        name: Name of the file.
        size: Bytes.
    """

    name: str
    size: int


class Sources:
    """Uploaded logs, and the log or position that a source names. Slow methods belong in a
    thread."""

    def __init__(
        self,
        folder: DataFolder,
        match_log: Callable[[str], tuple[bytes, bool]],
        run_log: Callable[[str, int], tuple[bytes, bool]],
        games_folder: Path | None = None,
    ) -> None:
        """The two functions return a log, and whether its game is running. They raise Refused.

        Args:
            folder: Has the uploaded logs.
            match_log: Takes the id of a match.
            run_log: Takes the name of a run and the number of a game.
            games_folder: Has further logs, at any depth.
        """
        self._folder = folder
        self._logs = dict(folder.records(LOGS, LogRecord))
        self._match_log, self._run_log = match_log, run_log
        self._games, self._files = games_folder, dict[str, Path]()

    def upload(self, data: bytes, name: str, match: Match) -> str:
        """Store the log of a match, and return its id, which depends on its content only."""
        key = hashlib.sha256(data).hexdigest()[:16]
        record = LogRecord(
            game=match.game.info.name,
            players=[*map(shown_name, match.names)],
            time=time.time(),
            name=name,
            size=len(data),
        )
        self._logs.pop(key, None)  # so that it becomes the newest
        self._logs[key] = record
        self._folder.write(LOGS, key, LOG, data)
        self._folder.write(LOGS, key, RECORD, record)
        while sum(log.size for log in self._logs.values()) > MAX_LOGS:
            self.remove(next(iter(self._logs)))
        return key

    def lines(self) -> list[views.Json]:
        """Return the list of uploaded logs, the newest first."""
        return [
            {"id": key, "name": log.name, "game": log.game, "players": log.players}
            for key, log in reversed(self._logs.items())
        ]

    def name(self, source: views.Json) -> str:
        """Return the name of an uploaded log; "" for other sources."""
        return self._logs[source["log"]].name if source.get("log") in self._logs else ""

    def remove(self, key: str) -> None:
        """Delete an uploaded log. Raises Refused."""
        if self._logs.pop(key, None) is None:
            raise Refused(NO_LOG, 404)
        self._folder.remove(LOGS, key)

    def data(self, source: Source) -> tuple[bytes, bool]:
        """Return a log, and whether its game is running. Raises QuartetError."""
        if source.match is not None:
            return self._match_log(source.match)
        if source.log is not None:
            if source.log not in self._logs:
                return self._in_games(source.log), False
            return self._folder.read(LOGS, source.log, LOG), False
        if source.run is not None and source.number is not None:
            return self._run_log(source.run, source.number)
        raise Refused("name a match, a log, or a run and the number of its game", 400)

    def _in_games(self, key: str) -> bytes:
        """Return a log in the folder of games. Raises Refused."""
        if self._games is not None and key not in self._files:
            self._files = openings.logs_in(self._games)
        try:
            return self._files[key].read_bytes()
        except (KeyError, OSError):
            raise Refused(NO_LOG, 404) from None

    def keyed(self, source: Source) -> tuple[Located, bytes]:
        """Return the position that a source names, and its key. Raises QuartetError."""
        root, *line = self.trail(source)
        game, rules = root.game, fast_rules(root.game.info.name)
        if root.secret:
            raise Refused(HIDDEN)
        if root.absent:
            raise Refused("games with an empty seat are not looked up")
        if source.game is not None:
            position = Start(source.seed, source.options, source.position).position(rules)
        else:
            positions = checked(self.data(source)[0], fast=True)[0].positions
            position = positions[-1 if source.step is None else source.step]
        for found in line:
            position = position.play(found.move)
        return (line or [root])[-1], openings.key_of(game, position, root.options)

    def finished(self, source: Source) -> bytes:
        """Return the log of a game that has ended. Raises QuartetError."""
        data, is_running = self.data(source)
        if is_running:
            raise Refused("the game is still running")
        return data

    def located(self, source: Source) -> Located:
        """Return the position that a source names. Raises QuartetError."""
        return self.trail(source)[-1]

    def trail(self, source: Source) -> list[Located]:
        """Return the position before the moves of a source, and after each of them."""
        if len(source.moves) > MAX_LINE:
            raise Refused(f"a variation has at most {MAX_LINE} moves", 413)
        found = [self._root(source)]
        for text in source.moves:
            found.append(found[-1].after(text))
        return found

    def _root(self, source: Source) -> Located:
        if source.game is not None:
            game = games.load(source.game)
            game.check_options(source.options)
            start = Start(source.seed, source.options, source.position)
            return Located(game, start.position(game.position), game.lasting(source.options))
        data, is_running = self.data(source)
        found, match = checked(data)
        game, steps = found.game, len(match.turns)
        step = steps if source.step is None else source.step
        if not 0 <= step <= steps:
            raise Refused(f"there is no step {step}: the game has {steps}", 404)
        last = None
        if step > 0 and (turn := match.turns[step - 1]).move is not None:
            parts = games.scene(game.info.name).parts(turn.move, found.positions[step - 1])
            last = {"seat": turn.seat, "parts": list(parts)}
        return Located(
            game,
            found.positions[step],
            game.lasting(match.start.options),
            frozenset(seat for seat, name in enumerate(match.names) if name is None),
            last,
            is_running and game.info.chance,
        )


def shown_name(name: str | None) -> str | None:
    """Return a player of a log as the page shows it."""
    return name and printable(name)


def composed(located: Located, board: Mapping[str, int] | None, to_move: int) -> views.Json:
    """Return the text of an edited position, the game's complaint about it, and the palette.

    Args:
        located: The position that was edited.
        board: Numbers in the palette by cell; None for the position's own text.
        to_move: The seat to move.

    Raises QuartetError for unknown cells, pieces and seats.
    """
    game, text = located.game, located.start().text or ""
    scene, seats = games.scene(game.info.name), range(game.info.players)
    cells = [cell.name for cell in scene.scene(located.position).cells]
    palette = list(scene.PALETTE)
    if board is not None:
        if to_move not in seats or not set(board) <= set(cells):
            raise QuartetError("this board has no such cell or seat")
        if not set(board.values()) <= set(range(len(palette))):
            raise QuartetError("there is no such piece")
        pieces = {cell: palette[number] for cell, number in board.items()}
        text = scene.compose(pieces, to_move, located.position)
    sample = {cells[0]: palette[0]}  # an empty board may look alike from every seat
    error = ""
    try:
        Start(0, located.options, text).position(game.position)
    except QuartetError as complaint:
        error = str(complaint)
    return {
        "text": text,
        "error": error,
        "implied": len({scene.compose(sample, seat, located.position) for seat in seats}) == 1,
        "palette": [[piece.owner, piece.text, piece.colour] for piece in palette],
    }


@lru_cache(maxsize=64)
def checked(data: bytes, *, fast: bool = False) -> tuple[CheckedLog, Match]:
    """Detect the game of a log, and check the log, by the reference rules or the fast ones.

    Returns the log, and its game played again as far as the log is correct.

    Raises QuartetError if the log has no start.
    """
    if not data.strip():
        raise QuartetError("the log is empty")
    name = origin(data)
    if name is None:
        raise QuartetError("this is not a log of a known game")
    found = check(games.load(name), data, rules=fast_rules(name) if fast else None)
    if found.match is None:
        raise QuartetError(found.complaint or "the log has no game")
    return found, found.match
