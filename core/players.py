"""Two players that every game has: a random one and a greedy one. Frozen by the fingerprint.

A game's `players.py` has two names:

    NAMES                 names of the built-in players: first "bot", the engine, then "greedy",
                          which needs no compiled module and opposes packages in their test
    player(name, seed)    the player of a name with options, by `core.engine.configured`; it imports
                          an engine only on request; `seed` is that of random choices, and None
                          (the default) makes them irreproducible
"""

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
    """Return the legal moves. Raises RuleError if the game is over."""
    found = position.legal()
    if not found:
        raise RuleError("the game is over")
    return found


def lead(position: Position, seat: int) -> int:
    """Return a seat's lead over the other one, in a two-player game."""
    scores = position.scores()
    return (scores[seat] or 0) - (scores[1 - seat] or 0)


def lead_after(position: Position, move: Move) -> int:
    """Return the mover's lead after its move."""
    return lead(position.play(move), position.to_move)


class Uniform:
    """A player that chooses any legal move, a pass included, with equal probability."""

    def __init__(self, random: Random, choice: Callable[[Position], list[Move]] = moves) -> None:
        """`choice` returns the moves to choose from, and raises RuleError if there are none."""
        self._random = random
        self._choice = choice

    def choose(self, position: Position, limits: Limits) -> SearchInfo:  # noqa: ARG002
        return SearchInfo(self._random.choice(self._choice(position)), depth=0, nodes=1)


class Greedy:
    """A player that chooses the move with the greatest value, at random among equals."""

    def __init__(
        self,
        random: Random,
        value: Callable[[Position, Move], int],
        choice: Callable[[Position], list[Move]] = moves,
    ) -> None:
        """`value` is a move's value for the mover; `choice` is as for Uniform."""
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
    """Return a function that makes a player of `GAME/frozen/players.py`, which packages omit.

    Args:
        load: Imports that module and returns its function `player`.
        name: Name of the player.
        packed: Players of a package, for the message.
        names: All players, for the message.
        seed: Seed, if the game's frozen players take one.

    Raises:
        UnknownNameError: The player does not exist, or not in this package.
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
