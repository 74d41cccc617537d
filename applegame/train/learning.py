"""Fit the weights of the apple game's evaluation: one logistic regression per phase."""

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
"""Held-out positions that a phase needs to be fitted."""
STEPS = 30
"""Steps of Newton's method, which converges in about ten."""


def fit(features: Floats, won: Floats, penalty: float) -> Floats:
    """Return the weights of a logistic regression without a constant, by Newton's method.

    Args:
        features: Shape (positions, features).
        won: 1 for a win, 0 for a loss; shape (positions,).
        penalty: Factor of the squared weights, after features are scaled to unit spread.
    """
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
    """Return the cross-entropy of the results, in nats per position."""
    return float(np.logaddexp(0, np.where(won > 0, -1, 1) * (features @ weights)).mean())


def table(found: list[list[list[int]]], penalty: float) -> list[list[int]]:
    """Return the weights of every phase, and print their loss on held-out games (every tenth).

    A phase with too few positions gets the weights of the next one.

    Raises:
        TextError: No phase has enough positions.
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
                    f"too few games: phase {phase} has {held.sum()} held-out positions and needs "
                    f"{ENOUGH}; raise --games"
                )
            rows.append(rows[-1])
            continue
        weights = fit(features[~held], won[~held], penalty)
        click.echo(
            f"phase {phase}: {len(part)} positions, held-out loss "
            f"{loss(features[held], won[held], weights):.4f} nats",
            err=True,
        )
        rows.append([round(UNIT * weight) for weight in weights])
    return rows[::-1]


def header(rows: list[list[int]], command: str, data: str) -> str:
    """Return the text of the C header of weights."""
    body = "\n".join(f"    {{{', '.join(str(weight) for weight in row)}}}," for row in rows)
    return (
        f"/* Weights of the evaluation, by phase, then by feature; {UNIT} points are a unit of the "
        "logistic function.\n"
        f"   Made by: {command}\n   From: {data} */\n"
        "#ifndef QUARTET_APPLEGAME_WEIGHTS_H\n#define QUARTET_APPLEGAME_WEIGHTS_H\n\n"
        f"static const int WEIGHTS[{WEIGHTS_SHAPE[0]}][{WEIGHTS_SHAPE[1]}] = "
        f"{{\n{body}\n}};\n\n#endif\n"
    )
