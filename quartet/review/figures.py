"""The figures of a review: labels, accuracy, turning point; pure functions of probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, harmonic_mean, pstdev
from typing import NamedTuple

from quartet.review.document import FORCED, FORFEITED, LABELS, TurnReview

ACCURACY = (103.1668100711649, 4.354415386753951, 2.166924740191411)
"""(a, b, c) of a move's accuracy, a exp(-b x) - c, where x is the win probability lost, 0 to 1.
Source: lichess, https://lichess.org/page/accuracy; x is in percent there, and c contains the bonus
of 1 that its server adds for imperfect analysis (AccuracyPercent.scala in lichess-org/lila)."""
WINDOW = (2, 8)
"""Smallest and largest number of positions whose win probabilities give the weight of a move; a
tenth of the game's turns in between (lichess)."""
WEIGHT = (0.005, 0.12)
"""Smallest and largest weight of a move (lichess: 0.5 and 12 percent)."""
MIN_DECISIONS = 3
"""A player with fewer turns that matter has no accuracy."""
ACCURACY_NOTE = (
    "accuracy: as on lichess, over turns that could change something; "
    f"- with fewer than {MIN_DECISIONS} of them"
)
DECIDED = 0.02
"""A win probability this near to 0 or 1 cannot change much any more. Not tuned."""
SURE = 0.9
"""Win probability from which losing it is a missed win. Not tuned."""
MISTAKES = LABELS[-2:]
"""Labels that a summary counts as mistakes."""
PHASES = ("opening", "middle", "end")
"""The thirds of a game, in order."""


def label(loss: float, thresholds: Sequence[float]) -> str:
    """Return the label of a loss."""
    return LABELS[sum(loss >= bound for bound in thresholds)]


def severity(name: str) -> int:
    """Return the rank of a label, from 0; a forfeit is the worst."""
    ranks = (*LABELS, FORFEITED)
    return ranks.index(name) if name in ranks else 0


class WeightedLoss(NamedTuple):
    """A turn that had a choice.

    Attributes:
        loss: Win probability lost.
        label: By the loss.
        weight: Volatility of the mover's win probability up to the position after the turn.
        idle: True if it could change nothing, as in TurnReview.
    """

    loss: float
    label: str
    weight: float
    idle: bool


def weighted_losses(
    start: Sequence[float] | None, turns: Sequence[TurnReview]
) -> dict[int, WeightedLoss]:
    """Return the turns that had a choice and a loss, by number.

    The weight is the standard deviation of the win probabilities of the last positions, the one
    after the turn included. Turns at the beginning share the first positions.
    """
    led = [start, *(turn.shares for turn in turns)]
    size = min(max(len(turns) // 10, WINDOW[0]), WINDOW[1])
    found = {}
    for number, turn in enumerate(turns):
        if turn.label == FORCED or turn.loss is None:
            continue
        first, seat = max(0, number + 2 - size), turn.seat
        window = [shares[seat] for shares in led[first : first + size] if shares is not None]
        weight = min(max(pstdev(window), WEIGHT[0]), WEIGHT[1])
        found[number] = WeightedLoss(turn.loss, turn.label, weight, turn.idle)
    return found


def accuracy(chosen: Sequence[WeightedLoss]) -> float | None:
    """Return the accuracy of decisions, 0 to 100; None if too few of them matter.

    As on lichess, it is the mean of two means: one weighted by volatility, so that moves in
    positions that are all but won or lost count little, and the harmonic one. Unlike there, turns
    that could change nothing do not count: a lost player cannot lose anything more.
    """
    a, b, c = ACCURACY
    chosen = [decision for decision in chosen if not decision.idle]
    if len(chosen) < MIN_DECISIONS:
        return None
    each = [min(100.0, max(0.0, a * math.exp(-b * d.loss) - c)) for d in chosen]
    weighted = fmean(each, [decision.weight for decision in chosen])
    return round((weighted + harmonic_mean([max(1.0, x) for x in each])) / 2, 1)


def is_decided(share: float) -> bool:
    """Return True if a win probability cannot change much any more."""
    return share <= DECIDED or share >= 1 - DECIDED


def turning_point(
    start: Sequence[float] | None, turns: Sequence[TurnReview], final: Sequence[float]
) -> int | None:
    """Return the number of the turn after which the winner led until the end.

    Returns None if there is no single winner, if it led all the time, or without probabilities.
    """
    if start is None or max(final, default=0) < 1:
        return None
    winner = list(final).index(max(final))
    led = [start, *(turn.shares for turn in turns)]
    for number, shares in reversed(list(enumerate(led))):
        if shares is None:
            return None
        others = (share for seat, share in enumerate(shares) if seat != winner)
        if shares[winner] <= max(others):
            return number if number < len(turns) else None
    return None


def phase(number: int, turns: int) -> str:
    """Return the third of the game that a turn is in, one of PHASES."""
    return PHASES[min(2, 3 * number // max(1, turns))]
