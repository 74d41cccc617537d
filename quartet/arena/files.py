"""Files that several processes use at a time."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

PROBE_SECONDS = 0.2
"""Time between two probes for the end of another command."""


def write_whole(path: Path, data: bytes, *, private: bool = False) -> None:
    """Write a file so that no reader ever sees part of it. Raises OSError.

    Args:
        path: The file.
        data: Its content.
        private: True if only its owner may read it.
    """
    # One name for all attempts, so that killed ones do not pile up.
    draft = path.with_name(path.name + ".new")
    if private:
        draft.unlink(missing_ok=True)
        draft.touch(0o600)
    draft.write_bytes(data)
    draft.replace(path)


def locked(path: Path) -> BinaryIO | None:
    """Lock a file until it is closed or this process ends.

    Returns None if another process holds the lock. Raises OSError.
    """
    file = path.open("a+b")
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold a lock file, waiting for other holders. Raises OSError."""
    waiting = False
    while (file := locked(path)) is None:
        if not waiting:
            print("quartet: waiting for another command's build ...", file=sys.stderr, flush=True)
        waiting = True
        time.sleep(PROBE_SECONDS)
    with file:
        yield


def is_held(path: Path) -> bool:
    """Return True if a process holds the lock of an existing file; takes the lock for a moment."""
    if not path.is_file():
        return False
    try:
        file = locked(path)
    except OSError:
        return False
    if file is None:
        return True
    file.close()
    return False
