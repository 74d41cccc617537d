"""The built-in players of the apple game, by name. They are frozen: opponents to measure against must not improve with us.

`sample:N` are the judge's sample AIs, as their published games show them; RULES.md says how they play.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from applegame.protocol import PASS
from core.errors import UnknownNameError
from core.limits import Limits, SearchInfo
from core.players import Greedy, Uniform, lead, lead_after, moves

if TYPE_CHECKING:
    from core.rules import Move, Position, Searcher

NAMES = ("greedy", "random", "sample:1", "sample:2", "sample:3")


def player(name: str, seed: int | None = None) -> Searcher[Position]:
    """The built-in player of that name; `seed` makes its random choices reproducible. Raises UnknownNameError."""
    if name == "greedy":
        return Greedy(Random(seed), swing)  # it passes only when there is no rectangle
    if name == "random":
        return Uniform(Random(seed))
    if name == "sample:1":
        return Passing()
    if name == "sample:2":
        return FirstPair()
    if name == "sample:3":
        return FirstSwing()
    raise UnknownNameError(f"the apple game has no built-in player {name!r}; there are: {', '.join(NAMES)}")


class Passing:
    """sample:1 passes."""

    def choose(self, position: Position, limits: Limits) -> SearchInfo:  # noqa: ARG002
        moves(position)
        return SearchInfo(PASS, depth=0, nodes=1)


class FirstPair:
    """sample:2 takes the first two adjacent digits of a row, in reading order, that make a rectangle."""

    def choose(self, position: Position, limits: Limits) -> SearchInfo:  # noqa: ARG002
        choice = moves(position)  # in ascending order, so in reading order of the upper left corner
        move = next((m for m in choice if m[0] == m[2] and m[3] == m[1] + 1), PASS)
        return SearchInfo(move, depth=0, nodes=len(choice))


class FirstSwing:
    """sample:3 takes the largest swing, among equals the first in the order of r1, r2, c1, c2."""

    def choose(self, position: Position, limits: Limits) -> SearchInfo:  # noqa: ARG002
        choice = sorted(moves(position), key=lambda m: (m[0], m[2], m[1], m[3]))
        swings = [swing(position, move) for move in choice]
        best = max(swings)
        return SearchInfo(choice[swings.index(best)], score=best, depth=1, nodes=len(choice))


def swing(position: Position, move: Move) -> int:
    """By how much a move changes the mover's lead: 1 for a cell that was nobody's, 2 for one of the opponent's."""
    return lead_after(position, move) - lead(position, position.to_move)
