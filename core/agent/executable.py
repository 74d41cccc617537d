"""What an executable file of ours does beside playing: settings from a file beside it,
`--selftest`, and cleaning up after killed runs.

`build/start.py` calls it. Nothing here may be slow to import, fail, or take more than a millisecond
before the game's agent begins.
"""

from __future__ import annotations

import os
import sys
import time

from core.agent.files import FAILED, complain
from core.native.clock import unpacked_itself

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SETTINGS = "quartet.ini"
"""A text file beside the executable. `target = 0.4` in it means what QUARTET_TARGET=0.4 in the
environment does, which goes first."""

MARK = "quartet.lock"
"""The first file that an executable of ours unpacks: it tells our folders from other programs', and
who has locked it, lives."""
FOLDER = "_MEI"
"""What the names of such folders begin with, in the system's place for temporary files."""
OLD = 60
"""Seconds. A younger folder may belong to a process that is about to lock it; that takes
milliseconds."""
BUDGET = 0.001
"""Seconds that looking for such folders, and removing them, may take, but for the last step, of
which there is always one: so the next start gets further, on the slowest machine."""


def run(main: Callable[[list[str]], int], arguments: list[str]) -> int:
    """All that the executable does; gives its exit status. `main` is the agent."""
    read_settings(os.path.join(os.path.dirname(sys.executable), SETTINGS), os.environ)
    if unpacked_itself():
        # PyInstaller's name for its folder.
        clean_up(str(sys._MEIPASS))  # type: ignore[attr-defined]  # noqa: SLF001
    try:
        if arguments[:1] == ["--selftest"]:
            from core.agent.selftest import main as selftest  # noqa: PLC0415

            return selftest(arguments[1:])
        return main(arguments)
    except SystemExit as end:  # of the parser of arguments, which has said why
        return end.code if isinstance(end.code, int) else 0 if end.code is None else FAILED
    except Exception as error:  # noqa: BLE001  (a user gets a line, not a traceback)
        complain(f"internal error: {type(error).__name__}: {error}")
        return FAILED


def read_settings(path: str, environment: os._Environ[str] | dict[str, str]) -> None:
    """Lines `name = value` become QUARTET_NAME in the environment, where it is not set yet. No
    file, or a strange one: no settings."""
    try:
        with open(path, "rb") as file:
            data = file.read(1 << 16)
    except OSError:
        return
    # Notepad writes a mark at the beginning, or UTF-16.
    text = data.decode(
        "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "replace"
    ).removeprefix("\ufeff")
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        name = name.strip().upper()
        if equals and name.isidentifier():
            environment.setdefault("QUARTET_" + name, value.strip())


def clean_up(own: str) -> int:
    """Lock our own folder, and remove what killed runs have left beside it, within BUDGET; gives
    the number of folders removed.

    A folder goes only if it bears our mark, nobody has locked that (which the system undoes when a
    process dies, however it dies, and which counts in every container that shares the folder), and
    it is not so young that its process may still be about to.
    """
    deadline, removed = time.perf_counter() + BUDGET, 0
    try:
        # never closed: it is held for as long as we live
        _lock(os.open(os.path.join(own, MARK), os.O_RDWR))
        with os.scandir(os.path.dirname(own)) as places:
            for place in places:
                if (
                    place.name.startswith(FOLDER)
                    and place.name != os.path.basename(own)
                    and place.is_dir(follow_symlinks=False)
                ):
                    removed += _remove_left(place.path, deadline)
                if time.perf_counter() > deadline:
                    break
    except OSError:
        pass
    return removed


def _remove_left(folder: str, deadline: float) -> bool:
    """Remove a folder of a run that is over; False where it is none, or where time is up."""
    mark = os.path.join(folder, MARK)
    try:
        number = os.open(mark, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return False
    try:
        if time.time() - os.fstat(number).st_mtime < OLD:
            return False
        _lock(number)
        empty = _remove_content(folder, deadline)
    except OSError:
        return False
    finally:
        os.close(number)  # Windows removes no open file
    if empty:
        try:
            os.unlink(mark)
            os.rmdir(folder)
        except OSError:
            return False
    return empty


def _remove_content(folder: str, deadline: float) -> bool:
    """Remove all but the mark, which goes last. Whether it is done; raises OSError."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name == MARK:
                continue
            if entry.is_dir(follow_symlinks=False):
                if not _remove_content(entry.path, deadline):
                    return False
                os.rmdir(entry.path)
            else:
                os.unlink(entry.path)
            if time.perf_counter() > deadline:
                return False
    return True


if sys.platform == "win32":

    def _lock(number: int) -> None:
        """Raises OSError where another process has locked this open file."""
        import msvcrt  # noqa: PLC0415

        msvcrt.locking(number, msvcrt.LK_NBLCK, 1)

else:

    def _lock(number: int) -> None:
        """Raises OSError where another process has locked this open file."""
        os.lockf(number, os.F_TLOCK, 0)
