"""Files that a command writes: none that it reads, and none of another kind."""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable
from pathlib import Path

from core.errors import QuartetError

HEAD = 1 << 20
"""Bytes at a file's start that tell its kind."""


def require(
    option: str,
    file: Path | None,
    *,
    inputs: Iterable[str | Path | None] = (),
    begins: bytes = b"",
    contains: bytes = b"",
    is_own: Callable[[bytes], bool] | None = None,
) -> None:
    """Check that a command may write a file.

    Args:
        option: The option that names it.
        file: The file; None if the option was not given.
        inputs: What the command reads; texts that are no names of files are allowed.
        begins: How a file that may be replaced begins, in lower case; an empty one may be, too.
        contains: What such a file contains, in lower case.
        is_own: Returns whether a file with this content may be replaced.

    Raises:
        QuartetError: The file would be lost.
    """
    if file is None:
        return
    # os.path, because pathlib raises for a text that is too long
    if any(name and os.path.exists(name) and _same(file, name) for name in inputs):  # noqa: PTH110
        raise QuartetError(f"{option}: this command reads {file}; name another file")
    if (begins or contains or is_own) and file.is_file():
        with file.open("rb") as opened:
            data = opened.read(HEAD)
        head = data.removeprefix(BOM_UTF8).lstrip().lower()
        fits = head.startswith(begins) and contains in head and (is_own is None or is_own(data))
        if head and not fits:
            raise QuartetError(
                f"{option}: {file} exists and holds something else; move it, or name another place"
            )


def require_place(option: str, file: Path) -> None:
    """Raise QuartetError if a file's folder does not exist, or if the file is a folder."""
    if not file.absolute().parent.is_dir():
        raise QuartetError(f"{option}: cannot write {file}: there is no folder {file.parent}")
    if file.is_dir():
        raise QuartetError(f"{option}: cannot write {file}: it is a folder; name a file in it")


def _same(file: Path, name: str | Path) -> bool:
    return file.exists() and file.samefile(name)
