"""The positions of a command line: as text, or in a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from core.errors import QuartetError, TextError
from quartet.judge import game as games
from quartet.judge.game import Game, Start

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core.rules import Position

    PositionT = TypeVar("PositionT", bound=Position)

STARTPOS = "startpos"
"""What UAI and UCI call the usual start."""
HELP = "A position instead of the start: as the game writes it, or a file that holds it."
"""Of the option --position."""


def start(
    game: Game, given: str | None, options: Mapping[str, bool | int], *, seed: int = 0
) -> Start:
    """Where a match begins: at what --position gives, or by `options` and `seed`. Raises
    QuartetError and TextError."""
    root(game.info.name, game.position, given, options, seed=seed)
    if given is None or given == STARTPOS:
        return Start(seed, options)
    text = given
    if os.path.exists(given):  # noqa: PTH110  (as in `read`)
        text = Path(given).read_text(encoding="utf-8-sig")
    return Start(seed, options, text)


def root(
    game: str,
    rules: type[PositionT],
    given: str | None,
    options: Mapping[str, bool | int] | None = None,
    *,
    seed: int = 0,
) -> PositionT:
    """The position to begin with: what --position gives, or the start by `options` and `seed`.
    Raises QuartetError and TextError."""
    options = options or {}
    if given is None or given == STARTPOS:
        return rules.start(seed, **options)
    known = games.load(game).info.options
    for name in options:
        if name not in known:
            raise QuartetError(
                f"{game} has no option {name!r}; there are: {', '.join(known) or 'none'}"
            )
        if known[name].of_start:
            raise QuartetError(
                f"the option {name} chooses a start, and a position that is given is another"
            )
    return read(rules, given, **options)


def read(rules: type[PositionT], given: str, **options: Any) -> PositionT:
    """The position that an option gives, by `rules`; `options` as for `Position.parse`.

    What names a file is a file; anything else is the position itself. Raises TextError; the message
    says what it was taken for.
    """
    # Pathlib raises for a text that is too long for a name.
    if not os.path.exists(given):  # noqa: PTH110
        try:
            return rules.parse(given, **options)
        except TextError as error:
            shown = " ".join(given.split())
            raise TextError(f"{shown[:40]!r} is no file, and no position: {error}") from error
    try:
        return rules.parse(Path(given).read_text(encoding="utf-8-sig"), **options)
    except OSError as error:
        raise TextError(f"cannot read {given}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TextError(
            f"{given} is no text: byte {error.start} is {error.object[error.start]:#04x}"
        ) from error
    except TextError as error:
        raise TextError(f"{given}: {error}") from error
