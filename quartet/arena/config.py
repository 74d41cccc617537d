"""The settings of a run: what its games depend on, apart from who meets whom.

A `RunConfig` goes whole from the command line to the plan on disk, to every unit of work, and back
from the plan to the reports. To add an option to a run, change two places:

1. `RunConfig` below: add a field with a default.
2. `OPTIONS` in quartet/cli/run_options.py: add a flag of the same name.

The flag arrives in the field, the plan names it if it is not the default, and a worker reads it
from `unit.config`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Self

import msgspec

from core.errors import QuartetError, TextError
from quartet.arena.unit import GameResult
from quartet.judge import game as games

Seating = tuple[int, ...]
"""The player on each seat, by index."""

IN_EVERY_PLAN = frozenset(
    [
        "game",
        "players",
        "seed",
        "options",
        "disqualify",
        "megabytes",
        "in_process",
        "replay_overloaded",
    ]
)
"""Fields that every plan names. Others are named only if they are not the default, so that a new
option leaves the plans and the folder names of existing runs unchanged."""


class PlayerConfig(msgspec.Struct, frozen=True):
    """A player of a run.

    Attributes:
        name: The player's name in tables.
        command: A built-in player, an executable file, a shell command or git:COMMIT, as in
            `quartet match`.
        ms: Clock in milliseconds: per move if programs are started for every move, else per game;
            None for the judge's.
        nodes: Node limit of a built-in player's search, None for no limit.
    """

    name: str
    command: str
    ms: float | None = None
    nodes: int | None = None


class RunConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a run of games.

    Attributes:
        game: The game's name.
        players: All players; units refer to them by index.
        seed: Seed of the openings and of all chance.
        options: Variants of the rules, as for `Position.start`.
        disqualify: The first forfeited turn disqualifies a player.
        megabytes: Memory of a program and its children, None for the judge's limit.
        in_process: Play built-in players inside the worker, without programs.
        replay_overloaded: Times to replay a game lost by a time-out on an overloaded machine.
        cores: Cores reserved for each game.
    """

    game: str
    players: tuple[PlayerConfig, ...]
    seed: int = 0
    options: dict[str, bool | int] = {}
    disqualify: bool = False
    megabytes: float | None = None
    in_process: bool = False
    replay_overloaded: int = 0
    cores: int = 1

    @classmethod
    def read(cls, plan: Mapping[str, Any]) -> Self:
        """Return the settings that a plan on disk holds. Raises TextError."""
        try:
            return msgspec.convert(plan, cls)
        except msgspec.ValidationError as error:
            raise TextError(f"this is no plan of a run that can be shown: {error}") from error

    def plan(self) -> dict[str, Any]:
        """Return the settings as a plan on disk holds them."""
        return {
            name: value
            for name, value in msgspec.to_builtins(self).items()
            if name in IN_EVERY_PLAN or value != DEFAULTS[name]
        }

    @property
    def seats(self) -> int:
        """Seats of the game."""
        return games.load(self.game).info.players

    @property
    def names(self) -> list[str]:
        """Names of the players."""
        return [player.name for player in self.players]

    def unit(self, number: int, block: int, seating: Seating, opening: int) -> GameUnit:
        """Return one game; games with the same `opening` have the same seed."""
        return GameUnit(number, block, seating, self.seed + opening, self)

    def block(self, number: int, block: int, table: Sequence[int], opening: int) -> list[GameUnit]:
        """Return a block of games: one opening, every player of a table once on every seat.

        Args:
            number: Number of its first game.
            block: Number of the block.
            table: The players.
            opening: Number of the opening.
        """
        order = list(table)
        if len(order) > 2:
            # Rotations keep who sits behind whom, which matters, too: shuffle it per opening.
            Random(f"{self.seed} {opening}").shuffle(order)
        return [
            self.unit(number + i, block, seating, opening)
            for i, seating in enumerate(rotations(order))
        ]


DEFAULTS = {field.name: field.default for field in msgspec.structs.fields(RunConfig)}
"""The default values of the fields of `RunConfig`."""


class GameUnit(msgspec.Struct, frozen=True):
    """One game to play: everything that its result depends on.

    Attributes:
        number: Its place in the schedule, from 0, and its name in the records.
        block: Games of one block share seed and players, and rotate the seats.
        seats: The player on each seat, as an index into `config.players`.
        seed: Seed of the opening, the board, the bag and all other chance of this game.
        config: The settings of the run.
        live: A file to which turns are appended while the game is running; empty for none.
    """

    number: int
    block: int
    seats: tuple[int, ...]
    seed: int
    config: RunConfig
    live: str = ""

    @property
    def players(self) -> list[PlayerConfig]:
        """The player on each seat."""
        return [self.config.players[player] for player in self.seats]

    def require_same(self, result: GameResult) -> None:
        """Raise QuartetError if a recorded result is not of this game."""
        if (self.seats, self.seed, self.block) != (result.seats, result.seed, result.block):
            raise QuartetError(
                f"game {self.number} of the records is not the one of the schedule; "
                "choose another folder with --out"
            )


def rotations(table: Sequence[int]) -> list[Seating]:
    """Return the rotations of a table: every player once on every seat, in the same order."""
    return [(*table[i:], *table[:i]) for i in range(len(table))]
