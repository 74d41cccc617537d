"""Copies of the project to build, break and extend, and commands run in them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests.games import ROOT

LEFT_BEHIND = shutil.ignore_patterns(
    ".git",
    ".venv*",
    ".build",
    "*.so",
    "*.pyd",
    "*.c",
    "*.egg-info",
    "__pycache__",
    ".*_cache",
    ".hypothesis",
    ".benchmarks",
)
"""What a build or a tool makes, which a fresh clone does not have."""
COMPILED = ("[!.]*/**/*.so", "[!.]*/**/*.pyd", ".build/release/**/*.c", ".build/last-build")
"""What the next compilation starts from."""


def copy(target: Path) -> Path:
    """The project as a fresh clone has it."""
    shutil.copytree(ROOT, target, ignore=LEFT_BEHIND)
    return target


def copy_built(target: Path) -> Path:
    """The project as it is compiled here: what stays unchanged is not compiled again.

    What was made is dated now: pip compiles with a Cython of its own before it installs the one
    that compiles the copy, and what is older than that one's declarations would be made anew.
    """
    copy(target)
    now = time.time()
    for made in (path for pattern in COMPILED for path in ROOT.glob(pattern)):
        place = target / made.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(made, place)
        os.utime(place, (now, now))
    return target


def python(checkout: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python on a copy; what is installed of the project elsewhere is not seen."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout), "NO_COLOR": "1", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def build(checkout: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Compile the extensions of a copy in place."""
    return python(checkout, "setup.py", "--quiet", "build_ext", "--inplace", **environment)


def with_new_game(target: Path, game: str) -> Path:
    """The project with a game that `quartet new-game` makes in it, compiled."""
    copy_built(target)
    for done in (python(target, "-m", "quartet", "new-game", game), build(target)):
        assert done.returncode == 0, done.stderr
    return target
