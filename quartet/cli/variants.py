"""Variants of the rules on the command line: --option NAME=VALUE."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from core.errors import QuartetError
from quartet.judge import game as games
from quartet.judge.process import sandbox

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def _seal(_: click.Context, __: click.Parameter, wanted: bool) -> None:
    """From now on programs are started in a sandbox, by our workers, too. Raises QuartetError."""
    if wanted:
        sandbox.require()
        os.environ[sandbox.WANTED] = "1"


sandboxed: Callable[[Callable[..., None]], Callable[..., None]] = click.option(
    "--sandbox",
    is_flag=True,
    expose_value=False,
    callback=_seal,
    help="Start programs in a sandbox (Linux, bubblewrap): files read-only, no network, only their "
    "own processes.",
)
option: Callable[[Callable[..., None]], Callable[..., None]] = click.option(
    "--option",
    "variants",
    multiple=True,
    metavar="NAME=VALUE",
    help="A variant of the rules, e.g. opening=4; the game's RULES.md has them.",
)


def read(game: str, texts: Sequence[str]) -> dict[str, bool | int]:
    """The options of `Position.start` that the texts give. Raises QuartetError, and
    UnknownNameError where there is no such game."""
    known = games.load(game).info.options
    found: dict[str, bool | int] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name not in known:
            raise QuartetError(
                f"{game} has no option {name!r}; there are: {', '.join(known) or 'none'}"
            )
        if isinstance(known[name].default, bool) and value in {"true", "false"}:
            found[name] = value == "true"
        elif value.isdecimal():
            found[name] = int(value)
        else:
            raise QuartetError(
                f"--option wants NAME=NUMBER or NAME=true, not {text!r}; {game} has: "
                f"{', '.join(known)}"
            )
    return found
