"""The built-in players of noughts and crosses."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from core.engine import configured
from core.errors import UnknownNameError
from core.players import Uniform
from noughts.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.engine import Searcher
    from noughts.rules import Position

NAMES = ("bot", "random")


def player(name: str, seed: int | None = None) -> Searcher[Position]:
    """Return the built-in player of that name. Raises UnknownNameError, TextError."""
    return configured(name, lambda bare: maker(bare, seed))


def maker(name: str, seed: int | None) -> Callable[..., Searcher[Position]]:
    """Return the constructor of that player. Raises UnknownNameError."""
    if name not in NAMES:
        raise UnknownNameError(
            f"noughts and crosses has no built-in player {name!r}; there are: {', '.join(NAMES)}"
        )
    return Engine if name == "bot" else lambda: Uniform(Random(seed))
