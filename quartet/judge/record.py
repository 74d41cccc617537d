"""The log of a game as JSON Lines: a header, a record for every turn that was taken, and the result
once the game has ended.

Every line is written at once, so that a judge that is killed loses nothing. What programs wrote is
kept byte for byte: one character for each byte (Latin-1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Self

import msgspec

from core.errors import QuartetError, TextError
from quartet.judge.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

VERSION = 1
"""The version of the format; a reader takes no other."""

Count = Annotated[int, msgspec.Meta(ge=0)]
Amount = Annotated[float, msgspec.Meta(ge=0)]


class Header(msgspec.Struct, frozen=True, tag="header", forbid_unknown_fields=True):
    """Who plays what.

    Attributes:
        game: name in the registry; version: VERSION.
        players: for every seat the program as it was named, None where nobody sits.
        seed: the game's seed; options: variants of the rules, as for `Position.start`.
        disqualify: whether the first lost turn puts a player out.
        seconds, megabytes: limits of a turn.
        date: when the game began, in ISO format.
    """

    game: str
    version: int
    players: tuple[str | None, ...]
    seed: int
    options: dict[str, bool | int]
    disqualify: bool
    seconds: Amount
    megabytes: Amount
    date: str


class Turn(msgspec.Struct, frozen=True, tag="turn", forbid_unknown_fields=True):
    """One turn of one seat. Turns of empty seats and of disqualified players leave no record.

    Attributes:
        ply, seat: when, and whose.
        input: the text that the program was sent.
        output: the beginning of its answer file (`folder.ANSWER_LIMIT` bytes), None when there was
            none.
        output_size: true size of the answer file in bytes.
        verdict, reason: what became of the turn; the reason may also remark on a turn that counted.
        move: the move in absolute coordinates, None when the turn was lost.
        seconds: wall clock; megabytes: peak of resident memory, in units of 2**20 bytes.
        exit: exit status of the program, -n for signal n, None when it did not end by itself.
        stderr: the beginning of its standard error; stderr_size: all of it, in bytes.
        left_behind: processes that it left running.
    """

    ply: Count
    seat: Count
    input: str
    output: str | None = None
    output_size: Count = 0
    verdict: Verdict = Verdict.OK
    reason: str = ""
    move: tuple[int, ...] | None = None
    seconds: Amount = 0.0
    megabytes: Amount = 0.0
    exit: int | None = None
    stderr: str = ""
    stderr_size: Count = 0
    left_behind: Count = 0


class Result(msgspec.Struct, frozen=True, tag="result", forbid_unknown_fields=True):
    """How the game ended; for every seat, with None where nobody sits.

    Attributes:
        plies: plies of the game, turns without a record included.
        scores: as the game counts them; places: from 1, shared by equals; shares: of the win, they
            add up to 1.
        lost: turns that were lost; disqualified: seats that are out.
    """

    plies: Count
    scores: tuple[int | None, ...]
    places: tuple[int | None, ...]
    shares: tuple[float, ...]
    lost: tuple[int, ...]
    disqualified: tuple[int, ...]


Record = Header | Turn | Result
_decoder: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)


class LogWriter:
    """Writes a log; the file is there, or QuartetError is raised, before anything is written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = path.open("wb")
        except OSError as error:
            raise QuartetError(f"cannot write the log {path}: {error.strerror}") from error

    def write(self, record: Record) -> None:
        """Append a line; when this returns the system has it. Raises QuartetError."""
        try:
            self._file.write(msgspec.json.encode(record) + b"\n")
            self._file.flush()
        except OSError as error:
            raise QuartetError(f"cannot write the log {self._path}: {error.strerror}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()


@dataclass(frozen=True)
class Log:
    """A log that was read.

    Attributes:
        turns: the turns; turn i stands on line i + 2 of the file.
        result: None when the judge was stopped before the end.
        cut: whether the last line is only the beginning of a line, which was dropped.
    """

    header: Header
    turns: Sequence[Turn]
    result: Result | None
    cut: bool = False


def read_log(data: bytes) -> Log:
    """The log in `data`, the whole content of a file. Raises TextError that names the line."""
    lines = data.split(b"\n")
    # A judge that is killed while it writes leaves a line without its end.
    cut = lines.pop() != b""
    records = [_decode(number, line) for number, line in enumerate(lines, start=1)]
    if not records:
        raise TextError(
            "line 1: the log is empty" if not data else "line 1: the header is incomplete"
        )
    header, *rest = records
    if not isinstance(header, Header):
        raise TextError(f"line 1: a log begins with its header, not with a {_tag(header)}")
    if header.version != VERSION:
        raise TextError(
            f"line 1: the log has format version {header.version}; this program reads version {VERSION}"
        )
    result = None
    turns = []
    for number, record in enumerate(rest, start=2):
        if result is not None:
            raise TextError(f"line {number}: nothing may follow the result")
        if isinstance(record, Header):
            raise TextError(f"line {number}: there is a header only on line 1")
        if isinstance(record, Result):
            result = record
        else:
            turns.append(record)
    if cut and result is not None:
        raise TextError(f"line {len(lines) + 1}: nothing may follow the result")
    return Log(header, turns, result, cut)


def _decode(number: int, line: bytes) -> Record:
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise TextError(f"line {number}: {error}") from error


def _tag(record: Record) -> str:
    return type(record).__name__.lower()
