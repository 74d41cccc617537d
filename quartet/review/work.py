"""Work on many logs: pieces that are done once, on any workers, and kept line by line, so that it goes
on after a kill."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec

from core.errors import QuartetError, TextError
from quartet.arena.records import LINES, check_plan, hold
from quartet.judge.turn import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """A log that something is done with.

    Attributes:
        number: int; its place. game: str; empty where it is to be found out.
        name: str; the log's path. data: bytes; its content.
        complaint: str; why there is no content, empty where there is.
        engines: tuple[str, ...]. nodes: int | None; of each search, None for the usual ones.
        seed: int. positions: int; of a calibration: how many are asked about.
        shares: tuple[float, ...]; of a calibration: how the game ended.
        calibration: str; the file, empty for the game's.
        thresholds: tuple[float, ...]; of the labels. candidates: int; moves shown at a mistake.
    """

    number: int
    game: str
    name: str
    data: bytes
    complaint: str = ""
    engines: tuple[str, ...] = ("bot",)
    nodes: int | None = None
    seed: int = 0
    positions: int = 0
    shares: tuple[float, ...] = ()
    calibration: str = ""
    thresholds: tuple[float, ...] = ()
    candidates: int = 0

    def require_same(self, result: Any) -> None:
        """Raise QuartetError where a result is of another log."""
        if result["name"] != self.name:
            raise QuartetError(
                f"{result['name']} was done where {self.name} is to be; choose another folder"
            )


class Piece(msgspec.Struct, frozen=True):
    """What comes back from a worker.

    Attributes:
        number: int; of the unit. name: str; of its log. value: bytes; JSON.
    """

    number: int
    name: str
    value: bytes

    @property
    def result(self) -> dict[str, Any]:
        """What the run remembers of it."""
        return {"number": self.number, "name": self.name}


class Kept:
    """The open folder of such work.

    Attributes:
        folder: Path. done: dict[int, Any]; name of every log that is done, by its number.
        close: let others have the folder.
    """

    def __init__(self, folder: Path, plan: Mapping[str, object]) -> None:
        """Make the folder, or open it again. Raises QuartetError where it belongs to other work, or
        another process does it."""
        self.folder = folder
        self.done: dict[int, Any] = {}
        with ExitStack() as opened:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                opened.callback(hold(folder).close)
                check_plan(folder / "plan.json", dict(plan))
                self._file = opened.enter_context((folder / LINES).open("a+b"))
                self._file.seek(0)
                data = self._file.read()
                whole = data.rfind(b"\n") + 1
                self._file.truncate(whole)
            except OSError as error:
                raise QuartetError(
                    f"cannot keep results in {folder}: {error.strerror or error}"
                ) from error
            for number, line in enumerate(data[:whole].splitlines(), start=1):
                try:
                    found = msgspec.json.decode(line, type=Line)
                except UNREADABLE as error:
                    raise TextError(f"{folder / LINES}, line {number}: {error}") from error
                self.done[found.number] = {"number": found.number, "name": found.name}
            self.close = opened.pop_all().close

    def add(self, piece: Piece) -> None:
        """Keep what is done; when this returns, it is there whatever happens."""
        line = Line(piece.number, piece.name, msgspec.Raw(piece.value))
        try:
            self._file.write(msgspec.json.encode(line) + b"\n")
            self._file.flush()
        except OSError as error:
            raise QuartetError(f"cannot keep results in {self.folder}: {error.strerror}") from error
        self.done[piece.number] = piece.result

    def values(self) -> list[bytes]:
        """Everything that is done, in the order of the units; JSON."""
        lines = [
            msgspec.json.decode(line, type=Line)
            for line in (self.folder / LINES).read_bytes().splitlines()
        ]
        return [bytes(line.value) for line in sorted(lines, key=lambda line: line.number)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Line(msgspec.Struct, frozen=True):
    """A line of the file."""

    number: int
    name: str
    value: msgspec.Raw


LARGEST = 16 * 2**20
"""Bytes of a log; no game has so many."""


def read(path: Path) -> tuple[bytes, str]:
    """The content of a log; or nothing, and why."""
    try:
        size = path.stat().st_size
        if size > LARGEST:
            return b"", f"{size / 2**20:.0f} MB are no log of a game"
        return path.read_bytes(), ""
    except OSError as error:
        return b"", f"cannot be read: {error.strerror}"
