"""`quartet pack binary`: one executable of the agent for this machine, for local matches and other
programs, whatever protocol its judge has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from build import exe, freeze
from build.native import Native

if TYPE_CHECKING:
    from pathlib import Path

start, seconds = exe.start, exe.seconds


def make(game: str, out: Path) -> Path:
    """Make the executable of a game. Raises QuartetError."""
    return freeze.make(game, Native.here(), out)
