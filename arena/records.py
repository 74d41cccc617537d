"""The records of a run: a folder from which it goes on after it was killed at any moment.

    run.json        what is played: a folder is for one run only
    games.jsonl     a line for every finished game; this file is the truth
    games/N.jsonl   the log of game N in the judge's format
    index.sqlite    the same for questions: tables `games` and `seats`, made anew from games.jsonl where they differ
    lock            held by the process that plays

A game is finished when its line, newline included, is in games.jsonl; its log is whole by then. Half a line at the end is the game that
was being written when the machine or the process died: it is cut off, and the game played again.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import msgspec

from arena.unit import GameResult, Played
from core.errors import QuartetError, TextError

SCHEMA = """
CREATE TABLE IF NOT EXISTS games (
    number INTEGER PRIMARY KEY, block INTEGER, seed INTEGER, plies INTEGER, seconds REAL, log TEXT);
CREATE TABLE IF NOT EXISTS seats (
    number INTEGER REFERENCES games, seat INTEGER, contender INTEGER, name TEXT, score INTEGER, place INTEGER, share REAL,
    turns INTEGER, seconds REAL, nodes INTEGER, lost INTEGER, PRIMARY KEY (number, seat));
"""


class Records:
    """The open folder of a run.

    Attributes:
        folder: where; done: every finished game, by its number.
    """

    def __init__(self, folder: Path, plan: dict[str, object], names: list[str]) -> None:
        """Make the folder, or open it again. `plan` says what is played, as JSON can hold it; `names` are the contenders'.

        Raises QuartetError where the folder belongs to another run, or another process plays it, or it cannot be written.
        """
        self.folder = folder
        self.done: dict[int, GameResult] = {}
        self._names = names
        try:
            (folder / "games").mkdir(parents=True, exist_ok=True)
            self._lock = _lock(folder / "lock")
            self._check(plan)
            self._games = self._read(folder / "games.jsonl")
        except OSError as error:
            raise QuartetError(f"cannot keep records in {folder}: {error.strerror or error}") from error
        self._index = self._open_index()

    def add(self, played: Played) -> None:
        """Record a game; when this returns, it is there whatever happens. A game that is there already is left as it is."""
        result = played.result
        if result.number in self.done:
            return
        try:
            write_whole(self.folder / log_name(result.number), played.log)
            self._games.write(msgspec.json.encode(result) + b"\n")
            self._games.flush()
            os.fsync(self._games.fileno())
        except OSError as error:
            raise QuartetError(f"cannot keep records in {self.folder}: {error.strerror or error}") from error
        self.done[result.number] = result
        with self._index:
            self._insert(result)

    def close(self) -> None:
        """Let others have the folder."""
        self._index.close()
        self._games.close()
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _check(self, plan: dict[str, object]) -> None:
        path = self.folder / "run.json"
        if not path.exists():
            write_whole(path, msgspec.json.format(msgspec.json.encode(plan)) + b"\n")
            return
        try:
            other = msgspec.json.decode(path.read_bytes())
        except msgspec.DecodeError as error:
            raise QuartetError(f"{path} is no plan of a run: {error}") from error
        differences = [key for key in {**plan, **other} if plan.get(key) != other.get(key)]
        if differences:
            raise QuartetError(
                f"{self.folder} holds another run (not the same: {', '.join(differences)}); choose another folder with --out"
            )

    def _read(self, path: Path) -> BinaryIO:
        """Read the finished games, and open the file to append more."""
        file = path.open("a+b")
        file.seek(0)
        data = file.read()
        whole = data.rfind(b"\n") + 1
        try:
            for number, line in enumerate(data[:whole].splitlines(), start=1):
                result = msgspec.json.decode(line, type=GameResult)
                if result.number in self.done:
                    raise TextError(f"{path}, line {number}: game {result.number} is there twice")
                self.done[result.number] = result
        except msgspec.DecodeError as error:
            file.close()
            raise TextError(f"{path}, line {number}: {error}") from error
        file.truncate(whole)
        return file

    def _open_index(self) -> sqlite3.Connection:
        path = self.folder / "index.sqlite"
        try:
            index = self._filled(path)
        except sqlite3.DatabaseError:
            for name in (path, path.with_name(path.name + "-journal")):
                name.unlink(missing_ok=True)
            index = self._filled(path)
        return index

    def _filled(self, path: Path) -> sqlite3.Connection:
        """The index, with all games that are finished and no others."""
        self._index = sqlite3.connect(path)
        self._index.executescript(SCHEMA)
        there = {number for (number,) in self._index.execute("SELECT number FROM games")}
        with self._index:
            if not there <= self.done.keys():
                self._index.execute("DELETE FROM games")
                self._index.execute("DELETE FROM seats")
                there = set()
            for number in self.done.keys() - there:
                self._insert(self.done[number])
        return self._index

    def _insert(self, result: GameResult) -> None:
        self._index.execute(
            "INSERT INTO games VALUES (?, ?, ?, ?, ?, ?)",
            (result.number, result.block, result.seed, result.plies, result.seconds, log_name(result.number)),
        )
        self._index.executemany(
            "INSERT INTO seats VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    result.number, seat, contender, self._names[contender], result.scores[seat], result.places[seat], result.shares[seat],
                    use.turns, use.seconds, use.nodes, sum(use.lost.values()),
                )
                for seat, (contender, use) in enumerate(zip(result.seats, result.use, strict=True))
            ],
        )  # fmt: skip


def log_name(number: int) -> str:
    """The log of a game, relative to the folder."""
    return f"games/{number:06}.jsonl"


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is never there in part. Raises OSError."""
    draft = path.with_name(path.name + ".new")  # one name for all attempts: a killed one leaves nothing that piles up
    with draft.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _lock(path: Path) -> BinaryIO:
    """Hold a file as long as this process lives. Raises QuartetError where another process holds it."""
    file = path.open("a+b")
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise QuartetError(f"another process plays the run in {path.parent}") from None
    return file
