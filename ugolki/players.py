"""The built-in players of Ugolki, by name. All but `bot` are frozen: opponents to measure against must not improve with us."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from core.errors import RuleError, UnknownNameError
from core.limits import Limits, SearchInfo
from ugolki.best_reply import BestReply
from ugolki.engine import Engine
from ugolki.geometry import distance
from ugolki.protocol import PASS
from ugolki.rules import Position

if TYPE_CHECKING:
    from core.rules import Move, Searcher

NAMES = ("bot", "greedy", "random", "brs:5")


def player(name: str, seed: int | None = None) -> Searcher[Position]:
    """The built-in player of that name; `seed` makes its random choices reproducible. Raises UnknownNameError."""
    if name == "bot":
        return Engine()
    if name == "greedy":
        return Greedy(Random(seed))
    if name == "random":
        return Uniform(Random(seed))
    kind, _, number = name.partition(":")
    if kind == "brs" and number.isdecimal() and 1 <= int(number) <= 20:
        return BestReply(int(number))
    raise UnknownNameError(f"Ugolki has no built-in player {name!r}; there are: {', '.join(NAMES)} (or another depth)")


class Uniform:
    """Any move, all equally likely."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def choose(self, position: Position, limits: Limits) -> SearchInfo:  # noqa: ARG002
        return SearchInfo(self._random.choice(_moves(position)), depth=0, nodes=1)


class Greedy:
    """One ply on the own penalty; ties are broken at random."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def choose(self, position: Position, limits: Limits) -> SearchInfo:  # noqa: ARG002
        moves = _moves(position)
        gains = [gain(position.to_move, move) for move in moves]
        best = max(gains)
        move = self._random.choice([m for m, g in zip(moves, gains, strict=True) if g == best])
        return SearchInfo(move, score=best, depth=1, nodes=len(moves))


def gain(seat: int, move: Move) -> int:
    """By how much a move lowers the seat's penalty."""
    return 0 if move == PASS else distance(seat, move[0], move[1]) - distance(seat, move[2], move[3])


def _moves(position: Position) -> list[Move]:
    moves = position.legal() or position.pseudolegal()
    if not moves:
        raise RuleError("the game is over and no piece can move")
    return moves
