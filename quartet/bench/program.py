"""Run a click command as the main program of a module."""

from __future__ import annotations

import click

from core.errors import QuartetError
from quartet.cli.values import CheckedContext


def execute(command: click.Command) -> None:
    """Run a command and exit. An error becomes one line on standard error and status 1."""
    command.context_class = CheckedContext
    try:
        command.main()
    except QuartetError as error:
        raise SystemExit(f"quartet: {error}") from None
