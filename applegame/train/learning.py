"""The weights of the apple game's evaluation: a logistic regression for each phase."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import numpy as np

from applegame.engine import UNIT, WEIGHTS_SHAPE
from core.errors import TextError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ENOUGH = 100
"""Positions held back without which a phase is not fitted."""
STEPS = 30
"""Of Newton's method, which needs about ten."""


def fit(features: Floats, won: Floats, penalty: float) -> Floats:
    """Weights of a logistic regression without a constant, by Newton's method; the penalty is on
    their squares, in units of the spread."""
    spread = features.std(axis=0) + 1e-9
    scaled = features / spread
    weights = np.zeros(features.shape[1])
    for _ in range(STEPS):
        expected = 1 / (1 + np.exp(-scaled @ weights))
        slope = scaled.T @ (expected - won) + penalty * weights
        curve = (scaled * (expected * (1 - expected))[:, None]).T @ scaled + penalty * np.eye(
            len(weights)
        )
        weights -= np.linalg.solve(curve, slope)
    fitted: Floats = weights / spread
    return fitted


def loss(features: Floats, won: Floats, weights: Floats) -> float:
    """Cross entropy of the results, in nats a position."""
    return float(np.logaddexp(0, np.where(won > 0, -1, 1) * (features @ weights)).mean())


def table(found: list[list[list[int]]], penalty: float) -> list[list[int]]:
    """The weights of every phase; prints how well they predict every tenth game, which is held
    back.

    The first phases, which few games come to, may have to do with the weights of the next. Raises
    TextError where none has a game.
    """
    samples = np.array(
        [[number, *row] for number, game in enumerate(found) for row in game if row[-1]],
        dtype=np.float64,
    )
    rows: list[list[int]] = []
    for phase in reversed(range(WEIGHTS_SHAPE[0])):
        part = samples[samples[:, 1] == phase]
        features, won, held = (
            part[:, 2:-1],
            (part[:, -1] > 0).astype(np.float64),
            part[:, 0] % 10 == 0,
        )
        if held.sum() < ENOUGH:
            if not rows:
                raise TextError(
                    f"too few games: only {held.sum()} positions are held back of phase {phase}, "
                    f"not {ENOUGH}"
                )
            rows.append(rows[-1])
            continue
        weights = fit(features[~held], won[~held], penalty)
        click.echo(
            f"phase {phase}: {len(part)} positions, held back "
            f"{loss(features[held], won[held], weights):.4f} nats",
            err=True,
        )
        rows.append([round(UNIT * weight) for weight in weights])
    return rows[::-1]


def header(rows: list[list[int]], command: str, data: str) -> str:
    """The file of weights."""
    body = "\n".join(f"    {{{', '.join(str(weight) for weight in row)}}}," for row in rows)
    return (
        f"/* Weights of the evaluation, by phase, then by feature; {UNIT} points are a unit of the "
        "logistic function.\n"
        f"   Made by: {command}\n   From: {data} */\n"
        "#ifndef QUARTET_APPLEGAME_WEIGHTS_H\n#define QUARTET_APPLEGAME_WEIGHTS_H\n\n"
        f"static const int WEIGHTS[{WEIGHTS_SHAPE[0]}][{WEIGHTS_SHAPE[1]}] = "
        f"{{\n{body}\n}};\n\n#endif\n"
    )
