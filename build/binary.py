"""`quartet pack binary`: a single executable for this machine, for other programs and local
matches: the agent, whatever its judge is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from build import exe, freeze
from build.native import Native

if TYPE_CHECKING:
    from pathlib import Path

start, seconds = exe.start, exe.seconds


def make(game: str, out: Path) -> Path:
    """The executable of a game. Raises QuartetError."""
    return freeze.make(game, Native.here(), out)
