"""Two players that every game has: one that takes any move, and one that looks one ply ahead.
Frozen: the fingerprint holds them."""

from __future__ import annotations

from core.errors import RuleError, UnknownNameError
from core.limits import Limits, SearchInfo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random
    from typing import Any

    from core.engine import Searcher
    from core.rules import Move, Position


def moves(position: Position) -> list[Move]:
    """The legal moves. Raises RuleError when the game is over."""
    found = position.legal()
    if not found:
        raise RuleError("the game is over")
    return found


def lead(position: Position, seat: int) -> int:
    """In a game of two, by how much a seat's score is ahead of the other's."""
    scores = position.scores()
    return (scores[seat] or 0) - (scores[1 - seat] or 0)


def lead_after(position: Position, move: Move) -> int:
    """The mover's lead after its move."""
    return lead(position.play(move), position.to_move)


class Uniform:
    """Any move, a legal pass included, all equally likely."""

    def __init__(self, random: Random, choice: Callable[[Position], list[Move]] = moves) -> None:
        """`choice` gives the moves to choose from, and raises RuleError when there are none."""
        self._random = random
        self._choice = choice

    def choose(self, position: Position, limits: Limits) -> SearchInfo:  # noqa: ARG002
        return SearchInfo(self._random.choice(self._choice(position)), depth=0, nodes=1)


class Greedy:
    """The move of the greatest value; ties are broken at random."""

    def __init__(
        self,
        random: Random,
        value: Callable[[Position, Move], int],
        choice: Callable[[Position], list[Move]] = moves,
    ) -> None:
        """`value` says what a move is worth to the seat that makes it; `choice` as for Uniform."""
        self._random = random
        self._value = value
        self._choice = choice

    def choose(self, position: Position, limits: Limits) -> SearchInfo:  # noqa: ARG002
        choice = self._choice(position)
        values = [self._value(position, move) for move in choice]
        best = max(values)
        move = self._random.choice(
            [m for m, value in zip(choice, values, strict=True) if value == best]
        )
        return SearchInfo(move, score=best, depth=1, nodes=len(choice))


def frozen_player(
    load: Callable[[], Callable[..., Any]],
    name: str,
    packed: Sequence[str],
    names: Sequence[str],
    *seed: int | None,
) -> Callable[..., Searcher[Any]]:
    """What makes the player of that name of `GAME/frozen/players.py`, which no package carries.

    Args:
        load: imports that module and gives its function `player`. name: str.
        packed: the players that a package has. names: all players. Both are for the messages.
        seed: int | None; given on where the game's frozen players take one.

    Raises:
        UnknownNameError: there is none of that name, or none here.
    """
    try:
        player = load()
    except ImportError:
        raise UnknownNameError(
            f"this package has no player {name!r}; it has: {', '.join(packed)}"
        ) from None
    found = player(name, *seed)
    if found is None:
        raise UnknownNameError(
            f"there is no built-in player {name!r}; there are: {', '.join(names)}"
        )
    return lambda: found
