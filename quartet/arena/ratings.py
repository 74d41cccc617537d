"""Ratings in Elo with intervals: two players by their score, more of them, or more than two at a
table, by Plackett-Luce."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import NormalDist

from core.errors import QuartetError
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
    """The difference by the scores (0 to 1) of pairs of games, with how often each occurred; normal
    approximation on the mean.

    As fishtest's get_elo, the interval is symmetric in scores, not in Elo.
    """
    number = sum(pairs.values())
    mean = sum(score * count for score, count in pairs.items()) / number
    variance = sum(count * (score - mean) ** 2 for score, count in pairs.items()) / number
    error = NormalDist().inv_cdf((1 + LEVEL) / 2) * math.sqrt(variance / number)
    return Rating(elo_of_score(mean), elo_of_score(mean - error), elo_of_score(mean + error))


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
        raise QuartetError(
            "ratings need choix; install the extra: pip install 'quartet[stats]'"
        ) from None
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
