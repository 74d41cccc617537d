"""The figures of a review: labels, accuracy, turning point; pure functions of probabilities."""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING

from quartet.review.document import FORCED, FOUL, LABELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quartet.review.document import TurnReview

ACCURACY = (103.1668, 4.354, 3.1669)
"""Of a move that loses x of win probability: a * exp(-b * x) - c, between 0 and 100; as Lichess has it
(https://lichess.org/page/accuracy), with x from 0 to 1 instead of percent. A player's accuracy is the
mean over all turns with a choice."""
FORMULA = (
    "accuracy: the mean over turns with a choice of 103.1668 exp(-4.354 loss) - 3.1669, 0 to 100"
)
DECIDED = 0.02
"""A seat whose win probability is so near to 0 or 1 cannot change much any more."""
SURE = 0.9
"""A win that can be missed has this probability, or is proven."""


def label(loss: float, thresholds: Sequence[float]) -> str:
    """The label of a loss."""
    return LABELS[sum(loss >= bound for bound in thresholds)]


def severity(name: str) -> int:
    """How bad a label is, from 0; a foul is the worst."""
    return len(LABELS) if name == FOUL else LABELS.index(name) if name in LABELS else 0


def accuracy(losses: Sequence[float]) -> float | None:
    """A player's accuracy, 0 to 100; None without a turn that had a choice."""
    a, b, c = ACCURACY
    if not losses:
        return None
    return round(fmean(min(100.0, max(0.0, a * math.exp(-b * x) - c)) for x in losses), 1)


def judged(turns: Sequence[TurnReview], seat: int) -> list[TurnReview]:
    """A seat's turns that had a choice and a loss."""
    return [t for t in turns if t.seat == seat and t.label != FORCED and t.loss is not None]


def is_decided(share: float) -> bool:
    """Whether a seat's time can change little."""
    return share <= DECIDED or share >= 1 - DECIDED


def turning_point(
    start: Sequence[float] | None, turns: Sequence[TurnReview], final: Sequence[float]
) -> int | None:
    """The number of the turn after which the winner led to the end; None where nobody has won
    alone, led all the time, or probabilities are not known."""
    if start is None or max(final, default=0) < 1:
        return None
    winner = list(final).index(max(final))
    found = None
    for number in reversed(range(len(turns))):
        shares = turns[number].shares
        if shares is None:
            return None
        if not _leads(shares, winner):
            break
        found = number
    else:
        return None if _leads(start, winner) else found
    return found


def _leads(shares: Sequence[float], seat: int) -> bool:
    return all(shares[seat] > share for other, share in enumerate(shares) if other != seat)


def phase(number: int, turns: int) -> str:
    """The third of the game that a turn is in."""
    return ("opening", "middle", "end")[min(2, 3 * number // max(1, turns))]
