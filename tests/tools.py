"""Find programs that not every machine has, and change texts, for tests."""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

FOLDERS = ("a strategy", "Моя стратегия", "내 전략")
"""Names of folders: with a space, in Cyrillic, in Hangul."""


def need(package: str, *programs: str) -> str:
    """Return the path of the first program that exists. Without one, skip the test and say what to
    install; in CI, fail it."""
    for program in programs:
        found = shutil.which(program)
        if found is not None:
            return found
    missing = f"{programs[0]} is missing: apt install {package}"
    if os.environ.get("CI"):
        pytest.fail(missing)
    pytest.skip(missing)


def fast_compiler(folder: Path) -> str:
    """Return a compiler that takes a sixth of the time: a script in `folder` that calls clang."""
    file = folder / "clang"
    file.write_text(f'#!/bin/sh\nexec {need("clang", "clang")} "$@" -O0\n')
    file.chmod(0o755)
    return str(file)


def substituted(pattern: str, replacement: str, text: str) -> str:
    """Return the text with the only match of a pattern replaced; `^` and `$` match at every
    line."""
    changed, count = re.subn(pattern, replacement, text, flags=re.MULTILINE)
    assert count == 1, f"{count} matches of {pattern!r}"
    return changed


def read_only(folder: Path) -> list[str]:
    """Return the words that start a command for which the folder is read-only, also for root."""
    return ["bwrap", "--dev-bind", "/", "/", "--ro-bind", str(folder), str(folder)]
