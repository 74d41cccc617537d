"""The data folder of the page's server: what survives its end."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
import platformdirs

from core.errors import QuartetError
from quartet.arena.files import locked, write_whole
from quartet.judge.turn import UNREADABLE

DATA = "QUARTET_DATA"
"""Environment variable that names the data folder."""
SERVER, RECORD = "server.json", "record.json"
RecordT = TypeVar("RecordT", bound="Record")


class Access(msgspec.Struct, frozen=True):
    """How browsers reach the server.

    Attributes:
        token: Secret that every request must have.
        port: Port that the server listens to; 0 if it has not listened yet.
    """

    token: Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9_-]{20,}$")]
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 0


class Record(msgspec.Struct, kw_only=True):
    """What is known of a game, a log or a review without reading the whole of it.

    Attributes:
        game: Name of the game.
        players: Names, None for an empty seat.
        time: When it was made, in seconds since 1970.
    """

    game: str
    players: list[str | None]
    time: float


def default_folder() -> Path:
    """Return the folder that is used unless another one is named."""
    named = os.environ.get(DATA)
    return Path(named) if named else platformdirs.user_data_path("quartet", False)


class DataFolder:
    """A data folder, which one server uses at a time.

    Every entry has a folder KIND/ID with `record.json` and other files. Files are written to a
    draft that is then renamed. Only the log of a running game grows in place, by whole lines.

    Attributes:
        path: The folder.
    """

    def __init__(self, path: Path) -> None:
        """Lock the folder. Raises QuartetError if another server uses it."""
        self.path, self._closed, self._complained = path, False, False
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = locked(path / "lock")
        except OSError as error:
            raise QuartetError(f"cannot use the data folder {path}: {error.strerror}") from error
        if lock is None:
            raise QuartetError(
                f"another server uses the data folder {path}: end it, or name another with --data"
            )
        self._lock = lock

    def freeze(self) -> None:
        """Write nothing any more, but keep the folder from the next server."""
        self._closed = True

    def close(self) -> None:
        """Write nothing any more; the next server may use the folder."""
        self.freeze()
        self._lock.close()

    def access(self) -> Access:
        """Return how browsers reached the last server, or a new token."""
        path = self.path / SERVER
        if path.exists():
            try:
                return msgspec.json.decode(path.read_bytes(), type=Access)
            except (OSError, *UNREADABLE) as error:
                self.skip(path, error)
        return Access(secrets.token_urlsafe(24))

    def set_access(self, access: Access) -> None:
        """Note how browsers reach this server, for its owner only."""
        self._write(self.path / SERVER, msgspec.json.encode(access), private=True)

    def records(self, kind: str, type_: type[RecordT]) -> Iterator[tuple[str, RecordT]]:
        """Yield the id and the record of every entry of a kind, the oldest first."""
        found = []
        for path in self.path.glob(f"{kind}/*/{RECORD}"):
            try:
                record = msgspec.json.decode(path.read_bytes(), type=type_)
            except (OSError, *UNREADABLE) as error:
                self.skip(path, error)
            else:
                found.append((path.parent.name, record))
        yield from sorted(found, key=lambda entry: entry[1].time)

    def skip(self, path: Path, error: object) -> None:
        """Report a damaged file. It stays as it is."""
        print(f"quartet: skipped the damaged file {path}: {error}", file=sys.stderr, flush=True)

    def read(self, kind: str, id_: str, name: str) -> bytes:
        """Return a file of an entry. Raises QuartetError."""
        path = self.path / kind / id_ / name
        try:
            return path.read_bytes()
        except OSError as error:
            raise QuartetError(f"cannot read {path}: {error.strerror}") from error

    def write(self, kind: str, id_: str, name: str, data: bytes | Record) -> bool:
        """Write a file of an entry; return False if it could not be written."""
        data = data if isinstance(data, bytes) else msgspec.json.encode(data)
        return self._write(self.path / kind / id_ / name, data)

    def append(self, kind: str, id_: str, name: str, data: bytes) -> bool:
        """Append lines to a file of an entry; return False if a part of them may be missing."""
        return self._write(self.path / kind / id_ / name, data, appends=True)

    def remove(self, kind: str, id_: str) -> None:
        """Delete an entry, if there is one."""
        if not self._closed:
            folder = self.path / kind / id_
            (folder / RECORD).unlink(missing_ok=True)  # first: without it there is no entry
            shutil.rmtree(folder, ignore_errors=True)

    def _write(
        self, path: Path, data: bytes, *, private: bool = False, appends: bool = False
    ) -> bool:
        """Write or append to a file; return False if that failed.

        Only the first failure is reported: games continue in memory.
        """
        if self._closed:
            return True
        try:
            if appends:
                with path.open("ab") as file:
                    file.write(data)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, data, private=private)
        except OSError as error:
            if not self._complained:
                why = error.strerror
                text = f"quartet: cannot write {path}: {why}; games may be lost with the server"
                print(text, file=sys.stderr, flush=True)
            self._complained = True
            return False
        return True
