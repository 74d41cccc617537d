"""The built-in players of noughts and crosses."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from core.engine import configured
from core.errors import UnknownNameError
from core.limits import Limits, SearchInfo
from noughts.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.engine import Searcher
    from noughts.rules import Position

NAMES = ("bot", "random")


def player(name: str, seed: int | None = None) -> Searcher[Position]:
    """The built-in player of that name. Raises UnknownNameError, TextError."""
    return configured(name, lambda bare: maker(bare, seed))


def maker(name: str, seed: int | None) -> Callable[..., Searcher[Position]]:
    """What makes the player of that name. Raises UnknownNameError."""
    if name not in NAMES:
        raise UnknownNameError(
            f"noughts and crosses has no built-in player {name!r}; there are: {', '.join(NAMES)}"
        )
    return Engine if name == "bot" else lambda: Uniform(Random(seed))


class Uniform:
    """Any move, all equally likely."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def choose(self, position: Position, limits: Limits) -> SearchInfo:  # noqa: ARG002
        return SearchInfo(self._random.choice(position.pseudolegal()), nodes=1)
