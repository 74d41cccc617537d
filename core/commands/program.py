"""Run a click command as the main program of a module."""

from __future__ import annotations

import click

from core.commands.values import CheckedContext
from core.errors import QuartetError


def execute(command: click.Command) -> None:
    """Run a command, or one of a group, and exit. An error becomes one line on standard error and
    status 1."""
    members = command.commands.values() if isinstance(command, click.Group) else ()
    for one in (command, *members):
        one.context_class = CheckedContext
    try:
        command.main()
    except QuartetError as error:
        raise SystemExit(f"quartet: {error}") from None
