"""The built-in players of Connexion, by name. They are frozen: opponents to measure against must not improve with us.

`sample` is the judge's sample AI; RULES.md says how it plays.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Protocol

from core.errors import UnknownNameError
from core.limits import Limits, SearchInfo
from core.players import Greedy, Uniform, lead_after, moves
from core.rules import Position

if TYPE_CHECKING:
    from core.rules import Searcher

NAMES = ("greedy", "random", "sample")


class HandPosition(Position, Protocol):
    """A position of Connexion by any of its rules: it knows the open tiles in their order."""

    @property
    def hands(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The open tiles of both seats, in the order in which they were drawn."""
        ...


def player(name: str, seed: int | None = None) -> Searcher[HandPosition]:
    """The built-in player of that name; `seed` makes its random choices reproducible. Raises UnknownNameError."""
    if name == "greedy":
        return Greedy(Random(seed), lead_after)  # as if the game were over
    if name == "random":
        return Uniform(Random(seed))
    if name == "sample":
        return Sample()
    raise UnknownNameError(f"Connexion has no built-in player {name!r}; there are: {', '.join(NAMES)}")


class Sample:
    """One ply on the own score as if the game were over; among equals the first cell, then the tile that was drawn first."""

    def choose(self, position: HandPosition, limits: Limits) -> SearchInfo:  # noqa: ARG002
        seat = position.to_move
        hand = position.hands[seat]
        choice = sorted(moves(position), key=lambda move: (move[0], hand.index(move[1])))
        scores = [position.play(move).scores()[seat] or 0 for move in choice]
        best = max(scores)
        return SearchInfo(choice[scores.index(best)], score=best, depth=1, nodes=len(choice))
