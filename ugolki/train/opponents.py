"""Measure how well the opponents' network predicts the moves of players, for `python -m
ugolki.train opponents`."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, NamedTuple

from core.limits import Limits
from ugolki.engine import Engine
from ugolki.geometry import SEATS
from ugolki.players import player
from ugolki.protocol import PASS
from ugolki.rules import Position

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from core.rules import Move

SHARE = 0.2
"""Share of the positions that are measured: successive ones are too much alike."""


class Choice(NamedTuple):
    """A move of a player.

    Attributes:
        shares: Predicted probability of each legal move.
        chosen: The move played.
    """

    shares: dict[Move, float]
    chosen: Move


def choices_of(
    names: Sequence[str], games: int, seed: int, progress: Callable[[], None]
) -> dict[str, list[Choice]]:
    """Return choices of each player, from games between random ones of them.

    Args:
        names: Players to measure.
        games: Number of games.
        seed: Seed of seats, openings and players.
        progress: Called after each game.

    Raises:
        UnknownNameError: There is no such player.
    """
    found: dict[str, list[Choice]] = {name: [] for name in names}
    players = {name: player(name, seed) for name in names}
    engine = Engine()
    for game in range(games):
        random = Random(f"{seed} {game}")
        seats = [random.choice(names) for _ in range(SEATS)]
        position = Position.start(random.getrandbits(32), opening=4)
        while not position.over:
            move: Move = PASS
            if position.legal() != [PASS]:
                name = seats[position.to_move]
                limits = Limits(nodes=1000) if name == "bot" else Limits()
                move = players[name].choose(position, limits).move
                if random.random() < SHARE:
                    found[name].append(Choice(engine.prediction(position), move))
            position = position.play(move)
        progress()
    return found
