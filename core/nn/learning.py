"""What all trainings on self-play samples share. It needs numpy, so only trainings import it."""

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
"""Parts of each batch, independent of the number of threads, so that a seed gives the same network
on any number of cores."""
HELD_OUT = 50
"""One unit of self-play in this many is held out for validation. Not tuned."""
WARM_UP = 0.02
"""Part of the steps in which the learning rate rises; then it falls as a cosine. Not tuned."""
LAST_RATE = 0.01
"""Last learning rate, as a part of the highest one. Not tuned."""


def lambda_returns(
    expected: NDArray[np.float32],
    results: NDArray[np.float32],
    last: NDArray[np.bool_],
    td_lambda: float,
) -> NDArray[np.float32]:
    """Return the lambda-returns of the samples of many games (Sutton, "Learning to Predict by the
    Methods of Temporal Differences", 1988).

    The return of a sample is (1 - td_lambda) * the search's expectation + td_lambda * the return of
    the game's next sample. For a game's last sample, the next return is the result.

    Args:
        expected: A row, or a number, per sample; the same quantity in all samples of a game, such
            as one seat's win share.
        results: The same quantity at the end of the game.
        last: True for the last sample of a game. Samples of a game are contiguous.
        td_lambda: Lambda, 0 to 1.
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
        following = (1 - td_lambda) * expected[places] + td_lambda * following[:games]
        targets[places] = following
    return targets


def golden_section(loss: Callable[[float], float], low: float, high: float, rounds: int) -> float:
    """Return the positive number between `low` and `high` at which a unimodal loss is smallest, by
    golden section search on the logarithm."""
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
    """Return the learning rate at a step, 0 to steps - 1."""
    risen = (step + 1) / max(1.0, WARM_UP * steps)
    fallen = LAST_RATE + (1 - LAST_RATE) * (1 + np.cos(np.pi * step / steps)) / 2
    return float(highest * min(1.0, risen) * fallen)


def correction(step: int) -> float:
    """Return AdamW's bias correction at a step from 0, as a factor of the learning rate."""
    return float(np.sqrt(1 - 0.999 ** (step + 1)) / (1 - 0.9 ** (step + 1)))


def require_place(out: Path) -> None:
    """Raise QuartetError if a training's output file cannot be written: before the training, not
    after it."""
    folder = out.absolute().parent
    if not folder.is_dir():
        raise QuartetError(f"cannot write {out}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise QuartetError(f"cannot write {out}: no permission to write to {folder}")
    if out.is_dir():
        raise QuartetError(f"cannot write {out}: it is a folder")
