"""What to say where a package is missing that only some commands need."""

from __future__ import annotations

import shlex
import sys


def how_to_install(*requirements: str) -> str:
    """The command that installs packages for the Python that runs: by pip, or by uv where uv made
    the environment, which then has no pip."""
    try:
        import pip  # noqa: F401, PLC0415  (slow to import)
    except ImportError:
        tool = ["uv", "pip", "install", "--python", sys.executable]
    else:
        tool = [sys.executable, "-m", "pip", "install"]
    return shlex.join([*tool, *requirements])
