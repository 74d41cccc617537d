"""The built-in players of the apple game, by name.

All but `bot` are frozen: opponents for measurements must not improve. `sample:N` are the judge's
sample AIs, as their published games show them; RULES.md describes them.
"""

from __future__ import annotations

from random import Random

from core.engine import configured
from core.players import Greedy, Uniform, frozen_player, lead, lead_after

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from core.engine import Searcher
    from core.rules import Move, Position

PACKED = ("bot", "greedy", "random")
"""Players in a package."""
NAMES = (*PACKED, "sample:1", "sample:2", "sample:3", "sample:4", "sample:5", "sample:6")
SLOWER_NAMES = ("sample:7", "sample:8")
"""Deeper versions of the samples. The fingerprint omits them because they are slow."""


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
    from applegame.frozen.players import player  # noqa: PLC0415  (not in packages)

    return player


def _maker(name: str, seed: int | None) -> Callable[..., Searcher[Any]]:
    if name == "bot":
        from applegame.bot import Bot  # noqa: PLC0415  (compiled; the simple players are not)

        return Bot
    if name == "greedy":
        return lambda: Greedy(Random(seed), swing)  # passes only if there is no rectangle
    if name == "random":
        return lambda: Uniform(Random(seed))
    return frozen_player(_frozen, name, PACKED, NAMES + SLOWER_NAMES)


def swing(position: Position, move: Move) -> int:
    """Return the change of the mover's lead: 1 per free cell, 2 per cell of the opponent."""
    return lead_after(position, move) - lead(position, position.to_move)
