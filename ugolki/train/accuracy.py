"""How well a search's win shares predict the results of recorded games, for `python -m ugolki.train
accuracy`.

It compares changes of networks and search at a small part of the cost of games.
"""

from __future__ import annotations

import json
import math
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, NamedTuple

from core.engine import EXPECTATION, can
from core.errors import QuartetError, TextError
from core.limits import Limits
from ugolki import players
from ugolki.rules import Position

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

MIN_SHARE = 1e-4
"""A smaller win share counts as this one."""


class RecordedGame(NamedTuple):
    """A recorded game.

    Attributes:
        positions: Positions of its turns in order.
        shares: Win share of each seat.
    """

    positions: list[Position]
    shares: list[float]


class Accuracy(NamedTuple):
    """What a player's win shares say of the results.

    Attributes:
        loss: Mean cross-entropy in nats; each game counts alike.
        difference: Mean difference to the first player.
        error: Standard error of the difference, over games.
    """

    loss: float
    difference: float
    error: float


def read_games(folders: Sequence[Path]) -> list[RecordedGame]:
    """Return the finished games of records. Raises QuartetError if there are fewer than two."""
    found = []
    for folder in folders:
        for file in sorted((folder / "games").glob("*.log")):
            header, *turns = map(json.loads, file.read_text("utf-8").splitlines())
            if turns and turns[-1]["type"] == "result":
                found.append(read_game(file, header, turns))
    if len(found) < 2:
        raise QuartetError("accuracy takes the records of two finished games at least")
    return found


def read_game(file: Path, header: dict[str, Any], turns: list[dict[str, Any]]) -> RecordedGame:
    """Replay a log. Raises TextError if it is not of whole turns of Ugolki."""
    position = Position.start(header["seed"], **header["options"])
    positions = []
    for turn in turns[:-1]:
        if turn["type"] == "turn":
            if turn["ply"] != position.ply:
                raise TextError(f"{file}: ply {turn['ply']} follows where {position.ply} should")
            positions.append(position)
            move = turn["move"]
            position = position.lose_turn() if move is None else position.play(tuple(move))
    return RecordedGame(positions, turns[-1]["shares"])


def loss_of(player: Any, games: Sequence[RecordedGame], nodes: int, every: int) -> list[float]:
    """Return the mean cross-entropy of each game over every N-th turn. The first turn varies by
    game."""
    limits = Limits(nodes=nodes)
    losses = []
    for number, game in enumerate(games):
        found = []
        for position in game.positions[number % every :: every]:
            if len(position.pseudolegal()) < 2:
                continue
            player.new_game()
            player.choose(position, limits)
            found.append(
                -sum(
                    share * math.log(max(MIN_SHARE, expected))
                    for share, expected in zip(game.shares, player.expectation(), strict=True)
                )
            )
        losses.append(fmean(found) if found else math.nan)
    return losses


def measure(
    names: Sequence[str],
    games: Sequence[RecordedGame],
    nodes: int,
    every: int,
    report: Callable[[str, Accuracy], None],
) -> None:
    """Report each player's accuracy. Raises QuartetError for players without win shares."""
    first: list[float] = []
    for name in names:
        player = players.player(name)
        if not can(player, EXPECTATION):
            raise QuartetError(f"{name} does not expect win shares")
        losses = loss_of(player, games, nodes, every)
        first = first or losses
        pairs = [
            (loss, loss - other)
            for loss, other in zip(losses, first, strict=True)
            if not math.isnan(loss)
        ]
        if len(pairs) < 2:
            raise QuartetError(f"fewer than two games have a searched turn; lower --every {every}")
        differences = [difference for _, difference in pairs]
        report(
            name,
            Accuracy(
                fmean(loss for loss, _ in pairs),
                fmean(differences),
                stdev(differences) / math.sqrt(len(pairs)),
            ),
        )
