"""The built-in players of Ataxx, by name. They are frozen: opponents to measure against must not improve with us."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from core.errors import RuleError, UnknownNameError
from core.limits import Limits, SearchInfo

if TYPE_CHECKING:
    from core.rules import Move, Position, Searcher

NAMES = ("greedy", "random")


def player(name: str, seed: int | None = None) -> Searcher[Position]:
    """The built-in player of that name; `seed` makes its random choices reproducible. Raises UnknownNameError."""
    if name == "greedy":
        return Greedy(Random(seed))
    if name == "random":
        return Uniform(Random(seed))
    raise UnknownNameError(f"Ataxx has no built-in player {name!r}; there are: {', '.join(NAMES)}")


class Uniform:
    """Any move, all equally likely."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def choose(self, position: Position, limits: Limits) -> SearchInfo:  # noqa: ARG002
        return SearchInfo(self._random.choice(_moves(position)), depth=0, nodes=1)


class Greedy:
    """One ply on the difference of cells; ties are broken at random."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def choose(self, position: Position, limits: Limits) -> SearchInfo:  # noqa: ARG002
        moves = _moves(position)
        leads = [lead(position.play(move), position.to_move) for move in moves]
        best = max(leads)
        move = self._random.choice([m for m, value in zip(moves, leads, strict=True) if value == best])
        return SearchInfo(move, score=best, depth=1, nodes=len(moves))


def lead(position: Position, seat: int) -> int:
    """By how many cells a seat is ahead."""
    scores = position.scores()
    return (scores[seat] or 0) - (scores[1 - seat] or 0)


def _moves(position: Position) -> list[Move]:
    moves = position.legal()
    if not moves:
        raise RuleError("the game is over")
    return moves
