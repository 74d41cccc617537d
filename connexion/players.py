"""The built-in players of Connexion, by name. All but `bot` are frozen: opponents to measure
against must not improve with us.

`sample` is the judge's sample AI; RULES.md says how the others play.
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
"""The players that a package has."""
NAMES = (*PACKED, "sample", "margin", "beam:5:12:6", "beam:5:40:16")


def player(name: str, seed: int | None = None) -> Searcher[Any]:
    """The built-in player of that name, with options as in bot:weights=FILE; `seed` makes its
    random choices reproducible. Raises UnknownNameError, TextError, ImportError."""
    return configured(name, lambda bare: _maker(bare, seed))


def _frozen() -> Callable[..., Any]:
    from connexion.frozen.players import player  # noqa: PLC0415  (no package has it)

    return player


def _maker(name: str, seed: int | None) -> Callable[..., Searcher[Any]]:
    if name == "bot":
        # Compiled; `greedy` and `random` play without.
        from connexion.engine import Engine  # noqa: PLC0415

        return Engine
    if name == "greedy":
        return lambda: Greedy(Random(seed), lead_after)  # as if the game were over
    if name == "random":
        return lambda: Uniform(Random(seed))
    return frozen_player(_frozen, name, PACKED, (*NAMES, "or other numbers"))
