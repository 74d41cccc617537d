"""The built-in players of Connexion, by name.

All but `bot` are frozen: opponents for measurements must not improve. `sample` is the judge's
sample AI; RULES.md describes the others.
"""

from __future__ import annotations

from random import Random

from core.engine import configured
from core.players import Greedy, Uniform, frozen_player, lead_after

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from core.engine import Searcher

PACKED = ("bot", "greedy", "random")
"""Players in a package."""
NAMES = (*PACKED, "sample", "margin", "beam:5:12:6", "beam:5:40:16", "beam:7")


def player(name: str, seed: int | None = None) -> Searcher[Any]:
    """Return the built-in player of a name with options, such as bot:weights=FILE.

    Args:
        name: Name and options.
        seed: Seed of its random choices.

    Raises:
        UnknownNameError: No such player or option.
        TextError: An option has a bad value.
        ImportError: The player is not compiled.
    """
    return configured(name, lambda bare: _maker(bare, seed))


def _frozen() -> Callable[..., Any]:
    from connexion.frozen.players import player  # noqa: PLC0415  (not in packages)

    return player


def _maker(name: str, seed: int | None) -> Callable[..., Searcher[Any]]:
    if name == "bot":
        # Compiled; the simple players are not.
        from connexion.engine import Engine  # noqa: PLC0415

        return Engine
    if name == "greedy":
        return lambda: Greedy(Random(seed), lead_after)  # the lead after the move
    if name == "random":
        return lambda: Uniform(Random(seed))
    return frozen_player(_frozen, name, PACKED, (*NAMES, "or other numbers"))
