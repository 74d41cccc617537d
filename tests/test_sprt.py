"""The sequential test has the published log-likelihood ratios, and its error rates hold in
simulations, also for four seats."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.errors import QuartetError
from quartet.arena.sprt import (
    PAIR,
    Decision,
    Sprt,
    block_score,
    bounds,
    expected_score,
    llr,
    lone_scores,
)
from quartet.arena.unit import GameResult, Use

Floats = NDArray[np.float64]


def pentanomial(counts: Sequence[int], elo0: float, elo1: float) -> float:
    """Return the log-likelihood ratio of counts of pairs with 0, 1/2, 1, 3/2 and 2 points."""
    return llr(dict(zip(PAIR, counts, strict=True)), expected_score(elo0), expected_score(elo1))


PUBLISHED = [
    # fishtest's own LLRcalc.LLR_logistic. The first two are the samples at the end of its
    # stat_util.py; their values, and the third to the sixth, as other projects publish them in
    # their tests against fishtest ("llr_matches_fishtest_reference_values"); the rest from a third
    # one (FISHTEST_LLR, from fishtest at 93fe81eb).
    ((10789, 19328, 33806, 19402, 10543), -3, 1, 2.131067811785019),
    ((39, 2226, 31451, 2412, 40), 0.2, 0.9, 2.1625425800483598),
    ((0, 10, 20, 50, 20), 0, 5, 1.4286861064744187),
    ((3, 20, 45, 25, 7), 0, 10, 0.6959726064980855),
    ((0, 0, 50, 0, 0), 0, 5, -0.7176058361124835),
    ((2, 5, 80, 8, 5), 0, 5, 0.5384862572588683),
    ((3, 20, 50, 22, 5), 0, 20, 0.04032037241670679),
    ((3, 20, 50, 22, 5), 0, 5, 0.17838022438188125),
    ((3, 20, 50, 22, 5), -10, 10, 0.9344729113889829),
    ((0, 10, 30, 12, 0), 0, 20, -0.27041453628885204),
    ((0, 10, 30, 12, 0), 0, 5, 0.085226848211516),
    ((12, 40, 60, 30, 8), 0, 20, -2.9973011351582723),
    ((12, 40, 60, 30, 8), -10, 10, -2.0579732004260216),
]

STOCKFISH = [
    # Finished tests of Stockfish as fishtest printed them, with two decimals, from pull requests of
    # its logistic years: 3209 (short and long games), 2920 (both), 3331 (both), 3098 (both).
    ((253, 4282, 17604, 4431, 286), -0.25, 1.25, 2.94),
    ((58, 3302, 33130, 3518, 84), 0.25, 1.25, 2.97),
    ((665, 4806, 9333, 4893, 747), -0.5, 1.5, 2.95),
    ((328, 4564, 15580, 4789, 371), 0.25, 1.75, 2.98),
    ((115, 2196, 11328, 2317, 136), -0.25, 1.25, 2.94),
    ((14, 1030, 14318, 1163, 19), 0.25, 1.25, 2.93),
    ((491, 7345, 29693, 7670, 465), -0.25, 1.25, 2.96),
    ((53, 2220, 21459, 2445, 47), 0.25, 1.25, 2.97),
]


@pytest.mark.parametrize(("counts", "elo0", "elo1", "published"), PUBLISHED)
def test_published_ratios(
    counts: tuple[int, ...], elo0: float, elo1: float, published: float
) -> None:
    assert pentanomial(counts, elo0, elo1) == pytest.approx(published, abs=1e-9)


@pytest.mark.parametrize(("counts", "elo0", "elo1", "published"), STOCKFISH)
def test_ratios_of_stockfishs_tests(
    counts: tuple[int, ...], elo0: float, elo1: float, published: float
) -> None:
    assert pentanomial(counts, elo0, elo1) == pytest.approx(published, abs=0.0051)


def test_bounds_are_walds() -> None:
    assert bounds(0.05, 0.05) == pytest.approx((-2.9444389791664403, 2.9444389791664403))
    assert bounds(0.01, 0.1) == pytest.approx((math.log(0.1 / 0.99), math.log(0.9 / 0.01)))


@given(st.lists(st.integers(0, 1000), min_size=5, max_size=5), st.floats(-30, 30), st.floats(1, 60))
def test_swapped_sides_negate_the_ratio(counts: list[int], elo0: float, step: float) -> None:
    straight = pentanomial(counts, elo0, elo0 + step)
    mirrored = pentanomial(counts[::-1], -elo0 - step, -elo0)
    assert straight == pytest.approx(-mirrored, rel=1e-6, abs=1e-9)


def test_the_observed_mean_is_the_most_likely() -> None:
    counts = dict(zip(PAIR, (3, 20, 45, 25, 7), strict=True))
    mean = sum(value * count for value, count in counts.items()) / sum(counts.values())
    assert all(llr(counts, mean, other) < 0 for other in (0.01, 0.3, mean - 1e-4, mean + 1e-4, 0.9))
    assert llr(counts, 0.5, 0.52) + llr(counts, 0.52, 0.6) == pytest.approx(llr(counts, 0.5, 0.6))


def test_impossible_hypotheses_give_an_error() -> None:
    with pytest.raises(QuartetError, match=r"a mean of 1 is impossible: blocks score from 0 to 1"):
        Sprt(2, 0.5, 1.0)
    with pytest.raises(QuartetError, match="below"):
        Sprt(2, 0.6, 0.5)
    with pytest.raises(QuartetError, match="alpha"):
        Sprt(2, 0.5, 0.6, alpha=0)


# Simulation


def tilted(base: Floats, values: Floats, mean: float) -> Floats:
    """Return the distribution closest to `base`, an exponential tilt of it, that has this mean."""
    low, high = -100.0, 100.0
    for _ in range(100):
        middle = (low + high) / 2
        weights = base * np.exp(middle * values)
        weights /= weights.sum()
        low, high = (middle, high) if weights @ values < mean else (low, middle)
    return np.asarray(weights)


def ratios(counts: Floats, values: Floats, s0: float, s1: float, x: Floats) -> Floats:
    """Return `quartet.arena.sprt.llr` of many tests at once.

    Newton's method starts from the multipliers `x` of one block earlier, and updates them.
    """
    seen = np.where(counts == 0, 1e-3, counts)
    found = np.zeros(len(counts))
    for side, (s, sign) in enumerate(((s0, 1), (s1, -1))):
        shifted = values - s
        left, right = (
            np.full(len(counts), -1 / shifted.max()),
            np.full(len(counts), -1 / shifted.min()),
        )
        for _ in range(200):
            before = x[side].copy()
            quotient = shifted / (1 + before[:, None] * shifted)
            value, slope = (seen * quotient).sum(axis=1), -(seen * quotient**2).sum(axis=1)
            left, right = np.where(value > 0, before, left), np.where(value > 0, right, before)
            step = before - value / slope
            x[side] = np.where((step <= left) | (step >= right), (left + right) / 2, step)
            if np.abs(x[side] - before).max() < 1e-7:
                break
        found += sign * (seen * np.log1p(x[side][:, None] * shifted)).sum(axis=1)
    return found


def simulate(
    test: Sprt, values: Floats, truth: Floats, tests: int, seed: int
) -> tuple[float, float]:
    """Return the fraction of simulated tests that accept H1, and the mean number of blocks.

    A test checks after every block, which is the hardest case.
    """
    random = np.random.default_rng(seed)
    counts = np.zeros((tests, len(values)))
    x = np.zeros((2, tests))
    most, least, squares_up, squares_down = np.zeros((4, tests))
    accepted = blocks = 0
    while len(counts):
        scores = random.choice(len(values), size=len(counts), p=truth)
        counts[np.arange(len(counts)), scores] += 1
        found = ratios(counts, values, test.s0, test.s1, x)
        squares_up += np.maximum(found - most, 0) ** 2
        squares_down += np.minimum(found - least, 0) ** 2
        most, least = np.maximum(found, most), np.minimum(found, least)
        upper = test.upper - squares_up / np.where(most > 0, 2 * most, 1)
        lower = test.lower - squares_down / np.where(least < 0, 2 * least, 1)
        if blocks % 997 == 0:  # the quick ratios are the real ones
            real = llr(
                dict(zip(values.tolist(), counts[0].tolist(), strict=True)), test.s0, test.s1
            )
            assert found[0] == pytest.approx(real, abs=1e-6)
        blocks += len(counts)
        accepted += int((found >= upper).sum())
        going = (found > lower) & (found < upper)
        counts, x, most, least = counts[going], x[:, going], most[going], least[going]
        squares_up, squares_down = squares_up[going], squares_down[going]
    return accepted / tests, blocks / tests


TESTS = 2000
SAMPLING = 3 * math.sqrt(0.05 * 0.95 / TESTS)
"""Three standard errors of an error rate of 5 % over the number of simulated tests."""
SMALL = 0.01
"""The error of both approximations, of the ratio and of the overshoot, in tests of some 30
pairs."""

PAIRS = {
    "chess-like": [0.02, 0.2, 0.5, 0.24, 0.04],
    "no draws": [0.25, 0.0, 0.5, 0.0, 0.25],
    "the first player wins": [0.02, 0.03, 0.9, 0.03, 0.02],
}


@pytest.mark.parametrize(
    ("kind", "elo1"),
    [*((kind, 100) for kind in PAIRS), ("chess-like", 50)],
)
def test_error_rates_of_pairs(kind: str, elo1: float) -> None:
    values = np.array(PAIR)
    test = Sprt(2, expected_score(0), expected_score(elo1))
    for mean, most in ((test.s0, test.alpha), (test.s1, test.beta)):
        accepted, blocks = simulate(
            test, values, tilted(np.array(PAIRS[kind]), values, mean), TESTS, seed=1
        )
        errors = accepted if mean == test.s0 else 1 - accepted
        print(
            f"{kind}, elo1 {elo1}: {100 * errors:.2f} % wrong at {mean:.4f}, {blocks:.0f} pairs "
            "on average"
        )
        assert errors <= most + SMALL + SAMPLING


@pytest.mark.slow
def test_error_rates_of_the_default_hypotheses() -> None:
    """Simulate the defaults: elo0 = 0, elo1 = 10, alpha = beta = 0.05."""
    values = np.array(PAIR)
    test = Sprt(2, expected_score(0), expected_score(10))
    base = np.array(PAIRS["the first player wins"])
    wrong = [
        simulate(test, values, tilted(base, values, mean), TESTS, seed=2)[0]
        for mean in (test.s0, test.s1)
    ]
    assert wrong[0] <= test.alpha + SAMPLING
    assert 1 - wrong[1] <= test.beta + SAMPLING


def lone_blocks(ratio: float, seats: int = 4) -> Floats:
    """Return the distribution of `lone_scores` by Plackett-Luce if the new version is `ratio` times
    as strong."""

    def wins(p: float) -> Floats:
        return np.array(
            [math.comb(seats, k) * p**k * (1 - p) ** (seats - k) for k in range(seats + 1)]
        )

    alone, against = wins(ratio / (ratio + seats - 1)), wins(1 / (1 + (seats - 1) * ratio))
    # score = (a / seats + 2 / seats - b / seats) / 2, from b = seats, a = 0 up
    return np.asarray(np.convolve(alone, against[::-1]))


def test_error_rates_of_blocks_of_four_seats() -> None:
    values = np.array(lone_scores(4))
    for elo1 in (50, 100):
        fair, strong = lone_blocks(1), lone_blocks(10 ** (elo1 / 400))
        assert fair @ values == pytest.approx(0.25)
        test = Sprt(4, 0.25, float(strong @ values))
        h1_at_s0, _ = simulate(test, values, fair, TESTS, seed=3)
        h1_at_s1, _ = simulate(test, values, strong, TESTS, seed=4)
        assert h1_at_s0 <= test.alpha + SAMPLING
        assert 1 - h1_at_s1 <= test.beta + SAMPLING


# Blocks


def game(seats: tuple[int, ...], shares: tuple[float, ...]) -> GameResult:
    places = tuple(1 if share else 2 for share in shares)
    return GameResult(
        0, 0, seats, 0, 10, (0,) * len(seats), places, shares, (Use(),) * len(seats), 0.0
    )


def test_scores_of_pairs() -> None:
    assert block_score([game((0, 1), (1, 0)), game((1, 0), (0.5, 0.5))]) == 0.75
    assert block_score([game((0, 1), (0, 1)), game((1, 0), (1, 0))]) == 0


def test_scores_of_blocks_of_four() -> None:
    new_alone = [game((0, 1, 1, 1), (1, 0, 0, 0)), game((1, 0, 1, 1), (0, 1, 0, 0))] * 2
    old_alone = [game((1, 0, 0, 0), (1, 0, 0, 0)), game((0, 1, 0, 0), (1, 0, 0, 0))] * 2
    never = [game((1, 0, 0, 0), (0, 1, 0, 0))] * 4
    assert block_score([*new_alone, *old_alone]) == pytest.approx((1 + 0.5 - 0.5) / 2)
    assert block_score([*new_alone, *never]) == max(lone_scores(4)) == 0.75
    fair = [game((0, 1, 1, 1), (0.25,) * 4)] * 4 + [game((1, 0, 0, 0), (0.25,) * 4)] * 4
    assert block_score(fair) == 0.25


def test_bounds_move_inwards_by_the_mean_overshoot() -> None:
    """Compare with Siegmund's corollary 8.33 as in fishtest: sum d^2 / (2 sum d) over the steps of
    records."""
    scores = [0.5, 0.75, 1.0, 0.25, 1.0, 0.0, 0.0, 0.0, 0.25, 1.0, 1.0, 1.0, 0.75, 1.0]
    test = Sprt(2, expected_score(0), expected_score(100))
    ratios = [test.llr(scores[: n + 1]) for n in range(len(scores))]
    up, down, most, least = [], [], 0.0, 0.0
    for ratio in ratios:
        up += [ratio - most] if ratio > most else []
        down += [least - ratio] if ratio < least else []
        most, least = max(most, ratio), min(least, ratio)
    assert len(up) > 2
    assert len(down) > 2
    state = test.state(scores)
    assert state.ratio == ratios[-1]
    assert test.upper - state.upper == pytest.approx(sum(d * d for d in up) / sum(up) / 2)
    assert state.lower - test.lower == pytest.approx(sum(d * d for d in down) / sum(down) / 2)
    # What is known of the beginning is used again, and only then.
    assert test.state(scores[:3]) == Sprt(2, test.s0, test.s1).state(scores[:3])
    assert test.state(scores) == state
    assert test.state([]).upper == test.upper


def test_a_test_decides() -> None:
    test = Sprt(2, expected_score(0), expected_score(50))
    assert test.state([1.0] * 3).decision is None
    assert test.state([1.0] * 60).decision is Decision.H1
    assert test.state([0.25] * 60).decision is Decision.H0
    assert test.end([1.0] * 3) is None
    end = test.end([1.0] * 60)
    assert end is not None
    assert test.state([1.0] * end).decision is Decision.H1
    assert test.state([1.0] * (end - 1)).decision is None
    assert Counter(test.counts([0.5, 0.5, 1.0])) == Counter(
        {0.0: 0, 0.25: 0, 0.5: 2, 0.75: 0, 1.0: 1}
    )
