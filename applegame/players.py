"""The built-in players of the apple game, by name. All but `bot` are frozen: opponents to measure
against must not improve with us.

`sample:N` are the judge's sample AIs, as their published games show them; RULES.md says how they
play.
"""

from __future__ import annotations

from random import Random

from applegame.protocol import PASS
from core.errors import UnknownNameError
from core.limits import Limits, SearchInfo
from core.players import Greedy, Uniform, lead, lead_after, moves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from core.rules import Move, Position, Searcher

NAMES = (
    "bot",
    "greedy",
    "random",
    "sample:1",
    "sample:2",
    "sample:3",
    "sample:4",
    "sample:5",
    "sample:6",
)
SLOWER_NAMES = ("sample:7", "sample:8")
"""Players that are no different but in what they cost: the fingerprint does without them."""
PLIES = {"sample:4": 2, "sample:5": 3, "sample:6": 4, "sample:7": 5, "sample:8": 6}
"""How far these look ahead."""


def player(name: str, seed: int | None = None) -> Searcher[Any]:
    """The built-in player of that name; `seed` makes its random choices reproducible. Raises
    UnknownNameError, ImportError."""
    if name == "bot":
        from applegame.bot import Bot  # noqa: PLC0415  (compiled; the simple players need nothing)

        return Bot()
    if name in PLIES:
        from applegame.frozen.samples import Sample  # noqa: PLC0415  (compiled)

        return Sample(PLIES[name])
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
    raise UnknownNameError(
        f"the apple game has no built-in player {name!r}; there are: {', '.join(NAMES + SLOWER_NAMES)}"
    )


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
