"""How well a player's moves are predicted by the opponents' network: for `python -m ugolki.train
opponents`."""

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
"""Of a game's positions, that one says little more than the one before it."""


class Choice(NamedTuple):
    """What there was to choose: how likely each move was, and the chosen one."""

    shares: dict[Move, float]
    chosen: Move


def choices_of(
    names: Sequence[str], games: int, seed: int, progress: Callable[[], None]
) -> dict[str, list[Choice]]:
    """Choices of each player, in games with any four of them. Raises UnknownNameError where there
    is no such player."""
    found: dict[str, list[Choice]] = {name: [] for name in names}
    players = {name: player(name, seed) for name in names}
    engine = Engine(model=False)
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
