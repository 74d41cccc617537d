"""Positions on the command line: as text, or in a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from core.errors import QuartetError, TextError
from quartet.judge.game import JudgedGame, Start

STARTPOS = "startpos"
"""The usual start, as in UAI and UCI."""
HELP = "Position instead of the start: in the game's notation, or a file with it."
"""Help of the option --position."""


def start(
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
