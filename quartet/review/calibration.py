"""Calibrations: from an engine's score to the win probability, one per engine and game.

Two seats: the logit of the mover's win probability is a sum over KNOTS phases. Only the two phases
next to the position's have weight, by their distance:

    logit p = sum_k weight_k(phase) * (bias_k + slope_k * x + bend_k * x / (1 + |x|)),   x = score / unit

More seats: the engine's win share q_s of every seat, to a power that depends on the phase, scaled
to add up to 1:

    p_s = q_s ** sum_k weight_k(phase) * slope_k / sum over all seats

The phase is the ply divided by the plies of a long game, at most 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import msgspec

from core.errors import QuartetError, TextError
from quartet import registry
from quartet.arena.files import write_whole
from quartet.judge.turn import UNREADABLE
from quartet.review.engines import SearchResult

FILE = "calibration.json"
"""Name of the file in the game's folder."""
KNOTS = 5
"""Number of phases, evenly spaced from 0 to 1, at which parameters are fitted. Not tuned."""
MIN_SHARE = 1e-4
"""Lower bound of a share that the engine does not rule out. Not tuned."""


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """The meaning of an engine's scores, and its origin.

    Attributes:
        engine: Name of the engine.
        nodes: Nodes per search.
        plies: Length of a long game: phase 1.
        unit: Unit of the scores; 0 for shares.
        bias, slope, bend: Parameters by phase, KNOTS each; shares have only `slope`.
        command, seed, commit, date: How it was made.
        games, positions: Number of games, and of their positions, that it was fitted to.
        players: The players of these games.
        error: Mean absolute error over ten equally filled bins, on held-out games.
        error95: Its 95 % interval, by bootstrap over games.
        held_back: Number of held-out games.
        curve: For every bin the mean prediction, the mean outcome and the number of predictions.
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

    @property
    def game(self) -> str:
        """The game that `command` names, "" if it names none."""
        return next((word for word in self.command.split() if word in registry.GAMES), "")

    def shares(
        self, found: SearchResult, ply: int, seat: int, seats: int
    ) -> tuple[float, ...] | None:
        """Return every seat's win probability; None if the engine gave no score.

        Args:
            found: The engine's search; a proven outcome stays as it is.
            ply: Ply of the position.
            seat: Seat to move.
            seats: Number of seats.
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
        """Return the win probability of the side to move."""
        x = score / self.unit
        hats = weights(ply, self.plies)
        bent = x / (1 + abs(x))
        logit = sum(
            hat * (self.bias[k] + self.slope[k] * x + self.bend[k] * bent)
            for k, hat in enumerate(hats)
        )
        return 1 / (1 + math.exp(-min(max(logit, -40.0), 40.0)))

    def tempered(self, shares: Sequence[float], ply: int) -> tuple[float, ...]:
        """Return calibrated shares for the engine's shares."""
        power = sum(hat * self.slope[k] for k, hat in enumerate(weights(ply, self.plies)))
        raised = [max(share, MIN_SHARE) ** power if share > 0 else 0.0 for share in shares]
        total = sum(raised) or 1.0
        return tuple(value / total for value in raised)


def weights(ply: int, plies: int) -> list[float]:
    """Return the weight of each phase at a ply: two at most are not 0, and they add up to 1."""
    place = min(1.0, ply / plies) * (KNOTS - 1)
    return [max(0.0, 1 - abs(place - k)) for k in range(KNOTS)]


def place_of(game: str) -> Path:
    """Return the file of a game's calibrations."""
    module = registry.load(game, "reference")
    return Path(str(module.__file__)).with_name(FILE)


def read_all(file: Path) -> dict[str, Calibration]:
    """Read the calibrations in a file, by engine; {} if there is no file.

    Raises:
        QuartetError: The file cannot be read.
        TextError: It does not hold calibrations.
    """
    try:
        found = msgspec.json.decode(file.read_bytes(), type=list[Calibration])
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise QuartetError(f"cannot read {file}: {error.strerror}") from error
    except UNREADABLE as error:
        raise TextError(f"{file} does not hold calibrations: {error}") from error
    return {calibration.engine: calibration for calibration in found}


def of_engine(game: str, engine: str, file: Path | None = None) -> Calibration | None:
    """Return the calibration of an engine, or None. Raises QuartetError, also if it is of another
    game."""
    found = read_all(file or place_of(game)).get(engine)
    if file is not None and found is not None and found.game not in {"", game}:
        raise QuartetError(f"{file} is a calibration of {found.game}, not of {game}")
    return found


def keep(file: Path, calibration: Calibration) -> None:
    """Write a calibration into a file, next to those of other engines. Raises QuartetError."""
    known = {**read_all(file), calibration.engine: calibration}
    data = msgspec.json.format(msgspec.json.encode([known[name] for name in sorted(known)]))
    try:
        write_whole(file, data + b"\n")
    except OSError as error:
        raise QuartetError(f"cannot write {file}: {error.strerror}") from error
