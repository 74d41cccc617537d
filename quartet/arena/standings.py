"""What a run's results say about every player."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev

from quartet.arena.unit import GameResult, Use


@dataclass
class Line:
    """One player's figures; a game in which it has several seats counts once for each.

    Attributes:
        games: seats it had; wins, draws, losses: first place alone, shared, and not at all.
        score: points, the shares of all wins; firsts, first_score: games on the first seat, and the
            points from them.
        shares: mean share of the win in every block of games.
        use: what it spent, all games together, `longest` being the longest of all turns.
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
        """Mean share of the win, nan without games."""
        return self.score / self.games if self.games else math.nan

    @property
    def error(self) -> float:
        """Standard error of `share`, over blocks; nan for fewer than two, and where all blocks were
        the same: that is no certainty."""
        if len(set(self.shares)) < 2:
            return math.nan
        return stdev(self.shares) / math.sqrt(len(self.shares))

    @property
    def depth(self) -> float:
        """Mean depth, nan where nobody told."""
        return self.use.depth / self.use.searches if self.use.searches else math.nan

    @property
    def speed(self) -> float:
        """Nodes per second, nan where nobody told."""
        return self.use.nodes / self.use.search_seconds if self.use.search_seconds > 0 else math.nan


def standings(results: Iterable[GameResult], players: int) -> list[Line]:
    """Everybody's line, in the order of the players."""
    lines = [Line(player) for player in range(players)]
    blocks: dict[tuple[int, int], list[float]] = {}
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
            blocks.setdefault((player, result.block), []).append(share)
            line.use = add(line.use, result.use[seat])
    for (player, _), shares in blocks.items():
        lines[player].shares.append(fmean(shares))
    return lines


def add(a: Use, b: Use) -> Use:
    """Both together."""
    return Use(
        turns=a.turns + b.turns,
        seconds=a.seconds + b.seconds,
        longest=max(a.longest, b.longest),
        searches=a.searches + b.searches,
        depth=a.depth + b.depth,
        nodes=a.nodes + b.nodes,
        search_seconds=a.search_seconds + b.search_seconds,
        lost=dict(Counter(a.lost) + Counter(b.lost)),
    )


def by_seat(results: Sequence[GameResult]) -> list[float]:
    """The mean share of the win on every seat, whoever sat there; empty without results."""
    return (
        [fmean(result.shares[seat] for result in results) for seat in range(len(results[0].seats))]
        if results
        else []
    )


def crosstable(results: Iterable[GameResult], players: int) -> list[list[float]]:
    """Points of everybody (row) against everybody (column), in games of two seats."""
    points = [[0.0] * players for _ in range(players)]
    for result in results:
        a, b = result.seats
        points[a][b] += result.shares[0]
        points[b][a] += result.shares[1]
    return points
