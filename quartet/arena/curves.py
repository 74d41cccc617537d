"""How the figures of a run developed: Elo or win shares, and the log-likelihood ratio of a test."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import NormalDist, fmean

from quartet.arena import ratings
from quartet.arena.outcome import Outcome
from quartet.arena.schedule import sprt_block_size
from quartet.arena.standings import standard_error

POINTS = 80
"""Greatest number of points of a curve."""
LEVEL = NormalDist().inv_cdf((1 + ratings.LEVEL) / 2)


@dataclass
class Curve:
    """A figure by the number of games.

    Attributes:
        name: The figure or the player.
        unit: "Elo", "share" or "LLR".
        games: Games played at each point.
        values: The figure there, nan if it is not known.
        low: Lower bound of its 95 % interval, infinite if it is open; empty without an interval.
        high: Upper bound.
        bounds: Where a sequential test ends.
    """

    name: str
    unit: str
    games: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    bounds: tuple[float, float] | None = None

    def add(self, games: float, value: float, low: float, high: float) -> None:
        """Add a point with its interval."""
        self.games.append(games)
        self.values.append(value)
        self.low.append(low)
        self.high.append(high)


def curves(found: Outcome) -> list[Curve]:
    """Return the curves of a run, none without games.

    Two players have the Elo of the first, others a win share each. A test has its ratio, too.
    """
    if not found.results:
        return []
    is_pair = found.config.seats == len(found.names) == 2
    return [*([elo(found)] if is_pair else shares(found)), *([llr(found)] if found.test else [])]


def checkpoints(number: int) -> list[int]:
    """Return numbers of blocks, evenly spaced, at most POINTS, the last one included."""
    steps = min(POINTS, number)
    return sorted({max(1, round(number * (i + 1) / steps)) for i in range(steps)})


def elo(found: Outcome) -> Curve:
    """Return the Elo of the first of two players; an interval may be open on one side."""
    blocks = ratings.blocks(found.results)
    size = fmean(len(block) for block in blocks)
    curve = Curve(f"{found.names[0]} against {found.names[1]}", "Elo")
    own = [[game.share_of(0) for game in block] for block in blocks]
    for count in checkpoints(len(blocks)):
        rating = ratings.elo(ratings.pair_scores(own[:count]))
        value = rating.elo if math.isfinite(rating.elo) else math.nan
        curve.add(count * size, value, rating.low, rating.high)
    return curve


def shares(found: Outcome) -> list[Curve]:
    """Return the win share of every player, with 95 % intervals by the errors over blocks."""
    blocks = ratings.blocks(found.results)
    size = fmean(len(block) for block in blocks)
    curves = []
    for player, name in enumerate(found.names):
        of_blocks = [
            [game.shares[s] for game in block for s, p in enumerate(game.seats) if p == player]
            for block in blocks
        ]
        own = [fmean(shares) for shares in of_blocks if shares]
        curves.append(curve := Curve(name, "share"))
        for count in checkpoints(len(own)):
            mean, error = mean_and_error(own[:count])
            curve.add(count * size * len(blocks) / len(own), mean, mean - error, mean + error)
    return curves


def llr(found: Outcome) -> Curve:
    """Return the log-likelihood ratio by blocks, between its bounds."""
    test = found.test
    assert test is not None  # noqa: S101  (of a sequential test)
    counts = checkpoints(len(found.scores)) if found.scores else []
    state = test.state(found.scores)
    games = [float(n * sprt_block_size(test.seats)) for n in counts]
    ratios = [test.llr(found.scores[:n]) for n in counts]
    return Curve("LLR", "LLR", games, ratios, bounds=(state.lower, state.upper))


def mean_and_error(values: list[float]) -> tuple[float, float]:
    """Return the mean and half of its 95 % interval, nan for that if all values are the same."""
    return fmean(values), LEVEL * standard_error(values)
