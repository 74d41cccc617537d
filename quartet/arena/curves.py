"""How a run's figures came about, game by game: Elo or shares of the win, and the log-likelihood ratio
of a test."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING

from quartet.arena import outcome, ratings

if TYPE_CHECKING:
    from quartet.arena.outcome import Outcome

POINTS = 80
"""Of a curve, at most."""
LEVEL = NormalDist().inv_cdf((1 + ratings.LEVEL) / 2)


@dataclass(frozen=True)
class Curve:
    """A figure over the games of a run.

    Attributes:
        name: str; of the figure or the player. unit: str; "Elo", "share" or "LLR".
        games: list[float]; played by then. values: list[float]; nan where it is not known.
        low, high: list[float]; the interval of 95 %, infinite on a side that is open; empty for a
            figure without.
        bounds: tuple[float, float] | None; where a test ends.
    """

    name: str
    unit: str
    games: list[float]
    values: list[float]
    low: list[float]
    high: list[float]
    bounds: tuple[float, float] | None = None


def curves(found: Outcome) -> list[Curve]:
    """All curves of a run: of two players the Elo of the first, of others everybody's share, and
    the log-likelihood ratio of a test. None without games."""
    if not found.results:
        return []
    is_pair = found.casting.seats == 2 and len(found.names) == 2
    return [*([elo(found)] if is_pair else shares(found)), *([llr(found)] if found.test else [])]


def checkpoints(number: int) -> list[int]:
    """So many blocks to look at, evenly, the last included."""
    steps = min(POINTS, number)
    return sorted({max(1, round(number * (i + 1) / steps)) for i in range(steps)})


def elo(found: Outcome) -> Curve:
    """Elo of the first of two; an interval may be one-sided."""
    blocks = ratings.blocks(found.results)
    size = fmean(len(block) for block in blocks)
    curve = Curve(f"{found.names[0]} against {found.names[1]}", "Elo", [], [], [], [])
    pairs: dict[float, float] = {}
    before = 0
    for count in checkpoints(len(blocks)):
        new = outcome.pair_scores([game for block in blocks[before:count] for game in block])
        for score, number in new.items():
            pairs[score] = pairs.get(score, 0) + number
        before = count
        rating = ratings.elo(pairs)
        curve.games.append(count * size)
        curve.values.append(rating.elo if math.isfinite(rating.elo) else math.nan)
        curve.low.append(rating.low)
        curve.high.append(rating.high)
    return curve


def shares(found: Outcome) -> list[Curve]:
    """Everybody's share of the win, with 95 % by the errors over blocks."""
    blocks = ratings.blocks(found.results)
    size = fmean(len(block) for block in blocks)
    curves = []
    for player, name in enumerate(found.names):
        own = [
            fmean(shares)
            for block in blocks
            if (
                shares := [g.shares[s] for g in block for s, p in enumerate(g.seats) if p == player]
            )
        ]
        curve = Curve(name, "share", [], [], [], [])
        for count in checkpoints(len(own)):
            mean, error = mean_and_error(own[:count])
            curve.games.append(count * size * len(blocks) / len(own))
            curve.values.append(mean)
            curve.low.append(mean - error)
            curve.high.append(mean + error)
        curves.append(curve)
    return curves


def llr(found: Outcome) -> Curve:
    """The log-likelihood ratio over the blocks, between its bounds."""
    test = found.test
    assert test is not None  # noqa: S101  (of a sequential test)
    size = 2 if test.seats == 2 else 2 * test.seats
    counts = checkpoints(len(found.scores)) if found.scores else []
    ratios = [test.llr(found.scores[:n]) for n in counts]
    state = test.state(found.scores)
    games = [float(n * size) for n in counts]
    return Curve("LLR", "LLR", games, ratios, [], [], (state.lower, state.upper))


def mean_and_error(values: list[float]) -> tuple[float, float]:
    """The mean, and half of its interval of 95 %; nan for that where all values are alike."""
    mean = fmean(values)
    variance = sum((value - mean) ** 2 for value in values) / max(1, len(values) - 1)
    return mean, LEVEL * math.sqrt(variance / len(values)) if variance else math.nan
