"""`quartet pack exe`: the one file that goes into a strategy's folder, for this system or for
Windows.

It is the agent as `python -m GAME` starts it; build/freeze.py says how it is made.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from build import freeze

if TYPE_CHECKING:
    from collections.abc import Sequence

SECONDS_WITH_WINE = 10.0
"""Of a move: Wine's own start of a process takes longer than many a move."""


def make(
    game: str,
    out: Path,
    *,
    platform: str = "native",
    windows_python: Path | None = None,
    onedir: bool = False,
) -> Path:
    """The executable of a game. `windows_python` is a folder with a Python for Windows. Raises
    QuartetError."""
    return freeze.make(game, system(platform, windows_python), out, in_folder=onedir)


def system(platform: str, windows_python: Path | None) -> freeze.System:
    """What to pack for. Raises QuartetError."""
    if platform == "windows" and sys.platform != "win32":
        from build.windows import Windows  # noqa: PLC0415

        return Windows.from_here(windows_python)
    from build.native import Native  # noqa: PLC0415

    return Native.here()


def start(artefact: Path, folder: Path) -> Sequence[str] | None:
    """Lay the executable into a folder, and give the command by which a judge starts it there; None
    where nothing here can run it."""
    content = artefact.parent / freeze.CONTENT
    if content.is_dir():
        shutil.copytree(content, folder / content.name)
    program = folder / artefact.name
    shutil.copy(artefact, program)
    if not is_foreign(artefact):
        return [str(program)]
    from build.windows import wine  # noqa: PLC0415

    words = wine()
    return None if words is None else [*words, str(program)]


def seconds(artefact: Path) -> float | None:
    """What a move may take here, where that says nothing about the machine that the executable is
    for."""
    return SECONDS_WITH_WINE if is_foreign(artefact) else None


def is_foreign(artefact: Path) -> bool:
    """Whether it is for Windows, and this is none."""
    return artefact.suffix == ".exe" and sys.platform != "win32"
