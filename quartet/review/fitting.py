"""Fit of a calibration to an engine's searches of positions from finished games.

Needs scipy, the extra `stats`.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import msgspec

from core.errors import QuartetError
from core.extras import install_hint
from quartet.arena.cores import pin
from quartet.judge import game as games
from quartet.judge.logs.check import check
from quartet.review.calibration import KNOTS, MIN_SHARE, Calibration, weights
from quartet.review.reviewing import engine as known_engine
from quartet.review.work import LogResult, LogTask

BINS = 10
"""Bins of the reliability curve."""
RESAMPLES = 500
"""Resamples of the bootstrap."""
RIDGE = 1e-3
"""Penalty per sample on the squared difference of parameters of neighbouring phases. Not tuned."""
LONG = 0.9
"""Quantile of the games' lengths that is phase 1."""


class CalibrationSample(msgspec.Struct, frozen=True, array_like=True):
    """A position with the engine's verdict and the result of the game.

    Attributes:
        game: Number of the game; positions of one game depend on each other.
        ply: Ply of the position.
        seat: Seat to move.
        score: For the mover, in the engine's task.
        expected: The engine's win share of every seat.
        shares: Win share of every seat at the end of the game.
    """

    game: int
    ply: int
    seat: int
    score: float | None
    expected: tuple[float, ...]
    shares: tuple[float, ...]


def sample(task: LogTask, cores: tuple[int, ...] | None = None) -> LogResult:
    """Search some positions of a game, on the given cores. Raises QuartetError."""
    pin(cores)
    game = games.load(task.game)
    engine = known_engine(task.game, task.engines[0], task.nodes)
    checked = check(game, task.data, rules=engine.rules)
    if not checked.agrees or checked.match is None:
        raise QuartetError(f"{task.name}: {checked.complaint}")
    random = Random(f"{task.seed} {task.name}")
    positions = [p for p in checked.positions if not p.over and len(p.legal()) > 1]
    chosen = random.sample(positions, min(task.positions, len(positions)))
    engine.begin(checked.match.start.options)
    searched = [
        (position, engine.analyse(position))
        for position in sorted(chosen, key=lambda position: position.ply)
    ]
    samples = [
        CalibrationSample(
            task.number, position.ply, position.to_move, said.score, said.shares or (), task.shares
        )
        for position, said in searched
        if not said.proven
    ]
    value = {"plies": len(checked.turns), "samples": samples}
    return LogResult(task.number, task.name, msgspec.Raw(msgspec.json.encode(value)))


def fit(
    engine: str,
    nodes: int,
    samples: Sequence[CalibrationSample],
    lengths: Sequence[int],
    held: set[int],
) -> Calibration:
    """Fit a calibration to the games that are not held out, and measure its error on the others.

    Args:
        engine: Name of the engine.
        nodes: Nodes per search.
        samples: Positions of all games.
        lengths: Lengths of the games, in plies.
        held: Numbers of the held-out games.

    Raises:
        QuartetError: scipy or samples are missing.
    """
    try:
        import numpy as np  # noqa: PLC0415  (an extra)
        import scipy  # noqa: F401, PLC0415
    except ImportError:
        raise QuartetError(f"calibrations need scipy: {install_hint('scipy')}") from None
    if not samples or not lengths:
        raise QuartetError("there are no positions to fit a calibration to")
    plies = max(1, sorted(lengths)[int(LONG * (len(lengths) - 1))])
    train = [s for s in samples if s.game not in held]
    if not train:
        raise QuartetError(
            "all games are held out; hold out a smaller fraction, or play more openings"
        )
    if len(samples[0].shares) > 2 and not all(s.expected for s in samples):
        raise QuartetError(f"{engine} gives no win shares to calibrate")
    measured = [s for s in samples if s.game in held]
    if min(len(train), len(measured)) < BINS:
        raise QuartetError(
            f"too few games: {len(train)} positions to fit and {len(measured)} held out, at least "
            f"{BINS} each are needed; play more openings"
        )
    phases = np.array([weights(s.ply, plies) for s in train])
    fit_one = _fit_scores if len(samples[0].shares) == 2 else _fit_shares
    unit, rows = fit_one(train, phases)
    bias, slope, bend = (tuple(round(float(v), 6) for v in row) for row in rows)
    found = Calibration(
        engine=engine,
        nodes=nodes,
        plies=plies,
        unit=round(unit, 6),
        bias=bias,
        slope=slope,
        bend=bend,
    )
    error, interval, curve = reliability(found, measured)
    return msgspec.structs.replace(
        found,
        error=error,
        error95=interval,
        curve=curve,
        held_back=len(held),
        games=len(lengths) - len(held),
        positions=len(train),
    )


def _fit_scores(train: Sequence[CalibrationSample], phases: Any) -> tuple[float, Any]:
    """Fit a logistic curve to scores; return their unit, and bias, slope and bend by phase."""
    import numpy as np  # noqa: PLC0415  (an extra)
    from scipy.optimize import minimize  # noqa: PLC0415
    from scipy.special import expit  # noqa: PLC0415

    scores = np.array([s.score or 0.0 for s in train])
    wins = np.array([s.shares[s.seat] for s in train])
    unit = float(np.mean(np.abs(scores))) or 1.0
    x = scores / unit
    parts = np.stack([np.ones_like(x), x, x / (1 + np.abs(x))])
    design = np.concatenate([phases * part[:, None] for part in parts], axis=1)

    def cost(values: Any) -> tuple[float, Any]:
        """Return the cross-entropy with the penalty, and its gradient."""
        logit = design @ values
        steps = np.diff(values.reshape(3, KNOTS), axis=1)
        entropy = np.mean(np.logaddexp(0, logit) - wins * logit)
        gradient = design.T @ (expit(logit) - wins) / len(wins)
        pull = np.pad(steps, ((0, 0), (1, 0))) - np.pad(steps, ((0, 0), (0, 1)))
        return float(entropy + RIDGE * np.sum(steps**2)), gradient + 2 * RIDGE * pull.ravel()

    bounds = [(None, None)] * KNOTS + [(0, None)] * (2 * KNOTS)
    first = np.concatenate([np.zeros(KNOTS), np.full(2 * KNOTS, 0.5)])
    best = minimize(cost, first, jac=True, method="L-BFGS-B", bounds=bounds).x
    return unit, best.reshape(3, KNOTS)


def _fit_shares(train: Sequence[CalibrationSample], phases: Any) -> tuple[float, Any]:
    """Fit the power of shares; return unit 0, and slope by phase between two empty rows."""
    import numpy as np  # noqa: PLC0415  (an extra)
    from scipy.optimize import minimize  # noqa: PLC0415

    expected = np.array([s.expected for s in train])
    logs = np.log(np.maximum(expected, MIN_SHARE))
    wins = np.array([s.shares for s in train])

    def cost(values: Any) -> float:
        """Return the cross-entropy with the penalty."""
        raised = np.where(expected <= 0, -1e9, (phases @ values)[:, None] * logs)
        chance = np.exp(raised - raised.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        entropy = -np.mean(np.sum(wins * np.log(np.maximum(chance, 1e-12)), axis=1))
        return float(entropy + RIDGE * np.sum(np.diff(values) ** 2))

    bounds = [(0.05, 20)] * KNOTS
    best = minimize(cost, np.ones(KNOTS), method="L-BFGS-B", bounds=bounds).x
    return 0.0, ((), best, ())


def predictions(
    calibration: Calibration, samples: Sequence[CalibrationSample]
) -> list[tuple[int, float, float]]:
    """Return (game, prediction, outcome) for the mover, or for all seats if there are more than
    two."""
    found = []
    for s in samples:
        if len(s.shares) == 2:
            found.append((s.game, calibration.probability(s.score or 0.0, s.ply), s.shares[s.seat]))
        else:
            told = calibration.tempered(s.expected, s.ply)
            found += [
                (s.game, told[seat], share) for seat, share in enumerate(s.shares) if told[seat] > 0
            ]
    return found


def reliability(
    calibration: Calibration, samples: Sequence[CalibrationSample], seed: int = 0
) -> tuple[float | None, tuple[float, float] | None, tuple[tuple[float, float, int], ...]]:
    """Measure a calibration on samples.

    The error is never 0, because outcomes are random.

    Returns:
        The mean absolute error over BINS equally filled bins, its 95 % interval by bootstrap over
        games, and the curve.
    """
    import numpy as np  # noqa: PLC0415  (an extra)

    told = predictions(calibration, samples)
    if len(told) < BINS:
        return None, None, ()
    games_, expected, outcome = (np.array(column) for column in zip(*told, strict=True))
    ranks = np.argsort(np.argsort(expected, kind="stable"))
    bin_of = ranks * BINS // len(expected)
    names, index = np.unique(games_, return_inverse=True)

    def sums(values: Any) -> Any:
        """Return the sum of the values by game and bin."""
        return np.bincount(index * BINS + bin_of, values, len(names) * BINS).reshape(-1, BINS)

    count, mean, won = sums(np.ones_like(expected)), sums(expected), sums(outcome)

    def error(chosen: Any) -> float:
        number = np.maximum(chosen @ count, 1e-9)
        return float(np.mean(np.abs((chosen @ mean - chosen @ won) / number)))

    random = np.random.default_rng(seed)
    whole = np.ones(len(names))
    again = sorted(
        error(random.multinomial(len(names), whole / len(names)).astype(float))
        for _ in range(RESAMPLES)
    )
    number = whole @ count
    curve = tuple(
        (round(float(p), 4), round(float(o), 4), int(n))
        for p, o, n in zip(whole @ mean / number, whole @ won / number, number, strict=True)
    )
    low, high = (again[int(q * (RESAMPLES - 1))] for q in (0.025, 0.975))
    return round(error(whole), 5), (round(low, 5), round(high, 5)), curve
