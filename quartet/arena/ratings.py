"""Ratings in Elo with 95 % intervals: two players by their score, others by Plackett-Luce."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from statistics import NormalDist

from core.errors import QuartetError
from core.extras import install_hint
from quartet.arena.unit import GameResult

EDGE = 1e-3
"""Least distance of a score from 0 and 1, where Elo is infinite; as in fishtest."""
PRIOR = 0.01
"""choix's regularisation: a player that never lost gets a finite rating. Not tuned."""
RESAMPLES = 200
MIN_BLOCKS = 5
"""Blocks that an interval by resampling needs. With fewer, it would be far too narrow."""
ROUGHLY = 1e-3
"""Tolerance of choix on a resample: a change of less than 0.2 Elo."""
LEVEL = 0.95
INFINITE = 40000.0
"""A rating at which a player always wins: 10 ** 100 times as strong as at 0."""
NATURAL = 400 / math.log(10)
"""Elo per unit of the logarithm of a strength."""

Blocks = Sequence[Sequence[GameResult]]
"""Games by block. Games of one opening are correlated, so errors are over blocks, not games."""


@dataclass(frozen=True)
class Rating:
    """A rating in Elo with its 95 % interval.

    Of two players it is the difference. Else the average of all players is 0.
    """

    elo: float
    low: float
    high: float


def blocks(results: Sequence[GameResult]) -> list[list[GameResult]]:
    """Return the results by block."""
    found: dict[int, list[GameResult]] = {}
    for result in results:
        found.setdefault(result.block, []).append(result)
    return list(found.values())


def pair_scores(shares: Iterable[Sequence[float]]) -> dict[float, float]:
    """Return how often which mean occurs among win shares by block; an incomplete block counts in
    part, so that each game has the same weight."""
    blocks = list(shares)
    whole = max(map(len, blocks), default=1)
    found: dict[float, float] = defaultdict(float)
    for block in blocks:
        found[sum(block) / len(block)] += len(block) / whole
    return found


def elo_of_score(score: float) -> float:
    """Return the logistic Elo of a mean score per game."""
    score = min(max(score, EDGE), 1 - EDGE)
    return -400 * math.log10(1 / score - 1)


def elo(pairs: Mapping[float, float]) -> Rating:
    """Return the difference of two players by the scores of pairs, by a normal approximation.

    As in fishtest's get_elo the interval is symmetric in scores, not in Elo. It is open where the
    score reaches 0 or 1. If all pairs scored the same there is no variance. The interval is then
    Clopper and Pearson's, open on one side, for 0 or 1, else Wilson's, with pairs as trials.

    Args:
        pairs: How often a score of a pair, 0 .. 1, occurred.
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
    return Rating(
        elo_of_score(mean),
        -math.inf if low < EDGE else elo_of_score(low),
        math.inf if high > 1 - EDGE else elo_of_score(high),
    )


def wilson(successes: float, trials: float) -> tuple[float, float]:
    """Return the 95 % interval of a probability, by Wilson's score."""
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    mean, scale = successes / trials, 1 + z * z / trials
    middle = (mean + z * z / (2 * trials)) / scale
    error = z * math.sqrt(mean * (1 - mean) / trials + z * z / (4 * trials * trials)) / scale
    return middle - error, middle + error


def plackett_luce(
    results: Blocks, players: int, *, resamples: Iterable[int] = range(RESAMPLES), seed: int = 0
) -> list[Rating]:
    """Return the ratings of all players by their places, with bootstrap intervals over blocks.

    A tie counts in both orders. With two seats this is the Bradley-Terry model. The percentiles of
    the bootstrap are expanded by Student's distribution (Hesterberg, "What Teachers Should Know
    About the Bootstrap", 2015). If there are fewer than MIN_BLOCKS blocks, or all have the same
    results, the interval is infinite. A player that was never behind or never ahead of another has
    the rating of the prior, and an interval that is open on one side.

    Args:
        results: Games by block.
        players: Number of players.
        resamples: Iterated once; the number of bootstrap resamples is its length.
        seed: Seed of the resamples.

    Raises:
        QuartetError: choix is not installed.
    """
    rankings = [[order for game in block for order in orders(game)] for block in results]
    best = _fit(rankings, players)
    number = len(rankings)
    if len({tuple(sorted(block)) for block in rankings}) == 1:
        return [Rating(elo, -math.inf, math.inf) for elo in best]
    random = Random(seed)
    draws = resamples if number >= MIN_BLOCKS else ()
    again = [_fit(random.choices(rankings, k=number), players, best) for _ in draws]
    tail = _tail(number)
    pairs = {pair for block in rankings for order in block for pair in combinations(order, 2)} - {
        (player, player) for player in range(players)
    }
    ahead, behind = {first for first, _ in pairs}, {last for _, last in pairs}
    ratings = []
    for player in range(players):
        low, high = -math.inf, math.inf
        if player in ahead & behind and again:
            ordered = sorted(fit[player] for fit in again)
            low, high = (_quantile(ordered, q) for q in (tail, 1 - tail))
        elif player not in ahead & behind:
            low = _bound(rankings, best, player, 1) if player in ahead else -math.inf
            high = _bound(rankings, best, player, -1) if player in behind else math.inf
        ratings.append(Rating(best[player], low, high))
    return ratings


def _bound(
    rankings: Sequence[Sequence[tuple[int, ...]]],
    ratings: Sequence[float],
    player: int,
    sign: int,
) -> float:
    """Return the bound of a player that was always ahead (sign 1) or behind (-1).

    At the bound, its results have the likelihood 1 - LEVEL compared with an infinite rating, if the
    others have their ratings. A block counts as one game. For two players it is Clopper and
    Pearson's bound.
    """
    weights: dict[tuple[int, ...], float] = defaultdict(float)
    for block in rankings:
        own = [order for order in block if player in order]
        for order in own:
            weights[order] += 1 / len(own)

    def log_likelihood(elo: float) -> float:
        elos = [elo if other == player else rating for other, rating in enumerate(ratings)]
        strengths = [10 ** (one / 400) for one in elos]
        return sum(
            weight * math.log(strengths[order[i]] / sum(strengths[seat] for seat in order[i:]))
            for order, weight in weights.items()
            for i in range(len(order))
        )

    outer, inner = -sign * INFINITE, sign * INFINITE
    least = log_likelihood(inner) + math.log(1 - LEVEL)
    for _ in range(60):
        middle = (outer + inner) / 2
        if log_likelihood(middle) < least:
            outer = middle
        else:
            inner = middle
    return inner - (inner - ratings[player]) / len(ratings)  # the mean stays 0


def orders(game: GameResult) -> list[tuple[int, ...]]:
    """Return the players from the first to the last place, twice: shared places in a random order,
    which the game's number decides, and in its reverse."""
    seats = [seat for seat, place in enumerate(game.places) if place is not None]
    Random(game.number).shuffle(seats)
    return [
        tuple(game.seats[seat] for seat in sorted(order, key=lambda s: game.places[s] or 0))
        for order in (seats, seats[::-1])
    ]


def _fit(
    rankings: Sequence[Sequence[tuple[int, ...]]],
    players: int,
    near: Sequence[float] | None = None,
) -> list[float]:
    """Return ratings in Elo with mean 0; start from `near` ones for a faster, rougher fit."""
    try:
        import choix  # noqa: PLC0415  (an extra, and slow to import)
    except ImportError:
        raise QuartetError(f"ratings need choix: {install_hint('choix', 'scipy')}") from None
    data = [order for block in rankings for order in block]
    if near is None:
        parameters = choix.ilsr_rankings(players, data, alpha=PRIOR, max_iter=1000)
    else:
        start = [value / NATURAL for value in near]
        parameters = choix.ilsr_rankings(
            players, data, alpha=PRIOR, initial_params=start, max_iter=1000, tol=ROUGHLY
        )
    return [float(value) for value in (parameters - parameters.mean()) * NATURAL]


def _tail(number: int) -> float:
    """Return the part of a bootstrap over `number` blocks that lies below its expanded interval."""
    from scipy.special import stdtrit  # noqa: PLC0415  (an extra, which choix needs, too)

    student = float(stdtrit(number - 1, (1 + LEVEL) / 2))
    return NormalDist().cdf(-student * math.sqrt(number / (number - 1)))


def _quantile(ordered: Sequence[float], q: float) -> float:
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]
