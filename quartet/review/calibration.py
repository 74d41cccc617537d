"""From an engine's score to the probability of winning: one calibration for an engine of a game.

Two seats: the logit of the mover's share is a sum over KNOTS phases, of which the two that are next to
the position's phase count, by their distance:

    logit p = sum_k hat_k(phase) * (bias_k + slope_k * x + bend_k * x / (1 + |x|)),   x = score / unit

More seats: every seat's share as the engine expects it, to a power that depends on the phase, scaled to
add up to 1:

    p_s = q_s ** sum_k hat_k(phase) * slope_k / sum over all seats

The phase is the ply by the plies of a long game, at most 1.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from core.errors import QuartetError, TextError
from quartet import registry
from quartet.arena.files import write_whole
from quartet.judge.turn import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quartet.review.engines import Found

FILE = "calibration.json"
"""In the folder of its game."""
KNOTS = 5
"""Phases at which the parameters are fitted, from 0 to 1."""
LEAST_SHARE = 1e-4
"""Shares that an engine rules out count so much."""


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """How much an engine's scores mean, and where that is known from.

    Attributes:
        engine: str; whom it is for. nodes: int; of its searches.
        plies: int; of a long game: phase 1. unit: float; of the scores; 0 for shares.
        bias, slope, bend: tuple[float, ...]; by phase, KNOTS each; of shares, `slope` alone.
        command: str; seed: int; commit: str; date: str; where it was made.
        games: int; that it was fitted on. positions: int; of them.
        players: tuple[str, ...]; who played.
        error: float | None; mean absolute error over ten equally filled bins, on `held_back` games.
        error95: tuple[float, float] | None; its interval by bootstrap over games.
        held_back: int; games. curve: tuple; for every bin the mean prediction, the mean outcome,
            and how many predictions.
    """

    engine: str
    nodes: int
    plies: int
    unit: float
    slope: tuple[float, ...]
    bias: tuple[float, ...] = ()
    bend: tuple[float, ...] = ()
    command: str = ""
    seed: int = 0
    commit: str = ""
    date: str = ""
    games: int = 0
    positions: int = 0
    players: tuple[str, ...] = ()
    error: float | None = None
    error95: tuple[float, float] | None = None
    held_back: int = 0
    curve: tuple[tuple[float, float, int], ...] = ()

    def shares(self, found: Found, ply: int, seat: int, seats: int) -> tuple[float, ...] | None:
        """Every seat's share of the win.

        Args:
            found: Found; what the engine says. ply: int. seat: int; to move. seats: int; of the
                game.

        Returns:
            None where the engine gave no score; what is proven stays as it is.
        """
        if found.proven:
            return found.shares
        if self.unit == 0:
            return None if found.shares is None else self.tempered(found.shares, ply)
        if found.score is None or seats != 2:
            return None
        mine = self.probability(found.score, ply)
        return (mine, 1 - mine) if seat == 0 else (1 - mine, mine)

    def probability(self, score: float, ply: int) -> float:
        """Of the side to move."""
        x = score / self.unit
        hats = weights(ply, self.plies)
        bent = x / (1 + abs(x))
        logit = sum(
            hat * (self.bias[k] + self.slope[k] * x + self.bend[k] * bent)
            for k, hat in enumerate(hats)
        )
        return 1 / (1 + math.exp(-min(max(logit, -40.0), 40.0)))

    def tempered(self, shares: Sequence[float], ply: int) -> tuple[float, ...]:
        """Shares as they turn out, by shares as the engine expects them."""
        power = sum(hat * self.slope[k] for k, hat in enumerate(weights(ply, self.plies)))
        raised = [max(share, LEAST_SHARE) ** power if share > 0 else 0.0 for share in shares]
        total = sum(raised) or 1.0
        return tuple(value / total for value in raised)


def weights(ply: int, plies: int) -> list[float]:
    """How much each of the KNOTS phases counts at a ply: two at most, which add up to 1."""
    place = min(1.0, ply / plies) * (KNOTS - 1)
    return [max(0.0, 1 - abs(place - k)) for k in range(KNOTS)]


def place_of(game: str) -> Path:
    """The file of a game's calibrations."""
    module = registry.load(game, "reference")
    return Path(str(module.__file__)).with_name(FILE)


def read_all(file: Path) -> dict[str, Calibration]:
    """The calibrations in a file, by engine; none where there is no file. Raises TextError."""
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise QuartetError(f"cannot read {file}: {error.strerror}") from error
    try:
        found = msgspec.json.decode(data, type=list[Calibration])
    except UNREADABLE as error:
        raise TextError(f"{file} holds no calibrations: {error}") from error
    return {calibration.engine: calibration for calibration in found}


def of_engine(game: str, engine: str, file: Path | None = None) -> Calibration | None:
    """The calibration of an engine, None where there is none."""
    return read_all(file or place_of(game)).get(engine)


def keep(file: Path, calibration: Calibration) -> None:
    """Write a calibration into a file, beside those of other engines. Raises QuartetError."""
    known = {**read_all(file), calibration.engine: calibration}
    data = msgspec.json.format(msgspec.json.encode([known[name] for name in sorted(known)]))
    try:
        write_whole(file, data + b"\n")
    except OSError as error:
        raise QuartetError(f"cannot write {file}: {error.strerror}") from error
