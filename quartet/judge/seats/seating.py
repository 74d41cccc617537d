"""Seats for players: each as a program, or as a built-in player in this process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from core.errors import QuartetError
from quartet.judge.game import JudgedGame, Start
from quartet.judge.process.pipes import Hub, hub
from quartet.judge.seats.engine import EngineSeat
from quartet.judge.seats.files import FileSeat, turn_seed
from quartet.judge.seats.lines import Command, LineSeat
from quartet.judge.seats.players import NODES, Kind, PlayerSpec
from quartet.judge.seats.seat import Seat

START = "QUARTET_POSITION"
"""Environment variable with the start of a game, for agents of this project, if the judge has no
message for it."""
TARGET = 0.8
"""Fraction of a clock per move after which an agent of this project shall have exited: 0.4 s of the
contest's 0.5 s."""


@dataclass(frozen=True)
class SeatSetup:
    """A player with the conditions under which it plays one game.

    Attributes:
        player: Who plays.
        cwd: Working directory of a persistent program [default: the current one].
        ms: Clock in milliseconds; None for the judge's.
        nodes: Node limit of every search of a player of this project; None for no limit.
        seed: Seed of a built-in player in this process.
        env: Additions to a program's environment.
    """

    player: PlayerSpec
    cwd: Path | None = None
    ms: float | None = None
    nodes: int | None = None
    seed: int = 0
    env: Mapping[str, str] = field(default_factory=dict)


def program_seat(game: JudgedGame, setup: SeatSetup, start: Start, seat: int, hub: Hub) -> Seat:
    """Return a seat that starts the player as a program.

    Raises:
        QuartetError: The game's judge does not run programs.
    """
    env = {**setup.env}
    if setup.ms is not None:
        env["QUARTET_TARGET"] = str(TARGET * setup.ms / 1000)
    if setup.nodes is not None:
        env[NODES] = str(setup.nodes)
    if game.info.lines is None:
        if game.info.exchange is None:
            raise QuartetError(f"the judge of {game.info.name} speaks to no programs")
        command, more = setup.player.launch()
        return FileSeat(command, {**more, **env})
    command, more = setup.player.launch("--seed", str(turn_seed(start.seed, seat, 0)))
    made = LineSeat(Command(command, setup.cwd, {**more, **env}), hub)
    made.built_in = setup.player.kind is Kind.BUILT_IN
    return made


def seats_of(
    game: JudgedGame, setups: Sequence[SeatSetup | None], start: Start
) -> list[Seat | None]:
    """Return the seats of a match between programs, None for an empty one. Raises QuartetError."""
    shared = hub()
    told = start_environment(game, start, [setup.player for setup in setups if setup is not None])
    seats: list[Seat | None] = []
    with ExitStack() as cleanup:
        for seat, setup in enumerate(setups):
            if setup is None:
                seats.append(None)
                continue
            full = replace(setup, env={**setup.env, **told})
            seats.append(made := program_seat(game, full, start, seat, shared))
            cleanup.callback(made.close)
        cleanup.pop_all()
    return seats


def engine_seat(game: JudgedGame, setup: SeatSetup, *, clock: bool = False) -> EngineSeat:
    """Return a seat of a built-in player in this process.

    It minds its clock if `clock`, or if the setup has one.

    Raises:
        UnknownNameError: There is no such player, or no such option.
        TextError: An option has no such value.
    """
    clock = clock or setup.ms is not None
    return EngineSeat(game.info.name, setup.player.text, setup.seed, nodes=setup.nodes, clock=clock)


def start_environment(
    game: JudgedGame, start: Start, players: Iterable[PlayerSpec]
) -> dict[str, str]:
    """Return additions to the environment of programs that give the start of the game.

    They are empty if the judge has a message for it, or if the game starts as usual.

    Raises:
        QuartetError: A player cannot read them.
    """
    if game.info.lines is None or game.info.lines.init:
        return {}
    text = start.position(game.position).text()
    if text == game.position.start().text():
        return {}
    for player in players:
        player.require_start(START)
    return {START: text}
