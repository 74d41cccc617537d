"""The figures of every player of a run."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from statistics import fmean, stdev

from quartet.arena.unit import GameResult, Use


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of the mean, nan if all values are the same."""
    return stdev(values) / math.sqrt(len(values)) if len(set(values)) > 1 else math.nan


@dataclass
class PlayerStats:
    """One player's figures. A game in which it has several seats counts once for each.

    Attributes:
        player: Its index.
        games: Seats it had.
        wins: Games in which it came first alone.
        draws: Games in which it shared the first place.
        losses: Games in which it did not come first.
        score: Points: the sum of its win shares.
        firsts: Games on the first seat.
        first_score: Points from the first seat.
        shares: Mean win share in every block.
        use: What it spent in all games.
    """

    player: int
    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    score: float = 0.0
    firsts: int = 0
    first_score: float = 0.0
    shares: list[float] = field(default_factory=list)
    use: Use = Use()  # noqa: RUF009  (frozen)

    @property
    def share(self) -> float:
        """Mean win share, nan without games."""
        return self.score / self.games if self.games else math.nan

    @property
    def error(self) -> float:
        """Standard error of `share` over blocks; nan if all blocks scored the same."""
        return standard_error(self.shares)

    @property
    def depth(self) -> float:
        """Mean search depth, nan if it is not known."""
        return self.use.depth / self.use.searches if self.use.searches else math.nan

    @property
    def speed(self) -> float:
        """Nodes per second, nan if they are not known."""
        return self.use.nodes / self.use.search_seconds if self.use.search_seconds > 0 else math.nan


def standings(results: Iterable[GameResult], players: int) -> list[PlayerStats]:
    """Return the figures of all players, by index."""
    lines = [PlayerStats(player) for player in range(players)]
    blocks: dict[tuple[int, int], list[float]] = defaultdict(list)
    uses: list[list[Use]] = [[] for _ in range(players)]
    for result in results:
        for seat, player in enumerate(result.seats):
            line, share = lines[player], result.shares[seat]
            line.games += 1
            line.wins += share == 1
            line.draws += 0 < share < 1
            line.losses += share == 0
            line.score += share
            if seat == 0:
                line.firsts += 1
                line.first_score += share
            blocks[player, result.block].append(share)
            uses[player].append(result.use[seat])
    for (player, _), shares in blocks.items():
        lines[player].shares.append(fmean(shares))
    for line, spent in zip(lines, uses, strict=True):
        line.use = Use.total(spent)
    return lines


def by_seat(results: Sequence[GameResult]) -> list[float]:
    """Return the mean win share of every seat; empty without results."""
    return [fmean(shares) for shares in zip(*(game.shares for game in results), strict=True)]


def points_against(
    games: Iterable[GameResult], players: int
) -> tuple[list[list[float]], list[list[int]]]:
    """Return the points of each player (row) against each other (column), and the seats counted.

    A seat has 1 point against a seat that finished behind it, half a point against an equal one.
    """
    points = [[0.0] * players for _ in range(players)]
    number = [[0] * players for _ in range(players)]
    for game in games:
        seats = [(player, p or 0) for player, p in zip(game.seats, game.places, strict=True)]
        for (player, place), (other, behind) in permutations(seats, 2):
            points[player][other] += ((place < behind) + (place <= behind)) / 2
            number[player][other] += 1
    return points, number
