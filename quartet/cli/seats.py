"""Players of `quartet match`: from the command line to seats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console

from core.engine import parse_player
from core.errors import QuartetError
from core.messages import SIDES
from quartet.arena import builds
from quartet.cli.terminal import human
from quartet.judge.game import JudgedGame, Start
from quartet.judge.seats import seating
from quartet.judge.seats.person import PersonSeat
from quartet.judge.seats.players import EMPTY_SEAT, PERSON, Kind
from quartet.judge.seats.seat import Seat
from quartet.judge.seats.seating import SeatSetup

Setup = SeatSetup | str | None
"""A player, PERSON, or None for an empty seat."""


def two_programs(
    game: JudgedGame,
    programs: Sequence[str],
    named: tuple[str | None, str | None],
    config: Mapping[str, str],
) -> list[str]:
    """Return the two programs of a line-protocol game, named as for the official tools.

    Args:
        game: The game.
        programs: The arguments PROGRAM.
        named: The options -a and -b.
        config: A settings file.

    Raises:
        QuartetError: There are fewer or more than two.
    """
    given, found = list(programs), []
    for option, key in zip(named, ("EXEC1", "EXEC2"), strict=True):
        program = option or (given.pop(0) if given else config.get(key))
        if program is None:
            raise QuartetError(
                f"{game.info.name} has {len(SIDES)} players: name two programs, "
                "or use -a and -b, or a file with EXEC1 and EXEC2"
            )
        found.append(program)
    if given:
        raise QuartetError(
            f"{game.info.name} has {len(SIDES)} players; one too many: {' '.join(given)}"
        )
    return found


def setups(
    game: JudgedGame, programs: Sequence[str], folders: Sequence[str | Path | None], seed: int
) -> list[Setup]:
    """Resolve the players of all seats.

    Args:
        game: The game.
        programs: A player for every seat.
        folders: Working directory for each program; missing ones are the current directory.
        seed: Seed of built-in players.

    Raises:
        QuartetError: The players do not fit the game, or one of them cannot be started.
    """
    info = game.info
    if len(programs) != info.players:
        raise QuartetError(f"{info.name} has {info.players} players, not {len(programs)}")
    found: list[Setup] = []
    for seat, program in enumerate(programs):
        folder = folders[seat] if seat < len(folders) else None
        if folder is not None and not Path(folder).is_dir():
            raise QuartetError(f"there is no folder {folder}")
        if program == EMPTY_SEAT:
            found.append(None)
        elif program == PERSON:
            found.append(PERSON)
        else:
            spec = builds.resolve(info.name, program, folder)
            found.append(SeatSetup(spec, None if folder is None else Path(folder), seed=seed))
    return found


def files(setups: Sequence[Setup]) -> Iterator[Path]:
    """Yield the words of the players' commands and the values of their options as paths; some of
    them are files."""
    for setup in setups:
        if isinstance(setup, SeatSetup):
            player = setup.player
            yield from player.files.values()
            words = player.words()
            if player.version is not None:
                words.update(parse_player(player.version.player)[1].values())
            for word in words:
                for name in filter(None, (word, word.partition("=")[2])):
                    yield Path(setup.cwd or ".", name)


def make(
    game: JudgedGame, setups: Sequence[Setup], start: Start, console: Console, *, human_clock: bool
) -> list[Seat | None]:
    """Return the seats. With a human at the table, built-in players play in this process."""
    has_human = PERSON in setups
    programs = [
        setup
        if isinstance(setup, SeatSetup) and not (has_human and setup.player.kind is Kind.BUILT_IN)
        else None
        for setup in setups
    ]
    seats = seating.seats_of(game, programs, start)
    choose = human.move_chooser(console)
    for seat, setup in enumerate(setups):
        if setup == PERSON:
            seats[seat] = PersonSeat(choose, clocked=human_clock)
        elif isinstance(setup, SeatSetup) and seats[seat] is None:
            seats[seat] = seating.engine_seat(game, setup, clock=True)
    return seats
