"""Openings: which games have reached a position, and what was played in it.

A worker reads logs in the background, the newest first. For every position of a game it keeps the
key and the number of the move, 12 bytes, in memory only.
"""

from __future__ import annotations

import hashlib
import heapq
import math
import os
import threading
import time
import zlib
from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.errors import QuartetError
from core.rules import Move
from quartet.arena import catalogue, records
from quartet.arena.curves import mean_and_error
from quartet.judge import game as games
from quartet.judge.game import JudgedGame
from quartet.judge.logs import jsonl
from quartet.judge.logs.check import check
from quartet.judge.logs.jsonl import Log
from quartet.judge.seats.engine import fast_rules
from quartet.judge.state import GameState
from quartet.web.payloads import MAX_LOG
from quartet.web.views import Json

KEY = 8
"""Bytes of a key."""
LIST_EVERY = 2.0
"""Seconds between two checks for new games."""
WAIT = 0.3
"""Seconds that an answer waits for games that are being read."""


@dataclass(frozen=True)
class Folders:
    """Where the games are.

    Attributes:
        runs: Has a folder for each run.
        own: By the name of a source, the pattern of the files with an entry's log.
        games: Has logs at any depth.
    """

    runs: Path | None
    own: Mapping[str, tuple[Path, str]]
    games: Path | None


@dataclass(frozen=True)
class Found:
    """A log.

    Attributes:
        source: How the page names it.
        file: Its file.
        time: When it was written.
        name: Name of the log; "" if it has none.
        players: Names, if a run's records have them.
        shares: Win shares, if a run's records have them.
    """

    source: Json
    file: Path
    time: float
    name: str = ""
    players: Sequence[str | None] | None = None
    shares: Sequence[float] | None = None


def logs_in(folder: Path) -> dict[str, Path]:
    """Return the files at any depth in a folder, by ids that depend on their paths in it."""
    files = (Path(at, name) for at, _, names in os.walk(folder) for name in names)
    return {
        hashlib.sha256(path.relative_to(folder).as_posix().encode()).hexdigest()[:16]: path
        for path in files
        if os.path.isfile(path)  # noqa: PTH113  (Path.is_file can raise)
    }


def key_of(game: JudgedGame, position: Any, options: Mapping[str, bool | int]) -> bytes:
    """Return the key of a position by the fast rules. Variants of the rules have other keys."""
    known = game.info.options
    other = {
        name: value
        for name, value in sorted(options.items())
        if not known[name].of_start and value != known[name].default
    }
    variant = zlib.crc32(repr(other).encode()) << 32 if other else 0
    return int(position.key ^ variant).to_bytes(KEY, "little")


class Openings:
    """The indexes of a worker, by game."""

    def __init__(self) -> None:
        self._indexes: dict[str, Index] = {}

    def answer(self, task: Json) -> Json:
        """Return what is known of a position."""
        if not self._indexes and hasattr(os, "nice"):
            os.nice(10)  # matches need the cores
        name = task["game"]
        index = self._indexes.setdefault(name, Index(games.load(name), task["folders"]))
        index.refresh()
        return index.found(task["key"], task["seat"], task["limit"])


class Index:
    """The games of one kind that have been read."""

    def __init__(self, game: JudgedGame, folders: Folders) -> None:
        self._game, self._folders = game, folders
        self._rules = fast_rules(game.info.name)
        self._keys = bytearray()
        self._played = array("I")  # number of the move in each position, from 1; 0: none
        self._starts = array("Q")  # number of the first position of each game
        self._games: list[Found] = []
        self._numbers: dict[Move, int] = {}
        self._number: dict[Path, int] = {}  # of the game in a file
        self._useless: dict[Path, float] = {}  # other files, with their times
        self._runs: dict[Path, tuple[int, list[Found]]] = {}
        self._gone: set[int] = set()
        self._left = 0
        self._lock = threading.Lock()
        self._reader = threading.Thread()  # not started
        self._listed = -math.inf

    def refresh(self) -> None:
        """Read what is new, in the background. The first time, wait a moment for it."""
        is_first = self._listed == -math.inf
        if not self._reader.is_alive() and time.monotonic() > self._listed + LIST_EVERY:
            self._left = -1 if is_first else 0
            self._reader = threading.Thread(target=self._update, daemon=True)
            self._reader.start()
            if is_first:
                self._reader.join(WAIT)

    def found(self, key: bytes, seat: int, limit: int) -> Json:
        """Return the moves of a position, and its last games.

        Args:
            key: Key of the position.
            seat: The seat to move.
            limit: Number of games.
        """
        with self._lock:
            hits = dict(self._hits(key))
            shares: dict[int, list[float]] = defaultdict(list)
            for game, at in hits.items():
                shares[self._played[at]].append((self._games[game].shares or ())[seat])
            names = ((), *self._numbers)
            moves = [
                {"move": names[number], **_figures(own)} for number, own in shares.items() if number
            ]
            last = heapq.nlargest(limit, hits, key=lambda game: self._games[game].time)
            return {
                "read": len(self._games) - len(self._gone),
                "left": self._left,
                "all": _figures([share for own in shares.values() for share in own]),
                "moves": sorted(moves, key=lambda move: -move["games"]),
                "games": [
                    {
                        "source": self._games[game].source,
                        "name": self._games[game].name,
                        "players": self._games[game].players,
                        "shares": self._games[game].shares,
                        "time": self._games[game].time,
                        "step": hits[game] - self._starts[game],
                        "move": names[self._played[hits[game]]] or None,
                    }
                    for game in last
                ],
            }

    def _hits(self, key: bytes) -> Iterator[tuple[int, int]]:
        """Yield each game with the position, and the number of its first position that is this."""
        at = self._keys.find(key)
        while at >= 0:
            position, shift = divmod(at, KEY)
            if shift:
                at = self._keys.find(key, at + 1)
                continue
            game = bisect_right(self._starts, position) - 1
            if game not in self._gone:
                yield game, position
            following = self._starts[game + 1] if game + 1 < len(self._starts) else position + 1
            at = self._keys.find(key, KEY * following)

    def _update(self) -> None:
        try:
            self._read_new()
        finally:
            self._left, self._listed = 0, time.monotonic()

    def _read_new(self) -> None:
        found = {log.file: log for log in self._list()}
        with self._lock:
            self._gone = {n for file, n in self._number.items() if file not in found}
        new = [
            log
            for file, log in found.items()
            if file not in self._number and self._useless.get(file) != log.time
        ]
        new.sort(key=lambda log: log.time, reverse=True)
        for self._left, log in zip(range(len(new), 0, -1), new, strict=True):
            self._useless[log.file] = log.time
            with suppress(QuartetError, OSError, LookupError, ValueError):
                self._add(log)

    def _list(self) -> Iterator[Found]:
        """Yield all logs that may be of the game."""
        folders = self._folders
        for run in folders.runs.iterdir() if folders.runs and folders.runs.is_dir() else ():
            with suppress(QuartetError, OSError, LookupError, TypeError):
                if catalogue.is_run(run):
                    yield from self._of_run(run)
        for name, (folder, pattern) in folders.own.items():
            for file in folder.glob(pattern):
                with suppress(OSError):
                    yield Found({name: file.parent.name}, file, file.stat().st_mtime)
        for id_, file in (logs_in(folders.games) if folders.games else {}).items():
            with suppress(OSError):
                if file.stat().st_size <= MAX_LOG:
                    name = file.relative_to(folders.games or "").as_posix()
                    yield Found({"log": id_}, file, file.stat().st_mtime, name)

    def _of_run(self, run: Path) -> list[Found]:
        """Return the games of a run; [] if they are of another game."""
        size = (run / records.Records.LINES).stat().st_size
        if self._runs.get(run, (-1,))[0] != size:
            plan, results = records.read(run)
            own: list[Found] = []
            for result in results if plan.get("game") == self._game.info.name else ():
                file = run / records.log_name(result.number)
                names = [plan["players"][player]["name"] for player in result.seats]
                source = {"run": run.name, "number": result.number}
                with suppress(OSError):
                    name = f"{run.name}/{result.number}"
                    time_ = file.stat().st_mtime
                    own.append(Found(source, file, time_, name, names, result.shares))
            self._runs[run] = size, own
        return self._runs[run][1]

    def _add(self, log: Found) -> None:
        """Read a log. Raises QuartetError, OSError and more if it cannot be read."""
        data = log.file.read_bytes()
        if jsonl.begins(data):
            read = jsonl.read_log(data)
            if read.header.game != self._game.info.name or read.result is None:
                return
            names, shares, options = read.header.players, read.result.shares, read.header.options
            positions, moves = self._replay(read)
        elif self._game.info.lines is None:
            return
        else:
            checked = check(self._game, data, rules=self._rules)
            match = checked.match
            if match is None or match.result is None or not checked.agrees:
                return
            names, shares, options = match.names, match.result.shares, dict(match.start.options)
            positions, moves = checked.positions, [turn.move for turn in checked.turns]
        if None in names or len(shares) != len(names):
            return
        keys = b"".join(key_of(self._game, position, options) for position in positions)
        if self._game.info.move_aliases:
            pairs = zip(positions, moves, strict=False)
            moves = [move and position.canonical(move) for position, move in pairs]
        with self._lock:
            self._number[log.file] = len(self._games)
            del self._useless[log.file]
            self._games.append(
                replace(log, players=log.players or names, shares=log.shares or shares)
            )
            self._starts.append(len(self._played))
            self._keys += keys
            numbers = self._numbers
            self._played.extend(
                numbers.setdefault(tuple(move), len(numbers) + 1) if move else 0 for move in moves
            )
            self._played.append(0)

    def _replay(self, log: Log) -> tuple[list[Any], list[Move | None]]:
        """Return the positions and moves of a log of this project, by the fast rules."""
        first = log.header.start().position(self._rules)
        table, clocked = log.header.table(self._game), [False] * self._game.info.players
        state = GameState(self._game, table, first, clocked)
        positions = [state.apply(turn) for turn in log.turns]
        return [*positions, state.position], [turn.move for turn in log.turns]


def _figures(shares: list[float]) -> Json:
    """Return the number of games, the mean win share and its 95 % error; None if unknown."""
    mean, error = mean_and_error(shares) if shares else (math.nan, math.nan)
    return {
        "games": len(shares),
        "share": catalogue.known(round(mean, 4)),
        "error95": catalogue.known(round(error, 4)),
    }
