"""Tuning by games: the trials of an optimiser as blocks of games, and what they come to.

The values of a run are a function of its plan and its games alone. What was recorded before a kill is
told to the optimiser again, in the order of the schedule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

import msgspec

from core.errors import QuartetError, TextError
from quartet.arena.files import write_whole
from quartet.arena.schedule import WAIT, Casting, Results, Schedule, Seating
from quartet.arena.unit import GameResult, Player
from quartet.judge.turn import UNREADABLE

if TYPE_CHECKING:
    from pathlib import Path

    from quartet.arena.optimisers import Optimiser, Trial, Values

TRAJECTORY = "trajectory.jsonl"
"""The file in a run's folder that has a line for every batch of trials."""


class Step(msgspec.Struct, frozen=True):
    """What was known after a batch of trials.

    Attributes:
        games: int; played for it and all before it.
        values: dict[str, float]; the best settings so far, not rounded.
        outcome: float; wins less losses of the first settings for a pair of games, mean of the batch.
    """

    games: int
    values: dict[str, float]
    outcome: float


@dataclass(frozen=True)
class Match:
    """How a trial is played.

    Attributes:
        casting: Casting; its first two players stand for the two settings, those behind them are
            opponents, who are needed where more than two sit.
        written: writes a player with some values, as it is seated.
        pairs: int; of a trial: both sides of an opening, or at larger tables both settings once on
            every seat, with the same opponents in the same order of turns.
        tables: Sequence[Seating]; of more than two: who sits there beside the settings, table by
            table, a pair each.
    """

    casting: Casting
    written: Callable[[Values], str]
    pairs: int
    tables: Sequence[Seating] = ()

    @property
    def pair_games(self) -> int:
        """Games of a pair."""
        return self.casting.seats * (1 if self.casting.seats == 2 else 2)

    @property
    def trial_games(self) -> int:
        """Games of a trial."""
        return self.pairs * self.pair_games

    def units(self, number: int, trial: Trial) -> Schedule:
        """The games of a trial, `number` its own, from 0."""
        first, second, *others = self.casting.players
        players = [
            replaced(first, self.written(trial.first)),
            replaced(second, self.written(trial.second)),
            *others,
        ]
        casting = replace(self.casting, players=players)
        unit = number * self.trial_games
        for pair in range(number * self.pairs, (number + 1) * self.pairs):
            others_seated = self.tables[pair] if self.casting.seats > 2 else ()
            tables = [(0, *others_seated), (1, *others_seated)] if others_seated else [(0, 1)]
            for table in tables:
                yield from casting.block(unit, pair, table, pair)
                unit += casting.seats

    def outcome(self, number: int, results: Results) -> float:
        """Wins less losses of the first settings of a trial, for a pair of games; at larger tables
        twice the difference of the mean shares."""
        games = [results[number * self.trial_games + i] for i in range(self.trial_games)]
        return 2 * (share(games, 0) - share(games, 1))


def replaced(player: Player, command: str) -> Player:
    """A player with another command."""
    return msgspec.structs.replace(player, command=command)


def share(games: Sequence[GameResult], player: int) -> float:
    """The mean share of a player in those of the games in which it sits."""
    return fmean(game.shares[game.seats.index(player)] for game in games if player in game.seats)


def schedule(
    match: Match,
    optimiser: Optimiser,
    results: Results,
    games: int,
    names: Sequence[str],
    told: Callable[[Step], None],
) -> Schedule:
    """Batches of trials until so many games are played, or a few more: the last batch is whole.

    Args:
        match: Match. optimiser: Optimiser; at its beginning.
        results: Results; on record, by number; it grows while games end.
        games: int. names: Sequence[str]; of the parameters.
        told: called after every batch.
    """
    number = 0
    while number * match.trial_games < games:
        trials = optimiser.ask()
        for i, trial in enumerate(trials):
            yield from match.units(number + i, trial)
        last = number + len(trials)
        batch = range(number * match.trial_games, last * match.trial_games)
        while not all(unit in results for unit in batch):
            yield WAIT
        outcomes = [match.outcome(i, results) for i in range(number, last)]
        optimiser.tell(outcomes)
        number = last
        values = dict(zip(names, optimiser.best(), strict=True))
        told(Step(number * match.trial_games, values, fmean(outcomes)))


class Trajectory:
    """The steps of a run, in its folder.

    Attributes:
        steps: list[Step]; so far.
    """

    def __init__(self, folder: Path) -> None:
        """Open the file, new or of before. Raises TextError, and QuartetError where it cannot be
        read."""
        self.steps: list[Step] = []
        self._file = folder / TRAJECTORY
        self._before = read(folder)
        try:
            write_whole(self._file, b"".join(map(_line, self._before)))  # without half a line
        except OSError as error:
            raise QuartetError(f"cannot write {self._file}: {error.strerror}") from error

    def add(self, step: Step) -> None:
        """The next step. Raises QuartetError where it was another one before a kill."""
        if len(self.steps) < len(self._before):
            if self._before[len(self.steps)] != step:
                raise QuartetError(
                    f"{self._file}: the same games lead elsewhere now, perhaps by another version "
                    "of the optimiser's library; choose another folder with --out"
                )
        else:
            try:
                with self._file.open("ab") as file:
                    file.write(_line(step))
            except OSError as error:
                raise QuartetError(f"cannot write {self._file}: {error.strerror}") from error
        self.steps.append(step)


def read(folder: Path) -> list[Step]:
    """The steps that a run's folder has. Raises TextError, and QuartetError."""
    file = folder / TRAJECTORY
    if not file.exists():
        return []
    try:
        data = file.read_bytes()
        lines = data[: data.rfind(b"\n") + 1].splitlines()
        return [msgspec.json.decode(line, type=Step) for line in lines]
    except OSError as error:
        raise QuartetError(f"cannot read {file}: {error.strerror}") from error
    except UNREADABLE as error:
        raise TextError(f"{file} holds a step that cannot be read: {error}") from error


def _line(step: Step) -> bytes:
    return msgspec.json.encode(step) + b"\n"


def values_of(plan: Mapping[str, Any]) -> dict[str, float]:
    """Where the parameters of a run began, by its plan. Raises TextError."""
    try:
        return {str(p["name"]): float(p["start"]) for p in plan["parameters"]}
    except (KeyError, TypeError, ValueError) as error:
        raise TextError(f"this is no plan of a tuning: {error}") from error
