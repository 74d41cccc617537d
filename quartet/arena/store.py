"""The result store of every run: one folder, one plan, one line per finished unit of work.

    PLAN     what is done; a folder belongs to one run
    LINES    a JSON line per finished unit, appended when the unit ends
    GOAL     how many units the last command asked for, if the plan leaves that open
    lock     held by the process that works on the run

A unit is finished when its line, newline included, is in the file. Half a line at the end is the
unit that was being written when the process died: it is cut off, and the unit is done again.
Nothing is flushed to the disk itself: a killed process loses no finished unit, a power failure the
last few.
"""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, ClassVar, Generic, Protocol, Self, TypeVar

import msgspec

from core.errors import QuartetError, TextError
from quartet.arena.files import locked, write_whole
from quartet.judge.turn import UNREADABLE

PLANS = ("run.json", "plan.json")
"""File names of plans: of games, and of all other work."""
SELFPLAY_GAMES = 32
"""Games of a unit of self-play: at least half a second of work at a thousand nodes per move."""
GOAL = "goal.json"


class Numbered(Protocol):
    """The result of a unit, with the unit's number in the schedule."""

    @property
    def number(self) -> int:
        """The unit's place in the schedule, from 0."""
        ...


LineT = TypeVar("LineT")
NumberedT = TypeVar("NumberedT", bound=Numbered)


class LineFile(Generic[LineT]):
    """An append-only file of JSON lines, written by one process and read by any.

    Attributes:
        lines: The whole lines that the file held when it was opened.
        close: Close the file.
    """

    def __init__(self, path: Path, kind: type[LineT]) -> None:
        """Open or create a file of lines of one `kind`, and cut off half a line at its end.

        Raises:
            OSError: The file cannot be opened.
            TextError: A line cannot be read.
        """
        self._path = path
        self._file = path.open("a+b", buffering=0)
        self.close = self._file.close
        try:
            self._file.seek(0)
            data = self._file.read()
            self.lines = list(parse_lines(path, data, kind))
            self._file.truncate(data.rfind(b"\n") + 1)
        except BaseException:
            self._file.close()
            raise

    def append(self, line: object) -> None:
        """Write a line; when this returns, it survives the process. Raises OSError."""
        data = msgspec.json.encode(line) + b"\n"
        if self._file.write(data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def parse_lines(path: Path, data: bytes, kind: type[LineT]) -> Iterator[LineT]:
    """Yield the whole lines of a file's content. Raises TextError with the line's number."""
    decoder = msgspec.json.Decoder(kind)
    for number, line in enumerate(data[: data.rfind(b"\n") + 1].splitlines(), start=1):
        try:
            yield decoder.decode(line)
        except UNREADABLE as error:
            raise TextError(f"{path}, line {number}: {error}") from error


def read_lines(path: Path, kind: type[LineT]) -> list[LineT]:
    """Return the whole lines of a file, [] if it does not exist. Raises QuartetError, TextError."""
    try:
        return list(parse_lines(path, path.read_bytes(), kind))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise QuartetError(f"cannot read {path}: {error.strerror}") from error


def read_plan(file: Path) -> dict[str, Any]:
    """Return a run's plan. Raises QuartetError if there is none, TextError if it is damaged."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
    except OSError as error:
        raise QuartetError(f"{file.parent} holds no records of a run: {error.strerror}") from error
    except UNREADABLE as error:
        raise TextError(f"{file} cannot be read: {error}") from error


def read_goal(folder: Path) -> int | None:
    """Return the content of GOAL, None if there is no such file. Raises TextError."""
    try:
        return msgspec.json.decode((folder / GOAL).read_bytes(), type=int)
    except OSError:
        return None
    except UNREADABLE as error:
        raise TextError(f"{folder / GOAL} cannot be read: {error}") from error


class ResultStore(Generic[NumberedT]):
    """The open folder of a run: the one way to keep results and to resume after a kill.

    Games, reviews, calibrations and self-play subclass it. They say what a line holds and may
    write more files per unit.

    Attributes:
        PLAN: File name of the plan.
        LINES: File name of the lines.
        folder: The run's folder.
        plan: What is done, as JSON can hold it.
        done: The result of every finished unit, by its number.
        close: Release the folder.
    """

    PLAN: ClassVar[str] = PLANS[1]
    LINES: ClassVar[str] = "done.jsonl"

    def __init__(self, folder: Path, plan: Mapping[str, object], kind: type[NumberedT]) -> None:
        """Create the folder, or open it again to resume.

        Args:
            folder: The run's folder.
            plan: What is done. It must equal the plan of an existing folder.
            kind: Type of a line. Fields of the file that it lacks are not kept in memory.

        Raises:
            QuartetError: The folder belongs to another run, another process holds it, or it cannot
                be written.
            TextError: Its records are damaged.
        """
        self.folder, self.plan = folder, dict(plan)
        self.done: dict[int, NumberedT] = {}
        self._kind = kind
        with self.writing(), ExitStack() as opened:
            self._is_new = not folder.exists() or not any(folder.iterdir())
            folder.mkdir(parents=True, exist_ok=True)
            opened.callback(hold(folder).close)
            for name in PLANS:
                if name != self.PLAN and (folder / name).exists():
                    raise QuartetError(
                        f"{folder} holds another run ({name}); choose another folder with --out"
                    )
            check_plan(folder / self.PLAN, self.plan)
            for result in self._open(opened.callback):
                if result.number in self.done:
                    raise TextError(f"{folder} has unit {result.number} twice")
                self.done[result.number] = result
            self.close = opened.pop_all().close

    def _open(self, at_close: Callable[[Callable[[], None]], object]) -> list[NumberedT]:
        """Open the files, register how they are closed, and return the finished results."""
        self._lines = LineFile(self.folder / self.LINES, self._kind)
        at_close(self._lines.close)
        return self._lines.lines

    def add(self, ended: Any) -> None:
        """Keep what a worker returned, as `keep` does."""
        self.keep(ended.result)

    def keep(self, result: NumberedT, line: object = None) -> None:
        """Keep a result; when this returns, it survives the process.

        A result that is there already stays as it is.

        Args:
            result: What the run remembers of the unit.
            line: What is written, if that is more than `result`.

        Raises:
            QuartetError: It cannot be written.
        """
        if result.number in self.done:
            return
        with self.writing():
            self._lines.append(result if line is None else line)
        self.done[result.number] = result

    def keep_goal(self, units: int | None) -> None:
        """Keep the number of units that this command asks for; another may ask for more.

        Args:
            units: The number, None for no limit.

        Raises:
            QuartetError: It cannot be written.
        """
        with self.writing():
            if units is None:
                (self.folder / GOAL).unlink(missing_ok=True)
            else:
                write_whole(self.folder / GOAL, b"%d\n" % units)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Turn an OSError into a QuartetError that names the folder."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or error
            raise QuartetError(f"cannot keep results in {self.folder}: {reason}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Release the folder; remove a new one if an error came before the first result, so that
        the corrected command can have it."""
        self.close()
        if self._is_new and not self.done and isinstance(error, QuartetError):
            shutil.rmtree(self.folder, ignore_errors=True)


def check_plan(file: Path, plan: Mapping[str, object]) -> None:
    """Write a plan, or check that it equals the one in the file.

    Raises:
        QuartetError: The file holds another plan.
        OSError: It cannot be written.
    """
    if not file.exists():
        write_whole(file, msgspec.json.format(msgspec.json.encode(plan)) + b"\n")
        return
    other = read_plan(file)
    mine = msgspec.json.decode(msgspec.json.encode(plan))  # tuples become lists
    differences = [key for key in {**mine, **other} if mine.get(key) != other.get(key)]
    if differences:
        raise QuartetError(
            f"{file.parent} holds another run (not the same: {', '.join(differences)}); choose "
            "another folder with --out"
        )


def hold(folder: Path) -> BinaryIO:
    """Lock a run's folder for as long as this process lives.

    A process that only looks whether the run is active takes the lock for a moment; so wait for up
    to a second. Raises QuartetError if another process holds it.
    """
    until = time.monotonic() + 1
    while (file := locked(folder / "lock")) is None:
        if time.monotonic() > until:
            raise QuartetError(f"another process plays the run in {folder}")
        time.sleep(0.05)
    return file
