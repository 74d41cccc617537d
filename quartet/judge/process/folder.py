"""The private folder in which a program runs during a game, as on the contest's server.

Files that the program leaves there stay. The program may do anything to the folder between two
moves: replace files by directories, pipes and links, remove permissions, delete it. No function
here blocks, follows a link of the program's, or reads more than it must.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from core.errors import QuartetError

ANSWER_LIMIT = 4096
"""Bytes of an answer file that are read; legal answers are far shorter."""

# O_NONBLOCK: opening a pipe returns at once. O_NOFOLLOW: a link is not opened. Windows has neither,
# and needs neither.
_READ = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_BINARY", 0)
)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True)
class AnswerFile:
    """What was found in place of the answer file.

    Attributes:
        data: Its first ANSWER_LIMIT bytes; None if there is no readable file.
        size: Its size in bytes.
        problem: What there is instead of a file, in one sentence; or None.
    """

    data: bytes | None
    size: int = 0
    problem: str | None = None


class ProgramFolder:
    """A temporary folder; `close` removes it. Raises QuartetError if it cannot be made."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._numbers = count()
        self._make()

    def prepare(self, input_name: str, text: str, output_name: str) -> None:
        """Write the program's input, and remove an old answer. Raises QuartetError."""
        try:
            self._prepare(input_name, text, output_name)
        except OSError:
            # The program has made the folder unusable; it gets a new one.
            self.close()
            self._make()
            try:
                self._prepare(input_name, text, output_name)
            except OSError as error:
                raise QuartetError(
                    f"cannot write {input_name} for {self._name}: {error.strerror}"
                ) from error

    def read(self, name: str) -> AnswerFile:
        """Read what the program left as `name`, whatever it is; never block, never raise."""
        path = self.path / name
        try:
            mode = path.lstat().st_mode
            if not stat.S_ISREG(mode):
                return AnswerFile(None, problem=f"{name} is {_kind(mode)}, not a file")
            descriptor = os.open(path, _READ)
            with os.fdopen(descriptor, "rb") as file:
                return AnswerFile(file.read(ANSWER_LIMIT), os.fstat(descriptor).st_size)
        except FileNotFoundError:
            return AnswerFile(None, problem=f"there is no {name}")
        except OSError as error:
            return AnswerFile(None, problem=f"{name} cannot be read: {error.strerror}")

    def close(self) -> None:
        """Remove the folder with its content, as far as the system allows."""
        with suppress(OSError, RecursionError):
            for parent, folders, files in os.walk(self._home):
                for entry in (*folders, *files):
                    path = Path(parent, entry)
                    if not path.is_symlink():
                        path.chmod(stat.S_IRWXU)
        with suppress(RecursionError):
            shutil.rmtree(self._home, ignore_errors=True)

    def _make(self) -> None:
        try:
            self._home = Path(tempfile.mkdtemp(prefix="quartet-"))
            # One level down: the program's `..` is private too, and takes what is moved away.
            self.path = self._home / "program"
            self.path.mkdir()
        except OSError as error:
            raise QuartetError(
                f"cannot make a folder for {self._name}: {error.strerror}: {error.filename}"
            ) from error

    def _prepare(self, input_name: str, text: str, output_name: str) -> None:
        if not _is_directory(self.path):
            self._remove(self.path)
            self.path.mkdir()
        self.path.chmod(stat.S_IRWXU)
        self._remove(self.path / output_name)
        self._remove(self.path / input_name)
        with os.fdopen(os.open(self.path / input_name, _CREATE, 0o644), "wb") as file:
            file.write(text.encode())

    def _remove(self, path: Path) -> None:
        """Remove `path`, whatever it is. A directory is moved away as a whole: it may be too deep
        to walk."""
        if _is_directory(path):
            path.chmod(stat.S_IRWXU)
            path.rename(self._home / f"rubbish{next(self._numbers)}")
        else:
            path.unlink(missing_ok=True)


def _is_directory(path: Path) -> bool:
    """Return True if `path` is a directory, not a link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except FileNotFoundError:
        return False


def _kind(mode: int) -> str:
    names = {
        stat.S_IFDIR: "a directory",
        stat.S_IFIFO: "a pipe",
        stat.S_IFLNK: "a link",
        stat.S_IFSOCK: "a socket",
    }
    return names.get(stat.S_IFMT(mode), "a device")
