"""Files that other processes may look at, too."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is never there in part. Raises OSError."""
    # one name for all attempts: a killed one leaves nothing that piles up
    draft = path.with_name(path.name + ".new")
    draft.write_bytes(data)
    draft.replace(path)


def locked(path: Path) -> BinaryIO | None:
    """Hold a file as long as this process lives or until it is closed; None where somebody holds
    it. Raises OSError."""
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


def is_held(path: Path) -> bool:
    """Whether a process holds a file that is there; looking changes nothing for others but for a
    moment."""
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
