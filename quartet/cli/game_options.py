"""Options of a single game or of many: --position, --option for variants of the rules, and
--sandbox."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click

from core.engine import OFF, ON
from core.errors import QuartetError, TextError
from quartet.judge import game as games
from quartet.judge.game import JudgedGame, Start
from quartet.judge.process import sandbox

Decorator = Callable[[Callable[..., None]], Callable[..., None]]

STARTPOS = "startpos"
"""The usual start, as in UAI and UCI."""


def _seal(_: click.Context, __: click.Parameter, wanted: bool) -> None:
    """Have all programs started in a sandbox, those of worker processes too. Raises
    QuartetError."""
    if wanted:
        sandbox.require()
        os.environ[sandbox.WANTED] = "1"


position: Decorator = click.option(
    "--position",
    metavar="POSITION",
    help="Position instead of the start: in the game's notation, or a file with it.",
)
variants: Decorator = click.option(
    "--option",
    "variants",
    multiple=True,
    metavar="NAME=VALUE",
    help="Variant of the rules, e.g. opening=4; the game's RULES.md lists them.",
)
sandboxed: Decorator = click.option(
    "--sandbox",
    is_flag=True,
    expose_value=False,
    callback=_seal,
    help="Start programs in a sandbox (Linux, bubblewrap): read-only files, no network, only their "
    "own processes.",
)


def read_variants(game: str, texts: Sequence[str]) -> dict[str, bool | int]:
    """Return options for `Position.start` by texts NAME=VALUE. Raises QuartetError."""
    known = games.load(game).info.options
    found: dict[str, bool | int] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name not in known:
            raise QuartetError(
                f"{game} has no option {name!r}; there are: {', '.join(known) or 'none'}"
            )
        if name in found:
            raise QuartetError(f"two values for the option {name}; pass one")
        if isinstance(known[name].default, bool) and value.lower() in {*ON, *OFF}:
            found[name] = value.lower() in ON
        elif value.isdecimal():
            found[name] = int(value)
        else:
            raise QuartetError(
                f"--option wants NAME=NUMBER, NAME=on or NAME=off, not {text!r}; {game} has: "
                f"{', '.join(known)}"
            )
    return found


def read_start(
    game: JudgedGame, given: str | None, options: Mapping[str, bool | int], *, seed: int = 0
) -> Start:
    """Return the start of a game, by --position, or by `options` and `seed`.

    Args:
        game: The game.
        given: Name of a file with a position, or the position itself; None for the usual start.
        options: Variants of the rules.
        seed: Seed of a random start.

    Raises:
        TextError: It is not a position; the message names the file, if it is one.
        QuartetError: An option chooses another start.
    """
    if given is None or given == STARTPOS:
        found = Start(seed, options)
        found.position(game.position)
        return found
    for name in options:
        if game.info.options[name].of_start:
            raise QuartetError(f"the option {name} chooses a start: omit it or the position")
    is_file = os.path.exists(given)  # noqa: PTH110  (pathlib raises for a text that is too long)
    try:
        text = Path(given).read_text(encoding="utf-8-sig") if is_file else given
        found = Start(seed, options, text)
        found.position(game.position)
    except OSError as error:
        raise TextError(f"cannot read {given}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise TextError(f"{given} is not text: byte {error.start} is {byte:#04x}") from error
    except TextError as error:
        shown = " ".join(given.split())[:40]
        what = given if is_file else f"{shown!r} is neither a file nor a position"
        raise TextError(f"{what}: {error}") from error
    return found
