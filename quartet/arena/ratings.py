"""Ratings in Elo with intervals: two players by their score, more of them, or more than two at a
table, by Plackett-Luce."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import NormalDist

from core.errors import QuartetError
from core.extras import how_to_install
from quartet.arena.unit import GameResult

EDGE = 1e-3
"""Scores are kept so far from 0 and 1, where Elo is infinite; as in fishtest."""
PRIOR = 0.01
"""choix's regularisation: who never lost gets a finite rating."""
RESAMPLES = 200
ROUGHLY = 1e-3
"""Where choix stops on a resample: a change of less than a fifth of an Elo."""
LEVEL = 0.95
NATURAL = 400 / math.log(10)
"""Elo per unit of the logarithm of a strength."""

Blocks = Sequence[Sequence[GameResult]]
"""Games that share an opening belong together: errors are taken over blocks, not over games."""


@dataclass(frozen=True)
class Rating:
    """Elo and its interval of 95 %. Between two players it is the difference, else the average
    of all is 0."""

    elo: float
    low: float
    high: float


def blocks(results: Sequence[GameResult]) -> list[list[GameResult]]:
    """The results, block by block."""
    found: dict[int, list[GameResult]] = {}
    for result in results:
        found.setdefault(result.block, []).append(result)
    return list(found.values())


def elo_of_score(score: float) -> float:
    """Logistic Elo of a mean score per game."""
    score = min(max(score, EDGE), 1 - EDGE)
    return -400 * math.log10(1 / score - 1)


def elo(pairs: Mapping[float, float]) -> Rating:
    """The difference by the scores of pairs of games; normal approximation on the mean.

    As fishtest's get_elo, the interval is symmetric in scores, not in Elo. Pairs that all scored
    the same have no variance to speak of: then the interval is the one-sided one of Clopper and
    Pearson where all were won or lost, and Wilson's where they were not, with a pair for a trial.

    Args:
        pairs: Mapping[float, float]; score of a pair, 0 to 1 -> how often it occurred.
    """
    number = sum(pairs.values())
    mean = sum(score * count for score, count in pairs.items()) / number
    variance = sum(count * (score - mean) ** 2 for score, count in pairs.items()) / number
    if variance > 0:
        error = NormalDist().inv_cdf((1 + LEVEL) / 2) * math.sqrt(variance / number)
        low, high = mean - error, mean + error
    elif mean in {0.0, 1.0}:
        bound = (1 - LEVEL) ** (1 / number)
        if mean == 1:
            return Rating(math.inf, elo_of_score(bound), math.inf)
        return Rating(-math.inf, -math.inf, elo_of_score(1 - bound))
    else:
        low, high = wilson(mean * number, number)
    return Rating(elo_of_score(mean), elo_of_score(low), elo_of_score(high))


def wilson(successes: float, trials: float) -> tuple[float, float]:
    """The interval of 95 % of a probability, by Wilson's score."""
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    mean, scale = successes / trials, 1 + z * z / trials
    middle = (mean + z * z / (2 * trials)) / scale
    error = z * math.sqrt(mean * (1 - mean) / trials + z * z / (4 * trials * trials)) / scale
    return middle - error, middle + error


def superiority(pairs: Mapping[float, float]) -> float:
    """The likelihood that the first of two is the stronger one, in the same approximation."""
    number = sum(pairs.values())
    mean = sum(score * count for score, count in pairs.items()) / number
    variance = sum(count * (score - mean) ** 2 for score, count in pairs.items()) / number
    if variance == 0:
        return 0.5 if mean == 0.5 else float(mean > 0.5)
    return NormalDist().cdf((mean - 0.5) / math.sqrt(variance / number))


def plackett_luce(
    results: Blocks, players: int, *, resamples: Iterable[int] = range(RESAMPLES), seed: int = 0
) -> list[Rating]:
    """Everybody's rating by the order in which they came in, with bootstrap intervals over blocks,
    one for each of `resamples`.

    A tie counts in both orders. With two seats this is the Bradley-Terry model. Raises QuartetError
    where choix is not installed.
    """
    rankings = [[order for game in block for order in orders(game)] for block in results]
    best = _fit(rankings, players)
    random = Random(seed)
    again = [_fit(random.choices(rankings, k=len(rankings)), players, best) for _ in resamples]
    tail = (1 - LEVEL) / 2
    ratings = []
    for player in range(players):
        ordered = sorted(fit[player] for fit in again)
        ratings.append(
            Rating(best[player], *(_quantile(ordered, q, best[player]) for q in (tail, 1 - tail)))
        )
    return ratings


def orders(game: GameResult) -> list[tuple[int, ...]]:
    """The players from the first to the last place, twice: those who share a place in either
    order."""
    seats = [seat for seat, place in enumerate(game.places) if place is not None]
    return [
        tuple(game.seats[seat] for seat in sorted(seats, key=lambda s: (game.places[s], sign * s)))
        for sign in (1, -1)
    ]


def _fit(
    rankings: Sequence[Sequence[tuple[int, ...]]],
    players: int,
    near: Sequence[float] | None = None,
) -> list[float]:
    """Ratings in Elo, 0 on average; roughly, but sooner, where they are `near` known ones."""
    try:
        import choix  # noqa: PLC0415  (an extra, and slow to import)
    except ImportError:
        raise QuartetError(f"ratings need choix: {how_to_install('choix', 'scipy')}") from None
    data = [order for block in rankings for order in block]
    if near is None:
        parameters = choix.ilsr_rankings(players, data, alpha=PRIOR, max_iter=1000)
    else:
        start = [value / NATURAL for value in near]
        parameters = choix.ilsr_rankings(
            players, data, alpha=PRIOR, initial_params=start, max_iter=1000, tol=ROUGHLY
        )
    return [float(value) for value in (parameters - parameters.mean()) * NATURAL]


def _quantile(ordered: Sequence[float], q: float, default: float) -> float:
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))] if ordered else default
