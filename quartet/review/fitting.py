"""Fits a calibration: an engine is asked about positions of games whose ends are known.

Needs scipy, the extra `stats`.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import msgspec

from core.errors import QuartetError
from core.extras import how_to_install
from quartet.arena.cores import pin
from quartet.judge import game as games
from quartet.judge.logs.check import check
from quartet.review.calibration import KNOTS, LEAST_SHARE, Calibration, weights
from quartet.review.engines import Asker
from quartet.review.work import Piece, Unit

if TYPE_CHECKING:
    from collections.abc import Sequence

BINS = 10
RESAMPLES = 500
"""Of the bootstrap."""
RIDGE = 1e-3
"""How dear parameters are that stray from their neighbours in phase, a sample."""
LONG = 0.9
"""The quantile of the games' lengths that phase 1 stands for."""


class Sample(msgspec.Struct, frozen=True, array_like=True):
    """A position, what the engine says of it, and how its game ended.

    Attributes:
        game: int; its number; positions of one game depend on each other.
        ply: int. seat: int; to move.
        score: float | None; of the mover. expected: tuple[float, ...]; everybody's share.
        shares: tuple[float, ...]; how the game ended.
    """

    game: int
    ply: int
    seat: int
    score: float | None
    expected: tuple[float, ...]
    shares: tuple[float, ...]


_askers: dict[tuple[str, str, int | None], Asker] = {}
"""Of this worker: an engine lives as long as it."""


def asker(game: str, name: str, nodes: int | None) -> Asker:
    """The engine of this worker, made when it is first needed."""
    key = game, name, nodes
    if key not in _askers:
        _askers[key] = Asker(*key)
    return _askers[key]


def sample(unit: Unit, cores: tuple[int, ...] | None = None) -> Piece:
    """Ask about some positions of a game; pure and idempotent."""
    pin(cores)
    game = games.load(unit.game)
    engine = asker(unit.game, unit.engines[0], unit.nodes)
    checked = check(game, unit.data, rules=engine.rules)
    if not checked.agrees or checked.match is None:
        raise QuartetError(f"{unit.name}: {checked.complaint}")
    random = Random(f"{unit.seed} {unit.name}")
    open_ones = [p for p in checked.positions if not p.over and len(p.legal()) > 1]
    chosen = random.sample(open_ones, min(unit.positions, len(open_ones)))
    engine.begin(checked.match.start.options)
    found = []
    for position in sorted(chosen, key=lambda position: position.ply):
        said = engine.ask(position)
        if not said.proven:
            expected = () if said.shares is None else said.shares
            found.append(
                Sample(
                    unit.number, position.ply, position.to_move, said.score, expected, unit.shares
                )
            )
    plies = len(checked.turns)
    return Piece(unit.number, unit.name, msgspec.json.encode({"plies": plies, "samples": found}))


def fit(
    engine: str, nodes: int, samples: Sequence[Sample], lengths: Sequence[int], held: set[int]
) -> Calibration:
    """The calibration that fits the games that are not held back, with its error on those that are.

    Args:
        engine: str. nodes: int.
        samples: Sequence[Sample]. lengths: Sequence[int]; of the games, in plies.
        held: set[int]; numbers of the games that are held back.

    Raises:
        QuartetError: scipy is missing, or there is nothing to fit.
    """
    try:
        import numpy as np  # noqa: PLC0415  (an extra)
        from scipy.optimize import minimize  # noqa: PLC0415
    except ImportError:
        raise QuartetError(f"calibrations need scipy: {how_to_install('scipy')}") from None
    if not samples or not lengths:
        raise QuartetError("there are no positions to fit anything to")
    plies = max(1, sorted(lengths)[int(LONG * (len(lengths) - 1))])
    seats = len(samples[0].shares)
    train = [s for s in samples if s.game not in held]
    hats = np.array([weights(s.ply, plies) for s in train])
    if seats == 2:
        scores = np.array([s.score or 0.0 for s in train])
        wins = np.array([s.shares[s.seat] for s in train])
        unit = float(np.mean(np.abs(scores))) or 1.0
        x = scores / unit
        parts = np.stack([np.ones_like(x), x, x / (1 + np.abs(x))])
        design = np.concatenate([hats * part[:, None] for part in parts], axis=1)

        def loss(values: Any) -> tuple[float, Any]:
            logit = design @ values
            table = values.reshape(3, KNOTS)
            steps = np.diff(table, axis=1)
            cost = np.mean(np.logaddexp(0, logit) - wins * logit) + RIDGE * np.sum(steps**2)
            slope = design.T @ (1 / (1 + np.exp(-logit)) - wins) / len(wins)
            pull = np.zeros_like(table)
            pull[:, 1:] += 2 * RIDGE * steps
            pull[:, :-1] -= 2 * RIDGE * steps
            return float(cost), slope + pull.ravel()

        bounds = [(None, None)] * KNOTS + [(0, None)] * (2 * KNOTS)
        first = np.concatenate([np.zeros(KNOTS), np.full(KNOTS, 0.5), np.full(KNOTS, 0.5)])
        best = minimize(loss, first, jac=True, method="L-BFGS-B", bounds=bounds).x
        bias, slope, bend = (
            tuple(round(float(v), 6) for v in row) for row in best.reshape(3, KNOTS)
        )
        found = Calibration(
            engine=engine,
            nodes=nodes,
            plies=plies,
            unit=round(unit, 6),
            bias=bias,
            slope=slope,
            bend=bend,
        )
    else:
        logs = np.log(np.maximum([s.expected for s in train], LEAST_SHARE))
        absent = np.array([s.expected for s in train]) <= 0
        wins = np.array([s.shares for s in train])

        def shares_loss(values: Any) -> float:
            power = (hats @ values)[:, None]
            raised = np.where(absent, -1e9, power * logs)
            raised -= raised.max(axis=1, keepdims=True)
            chance = np.exp(raised)
            chance /= chance.sum(axis=1, keepdims=True)
            cost = -np.mean(np.sum(wins * np.log(np.maximum(chance, 1e-12)), axis=1))
            return float(cost + RIDGE * np.sum(np.diff(values) ** 2))

        best = minimize(
            shares_loss, np.ones(KNOTS), method="L-BFGS-B", bounds=[(0.05, 20)] * KNOTS
        ).x
        found = Calibration(
            engine=engine,
            nodes=nodes,
            plies=plies,
            unit=0.0,
            slope=tuple(round(float(v), 6) for v in best),
        )
    error, interval, curve = reliability(found, [s for s in samples if s.game in held])
    return msgspec.structs.replace(
        found,
        error=error,
        error95=interval,
        curve=curve,
        held_back=len(held),
        games=len(lengths) - len(held),
        positions=len(train),
    )


def predictions(
    calibration: Calibration, samples: Sequence[Sample]
) -> list[tuple[int, float, float]]:
    """Game, prediction and outcome: of the mover, or of all seats where they are more than two."""
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
    calibration: Calibration, samples: Sequence[Sample], seed: int = 0
) -> tuple[float | None, tuple[float, float] | None, tuple[tuple[float, float, int], ...]]:
    """The mean absolute error over ten equally filled bins, its interval of 95 % by bootstrap over
    games, and the curve. The chance of the outcomes is in the error: it is never 0."""
    import numpy as np  # noqa: PLC0415  (an extra)

    told = predictions(calibration, samples)
    if len(told) < BINS:
        return None, None, ()
    games_, expected, outcome = (np.array(column) for column in zip(*told, strict=True))
    order = np.argsort(expected, kind="stable")
    bin_of = np.empty(len(expected), int)
    bin_of[order] = np.arange(len(expected)) * BINS // len(expected)

    names, index = np.unique(games_, return_inverse=True)

    def sums(values: Any) -> Any:
        table = np.zeros((len(names), BINS))
        np.add.at(table, (index, bin_of), values)
        return table

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
