"""Ratings equal published Elo intervals, and the fit recovers known strengths."""

from __future__ import annotations

import math
from random import Random

import msgspec
import pytest

from quartet.arena.ratings import (
    MIN_BLOCKS,
    NATURAL,
    blocks,
    elo,
    elo_of_score,
    orders,
    pair_scores,
    plackett_luce,
    wilson,
)
from quartet.arena.sprt import PAIR
from quartet.arena.unit import GameResult, Use
from quartet.cli.tables import interval

PUBLISHED = [
    # fishtest's stat_util.get_elo as another project publishes it ("elo_estimate matches Fishtest
    # reference"): Elo and half the 95 % interval. fishtest counts a thousandth of a pair for a kind
    # that it has not seen.
    (
        (10789, 19328, 33806, 19402, 10543),
        -0.7735773359165423,
        1.2775798957280218,
    ),
    ((39, 2226, 31451, 2412, 40), 0.902981048809024, 0.6625314859816553),
    ((1187, 7410, 13475, 7378, 1164), -0.4426077992236841, 1.7298590276177421),
    ((0.001, 3, 10, 5, 2), 52.49112967044888, 66.49054926047955),
    ((50, 400, 1000, 450, 60), 6.204866471299001, 6.235842323937144),
]


@pytest.mark.parametrize(("counts", "value", "half"), PUBLISHED)
def test_published_elo(counts: tuple[float, ...], value: float, half: float) -> None:
    pairs = dict(zip(PAIR, counts, strict=True))
    rating = elo(pairs)
    assert rating.elo == pytest.approx(value, abs=1e-6)
    assert (rating.high - rating.low) / 2 == pytest.approx(half, abs=1e-6)


def test_the_elo_of_a_score() -> None:
    assert elo_of_score(0.5) == 0
    assert elo_of_score(0.75) == pytest.approx(190.8485)
    assert elo_of_score(0.25) == pytest.approx(-190.8485)
    assert elo_of_score(1) == pytest.approx(400 * math.log10(999))  # finite
    assert elo_of_score(0) == pytest.approx(-400 * math.log10(999))


def test_equal_pairs_have_a_wide_interval() -> None:
    """Check that the interval is never a point if all pairs scored the same."""
    won, lost = elo({1.0: 10}), elo({0.0: 10})
    # Ten pairs won of ten: by Clopper and Pearson at least 0.05 ** (1 / 10) of the points.
    assert won.low == pytest.approx(elo_of_score(0.05**0.1))
    assert (won.elo, won.high) == (math.inf, math.inf)
    assert (lost.elo, lost.low) == (-math.inf, -math.inf)
    assert lost.high == pytest.approx(-won.low)
    assert elo({1.0: 100}).low > won.low
    drawn = elo({0.5: 10})
    assert drawn.low < drawn.elo == 0 < drawn.high
    assert drawn.low == pytest.approx(-drawn.high)


def test_half_a_pair_counts_half() -> None:
    """Three games, two of them won: the rating is that of two thirds."""
    pairs = pair_scores([[1.0, 0.0], [1.0]])
    assert pairs == {0.5: 1.0, 1.0: 0.5}
    assert elo(pairs).elo == pytest.approx(elo_of_score(2 / 3))
    assert pair_scores([[1.0], [0.0]]) == {1.0: 1.0, 0.0: 1.0}


def test_an_interval_that_reaches_all_points_is_open() -> None:
    """Three of four games won, and their mirror image."""
    won, lost = elo({1.0: 1, 0.5: 1}), elo({0.0: 1, 0.5: 1})
    assert won.high == math.inf
    assert won.low == pytest.approx(-lost.high)
    assert lost.low == -math.inf
    assert interval(won) == f"above {won.low:.0f}"


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_published_intervals_of_wilson(
    successes: int, trials: int, low: float, high: float
) -> None:
    """R. G. Newcombe, Two-sided confidence intervals for the single proportion (1998), table I."""
    assert wilson(successes, trials) == pytest.approx((low, high), abs=5e-5)


def game(
    seats: tuple[int, ...], places: tuple[int | None, ...], block: int = 0, number: int = 0
) -> GameResult:
    use = tuple(Use() for _ in seats)
    return GameResult(number, block, seats, 0, 1, places, places, (0.0,) * len(seats), use, 0.0)


def test_ties_count_in_both_orders() -> None:
    assert sorted(orders(game((0, 1, 2, 3), (2, 1, 2, 4)))) == [(1, 0, 2, 3), (1, 2, 0, 3)]
    assert orders(game((0, 1, 1, 2), (3, 1, None, 2))) == [(1, 2, 0), (1, 2, 0)]


def test_a_tie_of_several_favours_no_seat() -> None:
    results = [game((0, 1, 2, 3), (1, 1, 1, 1), number // 4, number) for number in range(400)]
    ratings = plackett_luce(blocks(results), 4, resamples=())
    assert [rating.elo for rating in ratings] == pytest.approx([0] * 4, abs=20)


@pytest.mark.parametrize(
    "seatings", [[(0, 1, 2, 3)], [(0, 1, 1, 1), (1, 0, 0, 0)], [(0, 1), (1, 2), (0, 2)]]
)
def test_the_fit_recovers_known_strengths(seatings: list[tuple[int, ...]]) -> None:
    """Draw games from the model: the intervals contain the truth and have the right width."""
    strengths, random = [1.0, 2.0, 3.0, 1.5], Random(1)
    results = []
    for number in range(800):
        seats = seatings[number % len(seatings)]
        # The exponential race: a player that is k times as strong arrives first k times as often.
        arrival = [random.expovariate(strengths[player]) for player in seats]
        places = tuple(1 + sum(other < own for other in arrival) for own in arrival)
        results.append(game(seats, places, number // 4))
    players = 1 + max(player for seats in seatings for player in seats)
    ratings = plackett_luce(blocks(results), players, resamples=range(60))
    assert sum(rating.elo for rating in ratings) == pytest.approx(0, abs=1e-6)
    mean = sum(math.log(s) for s in strengths[:players]) / players
    for rating, strength in zip(ratings, strengths, strict=False):
        truth = NATURAL * (math.log(strength) - mean)
        assert rating.low - 5 < truth < rating.high + 5
        assert 10 < rating.high - rating.low < 80
        assert rating.low < rating.elo < rating.high


def test_an_unbeaten_player_has_a_finite_rating() -> None:
    results = [game((0, 1), (1, 2), number) for number in range(30)]
    best, worst = plackett_luce(blocks(results), 2, resamples=range(5))
    assert 400 < best.elo - worst.elo < 4000


def test_an_interval_is_open_where_no_game_bounds_it() -> None:
    """Player 0 wins all games, 3 loses all; 1 and 2 share theirs, and 4 does not play."""
    results = [
        game((0, 1, 2, 3), (1, *((2, 3) if number % 3 else (3, 2)), 4), number)
        for number in range(30)
    ]
    for number in (30, 9):
        ratings = plackett_luce(blocks(results[:number]), 5, resamples=range(20))
        best, second, third, worst, absent = ratings
        assert best.high == math.inf
        assert worst.low == -math.inf
        assert second.elo < best.low < best.elo
        assert worst.elo < worst.high < third.elo
        assert (absent.low, absent.high) == (-math.inf, math.inf)
        for rating in (second, third):
            assert -2000 < rating.low < rating.elo < rating.high < 2000
    more = plackett_luce(blocks(results), 5, resamples=range(20))
    assert more[0].low - more[1].elo > best.low - second.elo


@pytest.mark.parametrize(("number", "least"), [(5, 0.85), (12, 0.88)])
def test_an_interval_covers_the_rating_also_with_few_blocks(number: int, least: float) -> None:
    """Equal players; the percentiles alone cover 0.8 with five blocks. With four, there is none."""
    random = Random(3)
    covered: list[bool] = []
    for _ in range(60):
        results = []
        for block in range(number):
            for seats in ((0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2)):
                places = tuple(random.sample(range(1, 5), 4))
                results.append(game(seats, places, block))
        rated = plackett_luce(blocks(results), 4, resamples=range(100))
        covered += [rating.low <= 0 <= rating.high for rating in rated]
        few = plackett_luce(blocks(results)[: MIN_BLOCKS - 1], 4, resamples=range(5))
        assert all((rating.low, rating.high) == (-math.inf, math.inf) for rating in few)
    assert sum(covered) / len(covered) > least


def test_an_open_interval_of_two_players_is_clopper_and_pearsons() -> None:
    results = [game((0, 1), (1, 2), number) for number in (0, *range(10))]  # blocks differ
    best, worst = plackett_luce(blocks(results), 2, resamples=range(5))
    assert best.low - worst.high == pytest.approx(elo({1.0: 10}).low)


def test_the_interval_is_unknown_without_variance() -> None:
    rounds = [game((0, 1, 2, 3), (1, 2, 3, 4)), game((1, 2, 3, 0), (2, 1, 3, 4))]
    again = [msgspec.structs.replace(result, block=1) for result in reversed(rounds)]
    for results in (rounds, rounds + again):
        for rating in plackett_luce(blocks(results), 4, resamples=range(5)):
            assert (rating.low, rating.high) == (-math.inf, math.inf)
            assert interval(rating) == "-"
    others = [game((0, 1, 2, 3), (4, 3, 2, 1), block) for block in range(1, MIN_BLOCKS)]
    mixed = plackett_luce(blocks([*rounds, *others]), 4, resamples=range(20))
    assert all(rating.low < rating.elo < rating.high for rating in mixed)
