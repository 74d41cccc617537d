"""The frozen players of the apple game by name: the judge's sample AIs, as their published games
show them; RULES.md says how they play.

They must never change. They are imported when they are asked for, and not packed, but for
samples.pyx, by which the bot predicts its opponents: what never changes can be relied on.
"""

from __future__ import annotations

from applegame.protocol import PASS
from core.limits import Limits, SearchInfo
from core.players import lead, lead_after, moves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from core.engine import Searcher
    from core.rules import Move, Position

PLIES = {"sample:4": 2, "sample:5": 3, "sample:6": 4, "sample:7": 5, "sample:8": 6}
"""How far these look ahead."""


def player(name: str) -> Searcher[Any] | None:
    """The frozen player of that name; None where there is none. Raises ImportError where it is not
    compiled."""
    if name in PLIES:
        from applegame.frozen.samples import Sample  # noqa: PLC0415  (compiled)

        return Sample(PLIES[name])
    simple: dict[str, Callable[[], Searcher[Any]]]
    simple = {"sample:1": Passing, "sample:2": FirstPair, "sample:3": FirstSwing}
    return simple[name]() if name in simple else None


class Passing:
    """sample:1 passes."""

    def choose(self, position: Position, limits: Limits) -> SearchInfo:  # noqa: ARG002
        moves(position)
        return SearchInfo(PASS, depth=0, nodes=1)


class FirstPair:
    """sample:2 takes the first two adjacent digits of a row, in reading order, that make a
    rectangle."""

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
    """By how much a move changes the mover's lead: 1 for a cell that was nobody's, 2 for one of the
    opponent's."""
    return lead_after(position, move) - lead(position, position.to_move)
