"""Run the command `quartet`."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from core.commands.program import execute
from quartet.cli import main
from tests.games import ROOT, WATCHING

if TYPE_CHECKING:
    from collections.abc import Callable

    import click

ENVIRONMENT = {
    "PYTHONPATH": str(ROOT),
    "PATH": "/usr/bin:/bin",
    "PYTHONIOENCODING": "utf-8",
    "TMPDIR": tempfile.gettempdir(),
    **WATCHING,
}
"""What a command sees of the environment: nothing of the user's."""
ONE_JOB = ("--jobs", "1", "--oversubscribe")
"""Options of a run with one unit of work at a time, also if other tests use the cores."""


def quartet(*arguments: str, code: int = 0, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a command in a clean environment, and check its exit status."""
    done = subprocess.run(
        [sys.executable, "-m", "quartet", *arguments],
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        env=ENVIRONMENT,
        timeout=600,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == code, done.stderr + done.stdout
    return done


def refusal(*arguments: str, cwd: Path = ROOT) -> str:
    """Run a command that must refuse its arguments; return its only line, without "quartet: ".

    It runs in this process: most of the time of a new one would be its imports. What the command
    changes in the process is restored.
    """
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    handlers = {name: signal.getsignal(getattr(signal, name)) for name in names}
    with (
        chdir(cwd),
        patch.object(sys, "stdin", io.StringIO()),
        patch.object(sys, "unraisablehook", sys.unraisablehook),
    ):
        try:
            status, out, error = ended(main.main, "quartet", *arguments)
        finally:
            for name, handler in handlers.items():
                signal.signal(getattr(signal, name), handler)
    assert (status, out, error.count("\n")) == (2, "", 1), error
    word, _, line = error.rstrip("\n").partition(": ")
    assert word == "quartet"
    return line


def failure(command: click.Command, *arguments: str) -> str:
    """Run the command of a module, which must fail; return its last words and errors."""
    status, _, error = ended(lambda: execute(command), "module", *arguments)
    assert status
    return f"{status} {error}"


def ended(function: Callable[[], None], *command_line: str) -> tuple[object, str, str]:
    """Call a main function; return its exit status or last words, its output, and its errors."""
    out, error = io.StringIO(), io.StringIO()
    with (
        patch.object(sys, "argv", [*command_line]),
        redirect_stdout(out),
        redirect_stderr(error),
        pytest.raises(SystemExit) as found,
    ):
        function()
    return found.value.code, out.getvalue(), error.getvalue()
