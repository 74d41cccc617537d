"""The environment that programs under judgement get: ours, less what changes how they behave.

A real judge starts programs without the settings of a developer's shell. With PYTHONUNBUFFERED a
program that never flushes would pass here and lose there.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

KEPT = {"PYTHONPATH", "PYTHONHOME"}
"""Python's variables that say where things are, and not how to run; a user's import path stays."""
REMOVED = ("PYTHON", "_STDBUF_")
"""Beginnings of the names of variables that are removed."""


def environment(*more: Mapping[str, str]) -> dict[str, str]:
    """Our environment without what changes a program's behaviour, and `more` on top."""
    found = {
        name: value
        for name, value in os.environ.items()
        if name in KEPT or not name.startswith(REMOVED)
    }
    for some in more:
        found.update(some)
    return found
