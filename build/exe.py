"""`quartet pack exe`: the one file of a strategy's folder, for this system or for Windows.

It runs the agent as `python -m GAME` does; build/freeze.py makes it.
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
"""Time limit of a move with Wine, which needs longer to start a process than a judge allows."""


def make(
    game: str,
    out: Path,
    *,
    platform: str = "native",
    windows_python: Path | None = None,
    onedir: bool = False,
) -> Path:
    """Make the executable of a game. `windows_python` is a folder with a Python for Windows. Raises
    QuartetError."""
    return freeze.make(game, system(platform, windows_python), out, in_folder=onedir)


def system(platform: str, windows_python: Path | None) -> freeze.System:
    """Return the system to pack for. Raises QuartetError."""
    if platform == "windows" and sys.platform != "win32":
        from build.windows import Windows  # noqa: PLC0415

        return Windows.from_here(windows_python)
    from build.native import Native  # noqa: PLC0415

    return Native.here()


def start(artefact: Path, folder: Path) -> Sequence[str] | None:
    """Copy the executable into a folder and return the judge's command; None if nothing here can
    run it."""
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
    """Return the time limit of a move here if this machine cannot meet the judge's, else None."""
    return SECONDS_WITH_WINE if is_foreign(artefact) else None


def is_foreign(artefact: Path) -> bool:
    """Return True if it is for Windows and this system is not."""
    return artefact.suffix == ".exe" and sys.platform != "win32"
