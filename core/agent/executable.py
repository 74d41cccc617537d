"""What an executable file does in addition to playing: read settings from a file next to it,
`--selftest`, and remove the folders of killed runs.

`build/start.py` calls `run`. This module imports fast, never fails, and takes at most a millisecond
before the game's agent begins.
"""

from __future__ import annotations

import os
import sys
import time

from core.agent.files import BAD_INPUT, FAILED, GOOD, complain
from core.native.clock import unpacked_itself

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SETTINGS = "quartet.ini"
"""A text file next to the executable. A line `target = 0.4` acts like QUARTET_TARGET=0.4 in the
environment, which has priority."""
NAMES = ("target", "early", "memory", "threads", "nodes", "seed", "info")
"""The settings of a file, which are those of the agents."""

MARK = "quartet.lock"
"""The first file that one of our executables unpacks. It marks the folder as ours; a lock on it
shows that the process is alive."""
FOLDER = "_MEI"
"""Prefix of such folders in the system's temporary folder."""
OLD = 60
"""Seconds. A younger folder may belong to a process that will lock it within milliseconds."""
BUDGET = 0.001
"""Seconds for finding and removing such folders. The last step may exceed it, and at least one step
is always made. So each start makes progress, even on the slowest machine."""


def run(main: Callable[[list[str]], int], arguments: list[str]) -> int:
    """Run the executable; `main` is the agent. Returns the exit status."""
    file = os.path.join(os.path.dirname(sys.executable), SETTINGS)
    understood = read_settings(file, os.environ)
    if unpacked_itself():
        # PyInstaller's name for its folder.
        clean_up(str(sys._MEIPASS))  # type: ignore[attr-defined]  # noqa: SLF001
    try:
        if arguments[:1] == ["--selftest"]:
            from core.agent.selftest import main as selftest  # noqa: PLC0415

            return selftest(arguments[1:])
        return main(arguments) or (GOOD if understood else BAD_INPUT)
    except SystemExit as end:  # from argparse, which has printed the reason
        return end.code if isinstance(end.code, int) else 0 if end.code is None else FAILED
    except Exception as error:  # noqa: BLE001  (a user gets a line, not a traceback)
        complain(f"internal error: {type(error).__name__}: {error}")
        return FAILED


def read_settings(path: str, environment: os._Environ[str] | dict[str, str]) -> bool:
    """Copy lines `name = value` of a file to QUARTET_NAME in the environment, unless it is set.

    A file that is missing or unreadable has no settings. Complains about the first line that is no
    setting, and returns False then.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(1 << 16)
    except OSError:
        return True
    # Notepad writes a byte-order mark, or UTF-16.
    text = data.decode(
        "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "replace"
    ).removeprefix("\ufeff")
    complaint = ""
    for number, line in enumerate(text.splitlines(), 1):
        name, equals, value = (part.strip() for part in line.partition("="))
        if name.lower() in NAMES and equals:
            environment.setdefault("QUARTET_" + name.upper(), value)
        elif name and name[0] not in "#;[" and not complaint:
            complaint = (
                f"{SETTINGS}, line {number}: {name[:40]!r} is no setting; write NAME = VALUE with "
                f"one of: {', '.join(NAMES)}"
            )
            complain(complaint)
    return not complaint


def clean_up(own: str) -> int:
    """Lock our own folder, remove folders that killed runs have left next to it, within BUDGET.

    A folder is removed only if all of these hold:

    - it contains our mark;
    - no process has locked the mark (the system releases the lock of a dead process, and the lock
      is visible in every container that shares the folder);
    - it is old enough: a young process may not have locked it yet.

    Returns:
        Number of folders removed.
    """
    deadline, removed = time.perf_counter() + BUDGET, 0
    try:
        # never closed: the lock lasts as long as this process
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
    """Remove a folder. Return False if it is not that of a dead run, or if time is up."""
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
    """Remove all files but the mark, which goes last. Returns True if done. Raises OSError."""
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
        """Lock an open file. Raises OSError if another process has locked it."""
        import msvcrt  # noqa: PLC0415

        msvcrt.locking(number, msvcrt.LK_NBLCK, 1)

else:

    def _lock(number: int) -> None:
        """Lock an open file. Raises OSError if another process has locked it."""
        os.lockf(number, os.F_TLOCK, 0)
