"""The start of a program: its sandbox, and its environment.

A real judge starts programs without the settings of a developer's shell. With PYTHONUNBUFFERED,
say, a program that never flushes its output would pass here and lose there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from quartet.judge.process import sandbox
from quartet.judge.process.tree import SPAWN, Tree

KEPT = {"PYTHONPATH", "PYTHONHOME"}
"""Python's variables that programs get: they say where things are, not how to run."""
REMOVED = ("PYTHON", "_STDBUF_")
"""Prefixes of variables that programs do not get."""


def environment(*more: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment without what changes a program's behaviour, with
    additions."""
    found = {
        name: value
        for name, value in os.environ.items()
        if name in KEPT or not name.startswith(REMOVED)
    }
    for some in more:
        found.update(some)
    return found


def spawn(
    command: str | Sequence[str],
    folder: Path | None,
    env: Mapping[str, str],
    tree: Tree,
    **streams: Any,
) -> psutil.Popen:
    """Start a program whose processes `tree` will find.

    Args:
        command: A string for the system's shell, or a list of arguments.
        folder: Working directory [default: the current one].
        env: Additions to the environment.
        tree: Its process tree; the caller has it adopt the program.
        streams: Keywords for Popen.

    Raises:
        OSError: The program cannot be started.
        QuartetError: A sandbox is wanted, and this machine has none.
    """
    command = sandbox.started(command, folder, environment(env))
    return psutil.Popen(
        command,
        shell=isinstance(command, str),
        cwd=folder,
        env=environment(env, tree.environment),
        **streams,
        **SPAWN,
    )
