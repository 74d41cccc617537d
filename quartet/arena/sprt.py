"""The generalised sequential probability ratio test (GSPRT) on blocks of games.

A block's score takes one of a few values a_i; n_i of N blocks had each. The hypotheses state only
the mean of their distribution: s0 or s1. The log-likelihood ratio is that of the two distributions
that fit the blocks best under these constraints. By Lagrange multipliers (M. Van den Bergh,
"Comments on normalized elo" and support_MLE_multinomial.pdf, proposition 1.1,
https://www.cantate.be/Fishtest/; it is also Owen's empirical likelihood) the best distribution of
mean s is

    p_i = (n_i / N) / (1 + x (a_i - s))    with x from    sum_i n_i (a_i - s) / (1 + x (a_i - s)) = 0

so that LLR = sum_i n_i log((1 + x0 (a_i - s0)) / (1 + x1 (a_i - s1))). On pairs of games with sides
swapped (a = 0, 1/4, 1/2, 3/4, 1) this is the pentanomial test in logistic Elo that fishtest runs
for Stockfish.

Wald's bounds hold for a ratio that ends on one of them. It overshoots them, by more with larger
steps per block, and then plays too many games for the error rates. As in fishtest the bounds are
moved inwards by the mean overshoot (D. Siegmund, "Sequential Analysis", 1985, corollary 8.33),
which the test's own records estimate: if the ratio exceeded its previous maximum by d_1, d_2, ...,
the upper bound is lowered by sum d^2 / (2 sum d); likewise the lower bound. By 10,000 simulated
tests for 5 % (`simulate` in tests/test_sprt.py) the error rates are 4.8 to 5.6 % for 50 and 20 Elo,
with 4 to 7 % fewer pairs than without; in tests of 30 pairs without any draw up to 6 %.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from core.errors import QuartetError
from quartet.arena.unit import GameResult

UNSEEN = 1e-3
"""Count of a value that never occurred, as in fishtest. With 0, a first pair won would exclude
every mean but 1."""

CLOSE = 1e-12
"""Relative width of the interval at which the search for a root ends."""
PAIR = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The scores of a pair of games."""


class Decision(Enum):
    """How a test ended."""

    H0 = "H0"
    H1 = "H1"


def expected_score(elo: float) -> float:
    """Return the points per game of a player who is stronger by this logistic Elo."""
    return 1 / (1 + 10 ** (-elo / 400))


def bounds(alpha: float, beta: float) -> tuple[float, float]:
    """Return Wald's bounds of the log-likelihood ratio: H0 below the first, H1 above the second."""
    return math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)


def llr(counts: Mapping[float, float], s0: float, s1: float) -> float:
    """Return the log-likelihood ratio of mean `s1` against mean `s0`.

    Args:
        counts: Blocks by score, for every score that a block can have.
        s0: Mean under H0.
        s1: Mean under H1.

    Raises:
        QuartetError: A mean is not strictly between the scores.
    """
    seen = {value: count or UNSEEN for value, count in counts.items()}
    x0, x1 = _multiplier(seen, s0), _multiplier(seen, s1)
    return sum(
        count * (math.log1p(x0 * (value - s0)) - math.log1p(x1 * (value - s1)))
        for value, count in seen.items()
    )


def _multiplier(counts: Mapping[float, float], mean: float) -> float:
    """Return the root x of the secular equation.

    The function falls from infinity to minus infinity between its outer poles. Newton's method,
    with bisection if a step leaves the interval. The likelihood is flat there: last digits do not
    matter.
    """
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
    """The state of a test.

    Attributes:
        ratio: The log-likelihood ratio.
        lower: Its lower bound, corrected for overshoot.
        upper: Its upper bound, corrected for overshoot.
        decision: The decision, None while the test continues.
    """

    ratio: float
    lower: float
    upper: float
    decision: Decision | None


class _Walk:
    """The ratio of a test, block by block, with its records on both sides."""

    def __init__(self, test: Sprt) -> None:
        self._test = test
        self._counts = test.counts([])
        self.scores: list[float] = []
        self._ratio = 0.0
        self._extremes = {-1: 0.0, 1: 0.0}
        self._squares = {-1: 0.0, 1: 0.0}

    def add(self, score: float) -> None:
        """Add a block."""
        self.scores.append(score)
        counts = {**self._counts, score: self._counts.get(score, 0) + 1}
        self._counts = dict(sorted(counts.items()))
        self._ratio = llr(self._counts, self._test.s0, self._test.s1)
        for side, extreme in self._extremes.items():
            if side * self._ratio > side * extreme:
                self._squares[side] += (self._ratio - extreme) ** 2
                self._extremes[side] = self._ratio

    def _overshoot(self, side: int) -> float:
        """Return the mean overshoot of a bound, with the sign of its side."""
        extreme = self._extremes[side]
        return self._squares[side] / extreme / 2 if extreme else 0.0

    @property
    def state(self) -> State:
        """The state after all blocks."""
        lower = self._test.lower - self._overshoot(-1)
        upper = self._test.upper - self._overshoot(1)
        decision = None
        if not lower < self._ratio < upper:
            decision = Decision.H0 if self._ratio <= lower else Decision.H1
        return State(self._ratio, lower, upper, decision)


@dataclass(frozen=True)
class Sprt:
    """A test of two means of the blocks' scores.

    Attributes:
        seats: Seats of the game.
        s0: Mean score of a block under H0.
        s1: Mean score of a block under H1.
        alpha: Probability of accepting H1 if H0 is true.
        beta: Probability of accepting H0 if H1 is true.
        lower: Wald's lower bound of the log-likelihood ratio, uncorrected.
        upper: Wald's upper bound, uncorrected.
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
        self.llr([])  # raises QuartetError for an impossible mean

    def counts(self, scores: Sequence[float]) -> dict[float, int]:
        """Return blocks by score, for all scores without shared wins and those that occurred."""
        counts = dict.fromkeys(PAIR if self.seats == 2 else lone_scores(self.seats), 0)
        for score in scores:
            counts[score] = counts.get(score, 0) + 1
        return dict(sorted(counts.items()))

    def llr(self, scores: Sequence[float]) -> float:
        """Return the log-likelihood ratio of complete blocks by their scores."""
        return llr(self.counts(scores), self.s0, self.s1)

    def end(self, scores: Sequence[float]) -> int | None:
        """Return the number of blocks after which the test ended, None if it continues."""
        walk = _Walk(self)
        for number, score in enumerate(scores, start=1):
            walk.add(score)
            if walk.state.decision is not None:
                return number
        return None

    def state(self, scores: Sequence[float]) -> State:
        """Return the state after these blocks, with the correction after each.

        Blocks that a previous call began with are not computed again.
        """
        walk = self._walk
        if walk is None or walk.scores != list(scores[: len(walk.scores)]):
            walk = _Walk(self)
            object.__setattr__(self, "_walk", walk)
        for score in scores[len(walk.scores) :]:
            walk.add(score)
        return walk.state


def block_score(games: Sequence[GameResult]) -> float:
    """Return the score of player 0 in a complete block.

    With two seats it is the points per game. With more, half of the block has player 0 alone
    against player 1, the other half vice versa. The score is the mean of two figures: the win share
    of the lone 0, and twice the fair share minus that of the lone 1. It is the fair share if both
    are equal. Under Plackett-Luce both halves weigh small differences alike.
    """
    seats = len(games[0].seats)
    if seats == 2:
        return sum(game.share_of(0) for game in games) / len(games)
    lone = [
        sum(game.share_of(player) for game in games if game.seats.count(player) == 1) / seats
        for player in (0, 1)
    ]
    # Shares are quotients by at most `seats`; unrounded, one score would count as several.
    return round((lone[0] + 2 / seats - lone[1]) / 2, 9)


def lone_scores(seats: int) -> list[float]:
    """Return the values of `block_score` without shared wins."""
    return [round((2 / seats + k / seats) / 2, 9) for k in range(-seats, seats + 1)]
