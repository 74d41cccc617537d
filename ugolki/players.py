"""The built-in players of Ugolki, by name. All but `bot` are frozen: opponents to measure against
must not improve with us."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from core.errors import RuleError, UnknownNameError
from core.players import Greedy, Uniform
from ugolki.engine import Engine
from ugolki.frozen.beam import Beam
from ugolki.frozen.best_reply import BestReply
from ugolki.frozen.uct import Uct
from ugolki.geometry import distance
from ugolki.protocol import PASS
from ugolki.rules import Position

if TYPE_CHECKING:
    from core.rules import Move, Searcher
    from core.rules import Position as AnyPosition

NAMES = ("bot", "greedy", "random", "brs:5", "uct:1000", "beam:100")
MOST_PLIES, MOST_ITERATIONS, MOST_WIDTH = 20, 1_000_000, 1000


def player(name: str, seed: int | None = None) -> Searcher[Position]:
    """The built-in player of that name; `seed` makes its random choices reproducible. Raises
    UnknownNameError."""
    if name == "bot":
        return Engine()
    if name == "greedy":
        return Greedy(Random(seed), gain, playing_on)  # one ply on the own penalty
    if name == "random":
        return Uniform(Random(seed), playing_on)
    kind, _, digits = name.partition(":")
    number = int(digits) if digits.isdecimal() and digits.isascii() else 0
    if kind == "brs" and 1 <= number <= MOST_PLIES:
        return BestReply(number)
    if kind == "uct" and 1 <= number <= MOST_ITERATIONS:
        return Uct(number)
    if kind == "beam" and 1 <= number <= MOST_WIDTH:
        return Beam(number)
    raise UnknownNameError(
        f"Ugolki has no built-in player {name!r}; there are: {', '.join(NAMES)} (or other numbers)"
    )


def gain(position: AnyPosition, move: Move) -> int:
    """By how much a move lowers the penalty of the seat to move."""
    seat = position.to_move
    return (
        0 if move == PASS else distance(seat, move[0], move[1]) - distance(seat, move[2], move[3])
    )


def playing_on(position: AnyPosition) -> list[Move]:
    """What can be played, also when somebody is home: a judge may have the round finished. Raises
    RuleError when no piece can move."""
    moves = position.legal() or position.pseudolegal()
    if not moves:
        raise RuleError("no piece can move")
    return moves
