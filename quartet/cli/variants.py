"""Options --option NAME=VALUE, for variants of the rules, and --sandbox."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import click

from core.errors import QuartetError
from quartet.judge import game as games
from quartet.judge.process import sandbox


def _seal(_: click.Context, __: click.Parameter, wanted: bool) -> None:
    """Have all programs started in a sandbox, those of worker processes too. Raises
    QuartetError."""
    if wanted:
        sandbox.require()
        os.environ[sandbox.WANTED] = "1"


sandboxed: Callable[[Callable[..., None]], Callable[..., None]] = click.option(
    "--sandbox",
    is_flag=True,
    expose_value=False,
    callback=_seal,
    help="Start programs in a sandbox (Linux, bubblewrap): read-only files, no network, only their "
    "own processes.",
)
option: Callable[[Callable[..., None]], Callable[..., None]] = click.option(
    "--option",
    "variants",
    multiple=True,
    metavar="NAME=VALUE",
    help="Variant of the rules, e.g. opening=4; the game's RULES.md lists them.",
)


def read(game: str, texts: Sequence[str]) -> dict[str, bool | int]:
    """Return options for `Position.start` by texts NAME=VALUE. Raises QuartetError."""
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
