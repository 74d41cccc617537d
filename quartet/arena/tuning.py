"""Tuning by games: the trials of an optimiser as blocks of games, and their outcomes.

The values of a run depend on its plan and its games only. To resume, a run passes the recorded
outcomes to the optimiser again, in the order of the schedule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec
from msgspec.structs import replace

from core.errors import QuartetError, TextError
from quartet.arena.config import RunConfig, Seating
from quartet.arena.optimisers import Optimiser, Trial, Values
from quartet.arena.schedule import WAIT, Results, Schedule, sprt_block_size
from quartet.arena.store import LineFile, ResultStore, read_lines
from quartet.arena.unit import GameResult

TRAJECTORY = "trajectory.jsonl"
"""The file in a run's folder with a line for every batch of trials."""


class Step(msgspec.Struct, frozen=True):
    """What was known after a batch of trials.

    Attributes:
        games: Games played so far.
        values: The best settings so far, not rounded.
        outcome: Wins minus losses of the first settings per pair of games, mean of the batch.
    """

    games: int
    values: dict[str, float]
    outcome: float


@dataclass(frozen=True)
class TrialGames:
    """How a trial is played.

    Attributes:
        config: The settings of the run. Its first two players stand for the two settings of a
            trial; the others are opponents, needed if more than two play.
        written: Writes a player with some values, as a command.
        pairs: Pairs of a trial. A pair is both sides of an opening. If more than two play, it is
            both settings once on every seat, with the same opponents in the same move order.
        tables: The opponents of each pair, if more than two play.
    """

    config: RunConfig
    written: Callable[[Values], str]
    pairs: int
    tables: Sequence[Seating] = ()

    @property
    def pair_games(self) -> int:
        """Games of a pair."""
        return sprt_block_size(self.config.seats)

    @property
    def trial_games(self) -> int:
        """Games of a trial."""
        return self.pairs * self.pair_games

    def units(self, number: int, trial: Trial) -> Schedule:
        """Yield the games of trial `number`, from 0."""
        first, second, *others = self.config.players
        players = (
            replace(first, command=self.written(trial.first)),
            replace(second, command=self.written(trial.second)),
            *others,
        )
        config = replace(self.config, players=players)
        unit = number * self.trial_games
        for pair in range(number * self.pairs, (number + 1) * self.pairs):
            opponents = self.tables[pair] if config.seats > 2 else ()
            for table in [(0, *opponents), (1, *opponents)] if opponents else [(0, 1)]:
                yield from config.block(unit, pair, table, pair)
                unit += config.seats

    def outcome(self, number: int, results: Results) -> float:
        """Return wins minus losses of the first settings of a trial, per pair of games.

        If more than two play, it is twice the difference of the mean win shares.
        """
        games = [results[number * self.trial_games + i] for i in range(self.trial_games)]
        return 2 * (_share(games, 0) - _share(games, 1))


def _share(games: Sequence[GameResult], player: int) -> float:
    """Return the mean win share of a player in the games in which it plays."""
    return fmean(game.share_of(player) for game in games if player in game.seats)


def schedule(
    trials: TrialGames,
    optimiser: Optimiser,
    results: Results,
    games: int,
    names: Sequence[str],
    finished: Callable[[Step], None],
) -> Schedule:
    """Yield whole batches of trials until `games` games are played.

    Args:
        trials: How a trial is played.
        optimiser: A new optimiser.
        results: Results by number of the unit; they grow while the games are played.
        games: Games of the run.
        names: Names of the parameters.
        finished: Called after every batch.
    """
    number = 0
    while number * trials.trial_games < games:
        batch = optimiser.ask()
        last = number + len(batch)
        for i, trial in enumerate(batch, start=number):
            yield from trials.units(i, trial)
        units = range(number * trials.trial_games, last * trials.trial_games)
        while not all(unit in results for unit in units):
            yield WAIT
        outcomes = [trials.outcome(i, results) for i in range(number, last)]
        optimiser.tell(outcomes)
        number = last
        values = dict(zip(names, optimiser.best(), strict=True))
        finished(Step(number * trials.trial_games, values, fmean(outcomes)))


class Trajectory:
    """The steps of a run, in its folder.

    Attributes:
        steps: The steps so far.
        close: Close the file.
    """

    def __init__(self, store: ResultStore[Any]) -> None:
        """Open the file in the folder of an open run. Raises QuartetError and TextError."""
        self.steps: list[Step] = []
        self._store = store
        with store.writing():
            self._file = LineFile(store.folder / TRAJECTORY, Step)
        self.close = self._file.close

    def add(self, step: Step) -> None:
        """Add the next step.

        Raises QuartetError if it differs from the step that the file has in its place.
        """
        before = self._file.lines
        if len(self.steps) >= len(before):
            with self._store.writing():
                self._file.append(step)
        elif before[len(self.steps)] != step:
            raise QuartetError(
                f"{self._store.folder / TRAJECTORY}: the same games now lead to other values, "
                "perhaps by another version of the optimiser's library; choose another folder "
                "with --out"
            )
        self.steps.append(step)


def read(folder: Path) -> list[Step]:
    """Return the steps in a run's folder, [] if there are none. Raises QuartetError, TextError."""
    return read_lines(folder / TRAJECTORY, Step)


def values_of(plan: Mapping[str, Any]) -> dict[str, float]:
    """Return the first values of a run's parameters, from its plan. Raises TextError."""
    try:
        return {str(p["name"]): float(p["start"]) for p in plan["parameters"]}
    except (KeyError, TypeError, ValueError) as error:
        raise TextError(f"this is no plan of a tuning: {error}") from error
