"""The generalised sequential probability ratio test (GSPRT) on blocks of games.

A block's score takes one of a few values a_i; n_i of N blocks had each. Nothing is assumed of their
distribution but its mean: s0 under one hypothesis, s1 under the other. The log-likelihood ratio is
that of the two distributions that fit the blocks best under these constraints. By Lagrange
multipliers (M. Van den Bergh, "Comments on normalized elo" and support_MLE_multinomial.pdf,
proposition 1.1, https://www.cantate.be/Fishtest/; it is also Owen's empirical likelihood) the best
distribution of mean s is

    p_i = (n_i / N) / (1 + x (a_i - s))    with x from    sum_i n_i (a_i - s) / (1 + x (a_i - s)) = 0

so that LLR = sum_i n_i log((1 + x0 (a_i - s0)) / (1 + x1 (a_i - s1))). On pairs of games with sides
swapped (a = 0, 1/4, 1/2, 3/4, 1) this is the pentanomial test in logistic Elo that fishtest runs
for Stockfish.

Wald's bounds are for a ratio that ends on one of them. It ends behind it, the more so the larger the
blocks' steps, and then too many games were played for the error rates that were asked for. As in
fishtest the bounds are moved inwards by the mean overshoot (D. Siegmund, "Sequential Analysis", 1985,
corollary 8.33), which the test's own records estimate: where the ratio rose above all before it by
d_1, d_2, ..., the upper bound is lower by sum d^2 / (2 sum d), and so on the other side. By 10,000
simulated tests for 5 % (`simulate` in tests/test_sprt.py) the error rates are 4.8 to 5.6 % for 50 and
20 Elo, with 4 to 7 % fewer pairs than without; in tests of 30 pairs without any draw up to 6 %.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from core.errors import QuartetError
from quartet.arena.unit import GameResult

UNSEEN = 1e-3
"""Blocks that a value counts which never occurred, as in fishtest: without it the first pair won
would exclude any mean but 1."""

CLOSE = 1e-12
"""Where the search for a root ends, as a part of where it can still be."""
PAIR = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The scores of a pair of games."""


class Decision(Enum):
    """How a test ended."""

    H0 = "H0"
    H1 = "H1"


def expected_score(elo: float) -> float:
    """Points per game of a player who is so much logistic Elo stronger."""
    return 1 / (1 + 10 ** (-elo / 400))


def bounds(alpha: float, beta: float) -> tuple[float, float]:
    """Wald's bounds of the log-likelihood ratio: H0 below the first, H1 above the second."""
    return math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)


def llr(counts: Mapping[float, float], s0: float, s1: float) -> float:
    """The log-likelihood ratio of mean `s1` against mean `s0`; `counts` has every value that a
    block can have, 0 where it never had.

    Raises QuartetError for a mean that is not strictly between the values.
    """
    seen = {value: count or UNSEEN for value, count in counts.items()}
    x0, x1 = _multiplier(seen, s0), _multiplier(seen, s1)
    return sum(
        count * (math.log1p(x0 * (value - s0)) - math.log1p(x1 * (value - s1)))
        for value, count in seen.items()
    )


def pentanomial(counts: Sequence[int], elo0: float, elo1: float) -> float:
    """The log-likelihood ratio of pairs of games, `counts` for 0, 1/2, 1, 3/2 and 2 points, in
    logistic Elo."""
    return llr(dict(zip(PAIR, counts, strict=True)), expected_score(elo0), expected_score(elo1))


def _multiplier(counts: Mapping[float, float], mean: float) -> float:
    """The root x of the secular equation; it falls from infinity to minus infinity between its
    outer poles. By Newton's method, with bisection where that leads out of what is left; the
    log-likelihood is flat there, so that the last digits do not matter."""
    low, high = min(counts) - mean, max(counts) - mean
    if not low < 0 < high:
        raise QuartetError(
            f"a mean of {mean:g} is impossible: blocks score from {min(counts):g} to "
            f"{max(counts):g}"
        )
    terms = [(value - mean, count) for value, count in counts.items()]
    left, right, x = -1 / high, -1 / low, 0.0
    while True:
        height = slope = 0.0
        for distance, count in terms:
            part = distance / (1 + x * distance)
            height += count * part
            slope -= count * part * part
        if height > 0:
            left = x
        else:
            right = x
        further = x - height / slope
        if not left < further < right:
            further = (left + right) / 2
        if abs(further - x) <= CLOSE * (right - left) or further in {left, right}:
            return further
        x = further


@dataclass(frozen=True)
class State:
    """Where a test stands.

    Attributes:
        ratio: float; the log-likelihood ratio. lower, upper: float; its bounds, corrected for
            overshoot. decision: Decision | None; None: go on.
    """

    ratio: float
    lower: float
    upper: float
    decision: Decision | None


@dataclass
class _Records:
    """How far a ratio has come to one side, and by what steps.

    Attributes:
        last: float; the record, 0 at first. squares: float; sum of the squares of its steps.
    """

    last: float = 0.0
    squares: float = 0.0

    @property
    def overshoot(self) -> float:
        """The mean by which a bound is passed, with the sign of its side."""
        return self.squares / self.last / 2 if self.last else 0.0

    def step(self, ratio: float) -> None:
        """A new record."""
        self.squares += (ratio - self.last) ** 2
        self.last = ratio


class _Walk:
    """The way that the ratio of a test has come, block by block."""

    def __init__(self, test: Sprt) -> None:
        self._test = test
        self._counts = test.counts([])
        self.scores: list[float] = []
        self._ratio = 0.0
        self._below, self._above = _Records(), _Records()

    def add(self, score: float) -> None:
        """One block more."""
        self.scores.append(score)
        if score not in self._counts:
            self._counts = dict(sorted({**self._counts, score: 0}.items()))
        self._counts[score] += 1
        self._ratio = llr(self._counts, self._test.s0, self._test.s1)
        if self._ratio < self._below.last:
            self._below.step(self._ratio)
        if self._ratio > self._above.last:
            self._above.step(self._ratio)

    @property
    def state(self) -> State:
        """Where it has led to."""
        lower = self._test.lower - self._below.overshoot
        upper = self._test.upper - self._above.overshoot
        decision = None
        if not lower < self._ratio < upper:
            decision = Decision.H0 if self._ratio <= lower else Decision.H1
        return State(self._ratio, lower, upper, decision)


@dataclass(frozen=True)
class Sprt:
    """A test of two means of the blocks' scores.

    Attributes:
        seats: of the game; s0, s1: the means; alpha, beta: how often, at most, H1 is accepted at
            s0, and H0 at s1.
        lower, upper: Wald's bounds of the log-likelihood ratio, before any correction.
    """

    seats: int
    s0: float
    s1: float
    alpha: float = 0.05
    beta: float = 0.05
    lower: float = field(init=False)
    upper: float = field(init=False)
    _walk: _Walk | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        if not (0 < self.alpha < 1 and 0 < self.beta < 1 and self.alpha + self.beta < 1):
            raise QuartetError(
                f"alpha {self.alpha:g} and beta {self.beta:g} must be positive, and less than 1 "
                "together"
            )
        if not self.s0 < self.s1:
            raise QuartetError("the first hypothesis must be below the second one")
        lower, upper = bounds(self.alpha, self.beta)
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)
        self.llr([])  # says so where a mean is impossible

    def counts(self, scores: Sequence[float]) -> dict[float, int]:
        """How many blocks had which score, for every score that they can have without shared wins
        and those that they had."""
        counts = dict.fromkeys(PAIR if self.seats == 2 else lone_scores(self.seats), 0)
        for score in scores:
            counts[score] = counts.get(score, 0) + 1
        return dict(sorted(counts.items()))

    def llr(self, scores: Sequence[float]) -> float:
        """The log-likelihood ratio by the scores of complete blocks."""
        return llr(self.counts(scores), self.s0, self.s1)

    def end(self, scores: Sequence[float]) -> int | None:
        """The number of blocks after which the test has ended, None where it goes on."""
        walk = _Walk(self)
        for number, score in enumerate(scores, start=1):
            walk.add(score)
            if walk.state.decision is not None:
                return number
        return None

    def state(self, scores: Sequence[float]) -> State:
        """Where the test stands after these blocks, looked at after each. What was asked before
        about the beginning of the same blocks is not computed again."""
        walk = self._walk
        if walk is None or walk.scores != list(scores[: len(walk.scores)]):
            walk = _Walk(self)
            object.__setattr__(self, "_walk", walk)
        for score in scores[len(walk.scores) :]:
            walk.add(score)
        return walk.state


def block_score(games: Sequence[GameResult]) -> float:
    """The score of player 0 in a complete block.

    Two seats: points per game. More seats: half of the block has player 0 alone against
    player 1, the other half the reverse. The score is the mean of the share of wins of the lone
    0 and of what the lone 1 falls short of twice the fair share; it is the fair share where both
    are equally strong, and under Plackett-Luce both halves weigh small differences alike.
    """
    seats = len(games[0].seats)
    if seats == 2:
        return sum(game.shares[game.seats.index(0)] for game in games) / len(games)
    lone = [
        sum(game.shares[game.seats.index(c)] for game in games if game.seats.count(c) == 1) / seats
        for c in (0, 1)
    ]
    # Shares are quotients by at most `seats`; without rounding the same score would count as
    # several.
    return round((lone[0] + 2 / seats - lone[1]) / 2, 9)


def lone_scores(seats: int) -> list[float]:
    """The values of `block_score` without shared wins."""
    return [round((2 / seats + k / seats) / 2, 9) for k in range(-seats, seats + 1)]


def lone_share(elo: float, seats: int) -> float:
    """The expected `block_score` of a version that is so much Elo stronger in the Plackett-Luce
    model."""
    ratio = 10 ** (elo / 400)
    return (ratio / (ratio + seats - 1) + 2 / seats - 1 / (1 + (seats - 1) * ratio)) / 2
