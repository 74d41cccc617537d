"""How well a player's moves are predicted by prior.pxd: for `python -m ugolki.train opponents`."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import minimize

from core.limits import Limits
from ugolki.geometry import SEATS
from ugolki.players import player
from ugolki.protocol import PASS
from ugolki.rules import Position
from ugolki.train.features import outlook

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

NAMES = ("now", "next", "best now", "best next")
"""Of what a logit is made of: costs in steps of 16, and whether they are the least."""
SHARE = 0.2
"""Of a game's positions, that one says little more than the one before it."""


class Choice(NamedTuple):
    """What there was to choose: rows (moves, NAMES), the logits (moves) that the engine gives them,
    and the number of the chosen one."""

    rows: NDArray[np.float64]
    logits: NDArray[np.float64]
    chosen: int


def choices_of(
    names: Sequence[str], games: int, seed: int, progress: Callable[[], None]
) -> dict[str, list[Choice]]:
    """Choices of each player, in games with any four of them. Raises UnknownNameError where there
    is no such player."""
    found: dict[str, list[Choice]] = {name: [] for name in names}
    players = {name: player(name, seed) for name in names}
    for game in range(games):
        random = Random(f"{seed} {game}")
        seats = [random.choice(names) for _ in range(SEATS)]
        position = Position.start(random.getrandbits(32), opening=4)
        while not position.over:
            move: tuple[int, ...] = PASS
            if position.legal() != [PASS]:
                name = seats[position.to_move]
                move = (
                    players[name]
                    .choose(position, Limits(nodes=1000) if name == "bot" else Limits())
                    .move
                )
                if random.random() < SHARE:
                    moves, now, after, logits = zip(*outlook(position), strict=True)
                    costs = np.array([now, after]).T
                    rows = np.hstack([costs / 16, costs == costs.min(0)])
                    found[name].append(Choice(rows, np.array(logits), moves.index(move)))
            position = position.play(move)
        progress()
    return found


def surprise(logits: NDArray[np.float64], chosen: int) -> float:
    """Minus the logarithm of the share that the chosen move has, in nats."""
    return float(np.logaddexp.reduce(logits) - logits[chosen])


def fitted(choices: Sequence[Choice]) -> NDArray[np.float64]:
    """The numbers for NAMES that make the choices least surprising."""
    found = minimize(
        lambda numbers: sum(surprise(one.rows @ numbers, one.chosen) for one in choices),
        np.zeros(len(NAMES)),
    )
    return np.asarray(found.x)
