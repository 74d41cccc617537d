"""The built-in players of noughts and crosses, by name."""

from __future__ import annotations

from random import Random

from core.engine import configured
from core.errors import UnknownNameError
from core.players import Greedy, Uniform, lead_after

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from core.engine import Searcher

NAMES = ("bot", "greedy", "random")
"""The bot comes first; every game has a greedy player, which needs no compiled module."""


def player(name: str, seed: int | None = None) -> Searcher[Any]:
    """Return the built-in player of a name with options.

    Args:
        name: Name and options.
        seed: Seed of its random choices.

    Raises:
        UnknownNameError: No such player or option.
        TextError: An option has a bad value.
        ImportError: The player is not compiled.
    """
    return configured(name, lambda bare: _maker(bare, seed))


def _maker(name: str, seed: int | None) -> Callable[..., Searcher[Any]]:
    if name == "bot":
        from noughts.engine import Engine  # noqa: PLC0415  (compiled; the simple players are not)

        return Engine
    if name == "greedy":
        return lambda: Greedy(Random(seed), lead_after)
    if name == "random":
        return lambda: Uniform(Random(seed))
    raise UnknownNameError(f"there is no built-in player {name!r}; there are: {', '.join(NAMES)}")
