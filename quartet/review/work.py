"""Tasks on many logs, and the folder that keeps their results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from core.errors import QuartetError
from quartet.arena.store import ResultStore, read_lines
from quartet.review.document import THRESHOLDS

MAX_BYTES = 16 * 2**20
"""Size of the largest log that is read; real ones are far smaller."""


class LogTask(msgspec.Struct, frozen=True, kw_only=True):
    """A log to review, or to take calibration samples from.

    Attributes:
        number: Place in the list of logs.
        game: Name of the game; "" to detect it.
        name: Path of the log.
        data: Content of the log.
        complaint: Why there is no content; "" if there is.
        engines: Names of the engines to ask.
        nodes: Nodes per search; None for those of the calibration.
        calibration: File of calibrations; "" for the game's.
        thresholds: Of the labels.
        candidates: Moves listed if the move played lost the first threshold or more.
        positions: Samples to take, for a calibration.
        seed: Of the choice of samples.
        shares: Win share of every seat at the end of the game, for a calibration.
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
    thresholds: tuple[float, ...] = THRESHOLDS
    candidates: int = 0

    def require_same(self, result: FinishedLog) -> None:
        """Raise QuartetError if a result is that of another log."""
        if result.name != self.name:
            raise QuartetError(
                f"the folder has the result of {result.name} in place of {self.name}; "
                "choose another folder with --out"
            )


class FinishedLog(msgspec.Struct, frozen=True):
    """What a run remembers of a finished task: its number and the name of its log."""

    number: int
    name: str


class LogResult(FinishedLog, frozen=True):
    """What a worker returns, and a line of the file: a finished task and its JSON value."""

    value: msgspec.Raw

    @property
    def result(self) -> FinishedLog:
        """What the run remembers of it."""
        return FinishedLog(self.number, self.name)


class ResultFolder(ResultStore[FinishedLog]):
    """The open folder of a run over many logs."""

    def __init__(self, folder: Path, plan: Mapping[str, object]) -> None:
        """Create the folder, or open it again to resume. Raises as ResultStore does."""
        super().__init__(folder, plan, FinishedLog)

    def add(self, result: LogResult) -> None:
        """Keep a result. Raises QuartetError if it cannot be written."""
        self.keep(result.result, result)

    def values(self) -> list[bytes]:
        """Return the JSON values of all finished tasks, ordered by number."""
        lines = read_lines(self.folder / self.LINES, LogResult)
        return [bytes(line.value) for line in sorted(lines, key=lambda line: line.number)]


def read(path: Path) -> tuple[bytes, str]:
    """Return the content of a log, and "" or the reason why it cannot be read."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            return b"", f"too large for a log: {size / 2**20:.0f} MB (limit: 16 MB)"
        return path.read_bytes(), ""
    except OSError as error:
        return b"", f"cannot be read: {error.strerror}"
