"""Our own log of a game, of any game, as JSON Lines: a header, a record for every turn that was
taken, and the result once the game has ended.

Every line is written at once, so that a judge that is killed loses nothing, and others can follow a
game that goes on. What programs wrote is kept byte for byte: one character for each byte (Latin-1).
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import msgspec

from core.errors import QuartetError, TextError
from quartet.judge.turn import UNREADABLE, Amount, Result, Turn, decode, encode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

    from quartet.judge.match import Match

VERSION = 1
"""The version of the format; a reader takes no other."""


class Header(msgspec.Struct, frozen=True, tag="header", forbid_unknown_fields=True):
    """Who plays what.

    Attributes:
        game: str; its name in the registry. version: int; VERSION.
        players: for every seat the program as it was named, None where nobody sits.
        seed: int; of the game. options: variants of the rules, as for `Position.start`.
        disqualify: bool; whether the first lost turn puts a player out.
        seconds, megabytes: float; limits of a turn, or of a game where clocks are for the game.
        date: str; when the game began, in ISO format.
        position: str; the start where it is not the one of the seed, else empty.
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
    position: str = ""


Record = Header | Turn | Result
_decoder: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record, dec_hook=decode)
_encoder = msgspec.json.Encoder(enc_hook=encode)


def header(match: Match) -> Header:
    """The header of a match that begins now."""
    table = match.table
    return Header(
        game=match.game.info.name,
        version=VERSION,
        players=match.names,
        seed=match.start.seed,
        options=dict(match.start.options),
        disqualify=table.foul == "out",
        seconds=max(table.clocks) / 1000,
        megabytes=table.megabytes or 0.0,
        date=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        position=match.start.text or "",
    )


def line(record: msgspec.Struct) -> bytes:
    """A record as a line of a log, its end included."""
    return _encoder.encode(record) + b"\n"


class JsonLog:
    """Keeps a log in memory while a match goes on: a watcher.

    Attributes:
        data: bytearray; the log so far.
    """

    def __init__(self) -> None:
        self.data = bytearray()
        self._header = b""

    def begin(self, match: Match) -> None:
        self._header = line(header(match))
        self._write(self._header)

    def turn(self, match: Match, turn: Turn) -> None:
        del match
        self._write(line(turn))

    def taken_back(self, match: Match) -> None:
        self._again(self._header + b"".join(map(line, match.turns)))

    def end(self, match: Match) -> None:
        assert match.result is not None  # noqa: S101  (the game has ended)
        self._write(line(match.result))

    def _write(self, data: bytes) -> None:
        self.data += data

    def _again(self, data: bytes) -> None:
        self.data[:] = data


class JsonFile(JsonLog):
    """Writes a log into a file, line by line; when a method returns, the system has the line.

    The file is there, or QuartetError is raised, before anything is written.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        try:
            self._file = path.open("wb")
        except OSError as error:
            raise QuartetError(f"cannot write the log {path}: {error.strerror}") from error

    def _write(self, data: bytes) -> None:
        try:
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            raise QuartetError(f"cannot write the log {self._path}: {error.strerror}") from error

    def _again(self, data: bytes) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._write(data)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


@dataclass(frozen=True)
class Log:
    """A log that was read.

    Attributes:
        header: Header.
        turns: Sequence[Turn]; turn i stands on line i + 2 of the file.
        result: Result | None; None where the judge was stopped before the end.
        cut: bool; whether the last line is only the beginning of a line, which was dropped.
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
    records = [read_record(text, number) for number, text in enumerate(lines, start=1)]
    if not records:
        empty = "line 1: the log is empty" if not data else "line 1: the header is incomplete"
        raise TextError(empty)
    head, *rest = records
    if not isinstance(head, Header):
        raise TextError(f"line 1: a log begins with its header, not with a {_tag(head)}")
    if head.version != VERSION:
        raise TextError(
            f"line 1: the log has format version {head.version}; this program reads "
            f"version {VERSION}"
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
    return Log(head, turns, result, cut)


def read_record(text: bytes, number: int = 1) -> Record:
    """The record on a line, which has this number. Raises TextError."""
    try:
        return _decoder.decode(text)
    except UNREADABLE as error:
        raise TextError(f"line {number}: {error}") from error


def _tag(record: Record) -> str:
    return type(record).__name__.lower()
