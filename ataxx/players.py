"""The built-in players of Ataxx, by name. They are frozen: opponents to measure against must not improve with us."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from core.errors import UnknownNameError
from core.players import Greedy, Uniform, lead_after

if TYPE_CHECKING:
    from core.rules import Position, Searcher

NAMES = ("greedy", "random")


def player(name: str, seed: int | None = None) -> Searcher[Position]:
    """The built-in player of that name; `seed` makes its random choices reproducible. Raises UnknownNameError."""
    if name == "greedy":
        return Greedy(Random(seed), lead_after)  # the difference of cells
    if name == "random":
        return Uniform(Random(seed))
    raise UnknownNameError(f"Ataxx has no built-in player {name!r}; there are: {', '.join(NAMES)}")
