"""The built-in players of the apple game, by name. All but `bot` are frozen: opponents to measure
against must not improve with us.

`sample:N` are the judge's sample AIs, as their published games show them; RULES.md says how they
play.
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
"""The players that a package has."""
NAMES = (*PACKED, "sample:1", "sample:2", "sample:3", "sample:4", "sample:5", "sample:6")
SLOWER_NAMES = ("sample:7", "sample:8")
"""Players that are no different but in what they cost: the fingerprint does without them."""


def player(name: str, seed: int | None = None) -> Searcher[Any]:
    """The built-in player of that name, with options as in bot:weights=FILE; `seed` makes its
    random choices reproducible. Raises UnknownNameError, TextError, ImportError."""
    return configured(name, lambda bare: _maker(bare, seed))


def _frozen() -> Callable[..., Any]:
    from applegame.frozen.players import player  # noqa: PLC0415  (no package has it)

    return player


def _maker(name: str, seed: int | None) -> Callable[..., Searcher[Any]]:
    if name == "bot":
        from applegame.bot import Bot  # noqa: PLC0415  (compiled; the simple players need nothing)

        return Bot
    if name == "greedy":
        return lambda: Greedy(Random(seed), swing)  # it passes only when there is no rectangle
    if name == "random":
        return lambda: Uniform(Random(seed))
    return frozen_player(_frozen, name, PACKED, NAMES + SLOWER_NAMES)


def swing(position: Position, move: Move) -> int:
    """By how much a move changes the mover's lead: 1 for a cell that was nobody's, 2 for one of the
    opponent's."""
    return lead_after(position, move) - lead(position, position.to_move)
