"""What every training of a network from samples of self-play needs; only trainings import it, it
takes numpy."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from core.errors import QuartetError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

SLICES = 2
"""A batch is cut into so many pieces, whatever the number of threads: a seed makes the same network
on any number of cores."""
HELD_BACK = 50
"""One unit of self-play in so many is for validation."""
WARM_UP = 0.02
"""Part of the steps in which the rate rises; then it falls as a cosine to LAST_RATE of its
height."""
LAST_RATE = 0.01


def lambda_returns(
    expected: NDArray[np.float32],
    results: NDArray[np.float32],
    last: NDArray[np.bool_],
    trace: float,
) -> NDArray[np.float32]:
    """The lambda-returns (Sutton, "Learning to Predict by the Methods of Temporal Differences",
    1988) of the samples of many games.

    What the search expected counts 1 - trace, and `trace` goes to the return of the game's next
    sample, the last one's to the result.

    Args:
        expected, results: a row, or a number, for each sample, of something that is the same for
            all samples of a game: one seat's share.
        last: whether no later sample of the same game follows; samples of a game lie one after the
            other.
        trace: the lambda, 0 .. 1.
    """
    targets = results.copy()
    ends = np.flatnonzero(last)
    lengths = np.diff(ends, prepend=-1)
    order = np.argsort(-lengths, kind="stable")
    ends, lengths = ends[order], lengths[order]
    following = targets[ends]
    for back in range(int(lengths[0]) if len(lengths) else 0):  # all games at once, from their ends
        games = int(np.searchsorted(-lengths, -back, side="left"))  # that are longer
        places = ends[:games] - back
        following = (1 - trace) * expected[places] + trace * following[:games]
        targets[places] = following
    return targets


def least_at(loss: Callable[[float], float], low: float, high: float, rounds: int) -> float:
    """Where between two positive numbers a loss with one valley is least; by golden section on the
    logarithm."""
    low, high = float(np.log(low)), float(np.log(high))
    golden = (5**0.5 - 1) / 2
    for _ in range(rounds):
        left, right = high - golden * (high - low), low + golden * (high - low)
        if loss(float(np.exp(left))) < loss(float(np.exp(right))):
            high = right
        else:
            low = left
    return float(np.exp((low + high) / 2))


def rate_at(highest: float, step: int, steps: int) -> float:
    """The learning rate at a step, from 0, of so many."""
    risen = (step + 1) / max(1.0, WARM_UP * steps)
    fallen = LAST_RATE + (1 - LAST_RATE) * (1 + np.cos(np.pi * step / steps)) / 2
    return float(highest * min(1.0, risen) * fallen)


def correction(step: int) -> float:
    """What makes up for the means of AdamW beginning at 0: a factor of the rate at a step, from
    0."""
    return float(np.sqrt(1 - 0.999 ** (step + 1)) / (1 - 0.9 ** (step + 1)))


def require_place(out: Path) -> None:
    """Raise QuartetError where the file that a training is for cannot be written: before the hours,
    not after them."""
    folder = out.absolute().parent
    if not folder.is_dir():
        raise QuartetError(f"cannot write {out}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise QuartetError(f"cannot write {out}: {folder} is not ours to write to")
    if out.is_dir():
        raise QuartetError(f"cannot write {out}: it is a folder")
