"""The records of a run: a folder from which it goes on after it was killed at any moment.

    run.json        what is played: a folder is for one run only
    games.jsonl     a line for every finished game; this file is the truth
    games/N.log     the log of game N in the judge's format
    games/N.err     what its programs said on standard error, where they said anything
    index.sqlite    the same for questions: tables `games` and `seats`, made anew from games.jsonl
                    where they differ
    live/N.jsonl    the turns so far of game N, which goes on; others may read it
    lock            held by the process that plays

A game is finished when its line, newline included, is in games.jsonl; its log is whole by then.
Half a line at the end is the game that
was being written when the process died: it is cut off, and the game played again. Nothing is forced
onto the disk: a killed process loses nothing by that, a machine without power the last few games.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import msgspec

from core.errors import QuartetError, TextError
from quartet.arena.files import locked, write_whole
from quartet.arena.unit import GameResult, Played, Unit
from quartet.judge.turn import UNREADABLE

LIVE = "live"
"""The folder in a run's folder in which games that go on append their turns."""
LINES = "done.jsonl"
"""The file of a review's or a calibration's folder with a line for everything that is done."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS games (
    number INTEGER PRIMARY KEY, block INTEGER, seed INTEGER, plies INTEGER, seconds REAL, log TEXT);
CREATE TABLE IF NOT EXISTS seats (
    number INTEGER REFERENCES games, seat INTEGER, player INTEGER, name TEXT, score INTEGER, place INTEGER, share REAL,
    turns INTEGER, seconds REAL, nodes INTEGER, lost INTEGER, PRIMARY KEY (number, seat));
"""


class Records:
    """The open folder of a run.

    Attributes:
        folder: where; plan: what is played; done: every finished game, by its number.
        close: let others have the folder.
    """

    def __init__(self, folder: Path, plan: dict[str, object], names: list[str]) -> None:
        """Make the folder, or open it again. `plan` says what is played, as JSON can hold it;
        `names` are the players'.

        Raises QuartetError where the folder belongs to another run, or another process plays it, or
        it cannot be written.
        """
        self.folder, self.plan = folder, plan
        self.done: dict[int, GameResult] = {}
        self._names = names
        with ExitStack() as opened:
            try:
                (folder / "games").mkdir(parents=True, exist_ok=True)
                opened.callback(hold(folder).close)
                shutil.rmtree(folder / LIVE, ignore_errors=True)  # of games that were broken off
                (folder / LIVE).mkdir()
                check_plan(folder / "run.json", plan)
                self._games = opened.enter_context((folder / "games.jsonl").open("a+b"))
                self._read()
                self._index = self._open_index()
            except (OSError, sqlite3.Error) as error:
                raise QuartetError(
                    f"cannot keep records in {folder}: {getattr(error, 'strerror', None) or error}"
                ) from error
            opened.callback(self._index.close)
            self.close = opened.pop_all().close

    def add(self, played: Played) -> None:
        """Record a game; when this returns, it is there whatever happens. A game that is there
        already is left as it is."""
        result = played.result
        if result.number in self.done:
            return
        try:
            write_whole(self.folder / log_name(result.number), played.log)
            if played.stderr:
                write_whole(
                    self.folder / stderr_name(result.number),
                    played.stderr.encode("utf-8", "replace"),
                )
            self._games.write(msgspec.json.encode(result) + b"\n")
            self._games.flush()
            self.done[result.number] = result
            with suppress(PermissionError):  # on Windows, while somebody reads it
                (self.folder / live_name(result.number)).unlink(missing_ok=True)
            with self._index:
                self._insert(self._index, result)
        except (OSError, sqlite3.Error) as error:
            raise QuartetError(
                f"cannot keep records in {self.folder}: {getattr(error, 'strerror', None) or error}"
            ) from error

    def live(self, unit: Unit) -> str:
        """The file to which a game appends its turns while it goes on."""
        return str((self.folder / live_name(unit.number)).resolve())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _read(self) -> None:
        """Read the finished games; what is added goes behind them."""
        self._games.seek(0)
        data = self._games.read()
        whole = data.rfind(b"\n") + 1
        for number, line in enumerate(data[:whole].splitlines(), start=1):
            try:
                result = msgspec.json.decode(line, type=GameResult)
            except UNREADABLE as error:
                raise TextError(f"{self.folder / 'games.jsonl'}, line {number}: {error}") from error
            if result.number in self.done:
                raise TextError(
                    f"{self.folder / 'games.jsonl'}, line {number}: game {result.number} is there "
                    "twice"
                )
            self.done[result.number] = result
        self._games.truncate(whole)

    def _open_index(self) -> sqlite3.Connection:
        path = self.folder / "index.sqlite"
        try:
            return self._filled(path)
        except sqlite3.DatabaseError:  # it is no database, or of another shape
            for name in (path, path.with_name(path.name + "-journal")):
                name.unlink(missing_ok=True)
            return self._filled(path)

    def _filled(self, path: Path) -> sqlite3.Connection:
        """The index, with all games that are finished and no others."""
        index = sqlite3.connect(path, timeout=60)
        try:
            index.execute("PRAGMA synchronous = OFF")  # it can be made anew
            index.executescript(SCHEMA)
            there = {number for (number,) in index.execute("SELECT number FROM games")}
            with index:
                if not there <= self.done.keys():
                    index.execute("DELETE FROM games")
                    index.execute("DELETE FROM seats")
                    there = set()
                for number in self.done.keys() - there:
                    try:
                        self._insert(index, self.done[number])
                    except (IndexError, OverflowError) as error:
                        file = self.folder / "games.jsonl"
                        raise TextError(f"{file}: game {number}: {error}") from error
        except BaseException:
            index.close()
            raise
        return index

    def _insert(self, index: sqlite3.Connection, result: GameResult) -> None:
        index.execute(
            "INSERT INTO games VALUES (?, ?, ?, ?, ?, ?)",
            (
                result.number,
                result.block,
                result.seed,
                result.plies,
                result.seconds,
                log_name(result.number),
            ),
        )
        index.executemany(
            "INSERT INTO seats VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    result.number,
                    seat,
                    player,
                    self._names[player],
                    result.scores[seat],
                    result.places[seat],
                    result.shares[seat],
                    use.turns,
                    use.seconds,
                    use.nodes,
                    sum(use.lost.values()),
                )
                for seat, (player, use) in enumerate(zip(result.seats, result.use, strict=True))
            ],
        )


def live_name(number: int) -> str:
    """The turns so far of a game that goes on, relative to the folder."""
    return f"{LIVE}/{number:06}.jsonl"


def log_name(number: int) -> str:
    """The log of a game, relative to the folder."""
    return f"games/{number:06}.log"


def stderr_name(number: int) -> str:
    """What the programs of a game said, relative to the folder; there only if they said
    anything."""
    return f"games/{number:06}.err"


def read(folder: Path) -> tuple[dict[str, Any], list[GameResult]]:
    """The plan and the finished games of a run, which may be going on. Raises TextError and
    QuartetError."""
    try:
        plan = msgspec.json.decode((folder / "run.json").read_bytes(), type=dict[str, Any])
        data = (folder / "games.jsonl").read_bytes()
        return plan, [
            msgspec.json.decode(line, type=GameResult)
            for line in data[: data.rfind(b"\n") + 1].splitlines()
        ]
    except OSError as error:
        raise QuartetError(f"{folder} holds no records of a run: {error.strerror}") from error
    except UNREADABLE as error:
        raise TextError(f"{folder} holds records that cannot be read: {error}") from error


def check_plan(file: Path, plan: dict[str, object]) -> None:
    """Write down what is played, or see that it is what the file says. Raises QuartetError, and
    OSError where it cannot be written."""
    if not file.exists():
        write_whole(file, msgspec.json.format(msgspec.json.encode(plan)) + b"\n")
        return
    try:
        other = msgspec.json.decode(file.read_bytes(), type=dict[str, object])
    except UNREADABLE as error:
        raise QuartetError(f"{file} is no plan of a run: {error}") from error
    differences = [key for key in {**plan, **other} if plan.get(key) != other.get(key)]
    if differences:
        raise QuartetError(
            f"{file.parent} holds another run (not the same: {', '.join(differences)}); choose "
            "another folder with --out"
        )


def hold(folder: Path) -> BinaryIO:
    """Play the run in this folder, alone, as long as this process lives. Raises QuartetError where
    another process does."""
    file = locked(folder / "lock")
    if file is None:
        raise QuartetError(f"another process plays the run in {folder}")
    return file
