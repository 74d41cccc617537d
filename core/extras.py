"""What to say where a package is missing that only some commands need."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path


def how_to_install(*requirements: str) -> str:
    """The command that installs packages for the Python that runs: by pip, or by uv where uv made
    the environment, which then has no pip."""
    tool = ["uv", "pip", "install", "--python", sys.executable]
    # importing pip would have a say in how distutils is imported afterwards
    if any(Path(folder, "pip").is_dir() for folder in sys.path):
        tool = [sys.executable, "-m", "pip", "install"]
    return shlex.join([*tool, *requirements])
