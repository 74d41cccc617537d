"""Make copies of the project to build, damage and extend, and run commands in them."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.games import ROOT

FIFTH = "fifthgame"
"""Name of the new game of the tests, which no developer chooses."""
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
"""Outputs of builds and tools, which a fresh clone does not have."""
COMPILED = ("[!.]*/**/*.so", "[!.]*/**/*.pyd", ".build/release/**/*.c", ".build/last-build")
"""Outputs that the next compilation reuses."""


def copy(target: Path) -> Path:
    """Copy the project as a fresh clone has it."""
    shutil.copytree(ROOT, target, ignore=LEFT_BEHIND)
    return target


def copy_built(target: Path) -> Path:
    """Copy the project with its compiled modules, so that unchanged ones are not compiled again.

    The copies are dated now: otherwise they may be older than the declarations of a Cython that was
    installed later, and would be compiled again.
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
    """Run Python on a copy. It does not see an installed project elsewhere."""
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


@functools.cache
def built_with_new_game(game: str) -> Path:
    """Copy the project, add a game with `quartet new-game`, and compile it; once per process."""
    target = copy_built(Path(tempfile.mkdtemp(), "checkout"))
    for done in (python(target, "-m", "quartet", "new-game", game), build(target)):
        assert done.returncode == 0, done.stderr
    return target


def with_new_game(target: Path, game: str) -> Path:
    """Copy a compiled project with a new game. Tests may change the copy."""
    return shutil.copytree(built_with_new_game(game), target)
