"""The built-in players of Connexion, by name. They are frozen: opponents to measure against must not improve with us.

`sample` is the judge's sample AI; RULES.md says how it plays.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Protocol

from core.errors import RuleError, UnknownNameError
from core.limits import Limits, SearchInfo
from core.rules import Position

if TYPE_CHECKING:
    from core.rules import Move, Searcher

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
        return Greedy(Random(seed))
    if name == "random":
        return Uniform(Random(seed))
    if name == "sample":
        return Sample()
    raise UnknownNameError(f"Connexion has no built-in player {name!r}; there are: {', '.join(NAMES)}")


class Uniform:
    """Any move, all equally likely."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def choose(self, position: Position, limits: Limits) -> SearchInfo:  # noqa: ARG002
        return SearchInfo(self._random.choice(_moves(position)), depth=0, nodes=1)


class Greedy:
    """One ply on the difference of the scores as if the game were over; ties are broken at random."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def choose(self, position: Position, limits: Limits) -> SearchInfo:  # noqa: ARG002
        moves = _moves(position)
        seat = position.to_move
        leads = []
        for move in moves:
            scores = position.play(move).scores()
            leads.append((scores[seat] or 0) - (scores[1 - seat] or 0))
        best = max(leads)
        move = self._random.choice([m for m, value in zip(moves, leads, strict=True) if value == best])
        return SearchInfo(move, score=best, depth=1, nodes=len(moves))


class Sample:
    """One ply on the own score as if the game were over; among equals the first cell, then the tile that was drawn first."""

    def choose(self, position: HandPosition, limits: Limits) -> SearchInfo:  # noqa: ARG002
        seat = position.to_move
        hand = position.hands[seat]
        moves = sorted(_moves(position), key=lambda move: (move[0], hand.index(move[1])))
        scores = [position.play(move).scores()[seat] or 0 for move in moves]
        best = max(scores)
        return SearchInfo(moves[scores.index(best)], score=best, depth=1, nodes=len(moves))


def _moves(position: Position) -> list[Move]:
    moves = position.legal()
    if not moves:
        raise RuleError("the game is over")
    return moves
