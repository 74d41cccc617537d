"""What to say where a package is missing that only some commands need."""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec


def how_to_install(*requirements: str) -> str:
    """The command that installs packages for the Python that runs: by pip, or by uv where uv made
    the environment, which then has no pip."""
    tool = ["uv", "pip", "install", "--python", sys.executable]
    if find_spec("pip") is not None:
        tool = [sys.executable, "-m", "pip", "install"]
    return shlex.join([*tool, *requirements])
