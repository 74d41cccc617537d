"""How to install optional packages."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path


def install_hint(*requirements: str) -> str:
    """Return the command that installs packages for this Python: pip, or uv in an environment that
    has no pip."""
    tool = ["uv", "pip", "install", "--python", sys.executable]
    # importing pip would change how distutils is imported afterwards
    if any(Path(folder, "pip").is_dir() for folder in sys.path):
        tool = [sys.executable, "-m", "pip", "install"]
    return shlex.join([*tool, *requirements])
