"""Programs that tests use and that not every machine has."""

from __future__ import annotations

import os
import shutil

import pytest


def need(package: str, *programs: str) -> str:
    """The path of the first of these programs that is there. Without one the test is skipped,
    saying what to install; in CI it fails."""
    for program in programs:
        found = shutil.which(program)
        if found is not None:
            return found
    missing = f"{programs[0]} is missing: apt install {package}"
    if os.environ.get("CI"):
        pytest.fail(missing)
    pytest.skip(missing)
