"""The log of any game as JSON Lines: a header, a record for every turn, and in the end the result.

Every line is written at once: a judge that is killed loses nothing, and others can follow a running
game. Answer files are kept byte for byte, a character for each byte (Latin-1); standard error is
read as UTF-8.
"""

from __future__ import annotations

import datetime as dt
from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import msgspec

from core.errors import QuartetError, TextError
from quartet.judge.game import JudgedGame, Start
from quartet.judge.match import Match
from quartet.judge.table import TableRules, table_rules
from quartet.judge.turn import UNREADABLE, Amount, Result, Turn, decode, encode

VERSION = 1
"""Version of the format; a reader rejects any other."""


class Header(msgspec.Struct, frozen=True, tag="header", forbid_unknown_fields=True):
    """The first line of a log.

    Attributes:
        game: Name of the game.
        version: VERSION.
        players: Program on each seat, as it was named; None for an empty seat.
        seed: Seed of the game.
        options: Variants of the rules, as for `Position.start`.
        disqualify: True if the first forfeited turn disqualifies a player.
        seconds: Clock for a turn, or for the whole game.
        megabytes: Limit of a program's memory.
        date: When the game began, in ISO format.
        position: The start; empty if it is the one of the seed.
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

    def table(self, game: JudgedGame) -> TableRules:
        """Return the table rules of the game."""
        ms = [1000 * self.seconds] * game.info.players
        return table_rules(game.info, ms=ms, megabytes=self.megabytes, disqualify=self.disqualify)

    def start(self) -> Start:
        """Return the start of the game."""
        return Start(self.seed, self.options, self.position or None)


Record = Header | Turn | Result
_decoder: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record, dec_hook=decode)
_encoder = msgspec.json.Encoder(enc_hook=encode)


def header(match: Match) -> Header:
    """Return the header of a match that begins now."""
    table = match.table
    return Header(
        game=match.game.info.name,
        version=VERSION,
        players=match.names,
        seed=match.start.seed,
        options=dict(match.start.options),
        disqualify=table.penalty == "out",
        seconds=max(table.clocks) / 1000,
        megabytes=table.megabytes or 0.0,
        date=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        position=match.start.text or "",
    )


def line(record: msgspec.Struct) -> bytes:
    """Return a record as a line of a log, with its end."""
    return _encoder.encode(record) + b"\n"


class JsonLog:
    """A watcher that keeps a log in memory.

    Attributes:
        data: The log so far.
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
    """A watcher that writes a log to a file; when a method returns, the system has the line."""

    def __init__(self, path: Path) -> None:
        """Open the file. Raises QuartetError."""
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

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class Log:
    """The content of a log.

    Attributes:
        header: The first line.
        turns: The turns; turn i is on line i + 2 of the file.
        result: The result; None if the judge was stopped before the end.
        cut: True if the last line was incomplete; it was dropped.
    """

    header: Header
    turns: Sequence[Turn]
    result: Result | None
    cut: bool = False


def begins(data: bytes) -> bool:
    """Return True if a file begins like a log in this format."""
    return data.removeprefix(BOM_UTF8).lstrip()[:1] == b"{"


def read_log(data: bytes) -> Log:
    """Return the log in the content of a file. Raises TextError that names the line."""
    lines = data.removeprefix(BOM_UTF8).split(b"\n")
    # A judge that is killed while it writes leaves an incomplete line.
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
    """Return the record on a line with this number. Raises TextError."""
    try:
        return _decoder.decode(text)
    except UnicodeDecodeError as error:
        raise TextError(f"line {number}: this is not UTF-8 text") from error
    except UNREADABLE as error:
        raise TextError(f"line {number}: {error}") from error


def _tag(record: Record) -> str:
    return type(record).__name__.lower()
