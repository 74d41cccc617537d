"""What a player's name on the command line stands for, and the seat that it gets: a built-in
player, a file, a shell command, or PREFIX: and a program of another language."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.engine import options_of, parse_player, write_player
from core.errors import NotBuiltError, QuartetError, UnknownNameError
from quartet import registry
from quartet.judge.process.pipes import hub
from quartet.judge.seats import versions
from quartet.judge.seats.engine import EngineSeat
from quartet.judge.seats.files import FileSeat, turn_seed
from quartet.judge.seats.lines import Command, LineSeat

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from core.engine import Searcher
    from quartet.judge.game import Game, Start
    from quartet.judge.process.pipes import Hub
    from quartet.judge.seats.seat import Seat

NOBODY, PERSON = "none", "human"
"""Names that stand for no program."""
START = "QUARTET_POSITION"
"""The environment variable that tells programs of ours of a start for which their judge has no
words."""
NODES = "QUARTET_NODES"
"""The environment variable that bounds the searches of programs of ours."""
USERS_PATH = "QUARTET_USERS_PYTHONPATH"
"""The environment variable that tells an adapter the user's own import path, which the program that
it starts must have unchanged."""
TARGET = 0.8
"""Of a clock for a move that was set for a built-in program: the part after which it is to have
ended, as 0.4 s are of the contest's 0.5 s."""
SCRIPTS = (".py", ".js", ".rb", ".pl", ".lua", ".jar")
"""Ends of the names of scripts, which an interpreter runs."""
SHELL_SYNTAX = set("|&;<>()$`\"'*?[]#~={}%\\\n")
"""Characters that only the shell can make sense of."""
ADAPTER_OPTIONS = re.compile(r"""^(--\w+[ =]("[^"]*"|'[^']*'|\S+)\s+)+""")
"""What an adapter is told before its command."""
OURS = (sys.executable, "-P", "-m")
"""How a module of ours is started; the folder that it runs in may be another checkout, whose
modules it must not take for ours."""
SHELL_WORDS = {"exec", "exit", "cd", "call", "command", "echo", "eval", "start", "type"}
"""Commands of shells, to be found nowhere."""


@dataclass(frozen=True)
class Player:
    """Somebody who takes a seat.

    Attributes:
        command: str; a built-in player with or without options (bot:hash=16), a file, a shell
            command, PREFIX:COMMAND, or git:COMMIT with or without a player.
        cwd: Path | None; the folder that a living program runs in, ours by default.
        ms: float | None; its clock, in milliseconds, where it is not the judge's.
        nodes: int | None; bound of a built-in player's search.
        seed: int; of a built-in player's random choices in this process.
        env: Mapping[str, str]; more of the program's environment.
    """

    command: str
    cwd: Path | None = None
    ms: float | None = None
    nodes: int | None = None
    seed: int = 0
    env: Mapping[str, str] = field(default_factory=dict)


def require(game: Game, command: str, folder: str | Path | None = None) -> None:
    """Raise UnknownNameError for what is neither a program nor a player: it would lose every turn;
    and for a player's options that it does not have, or TextError for their values.

    A script that a known interpreter is given must be there as well. What only the shell can make
    sense of is the shell's to say.

    Args:
        game: Game.
        command: str; as on the command line.
        folder: str | Path | None; where it will run, ours by default.
    """
    name = game.info.name
    if registry.is_player(name, command):
        registry.load(name, "players").player(command)
        return
    if (version := versions.parse(command)) is not None:
        if not versions.tree(version.ref).is_dir():
            raise UnknownNameError(f"{command} is not built here")
        return
    prefix, program = split(game, command)
    if prefix:
        program = ADAPTER_OPTIONS.sub("", program)
    if Path(program).is_file() or SHELL_SYNTAX & set(program):
        return
    found = words(program) or [""]
    if found[0] in SHELL_WORDS:
        return
    if len(found) > 1 and found[1].endswith(SCRIPTS):
        place = Path(folder or ".", found[1])
        if not place.is_file():
            raise UnknownNameError(f"there is no file {place}, which {command!r} is to run")
    if not _is_program(found[0], folder):
        names = ", ".join(registry.load(name, "players").NAMES)
        raise UnknownNameError(
            f"{found[0]!r} is neither a program nor a built-in player of {name} ({names})"
        )


def _is_program(word: str, folder: str | Path | None) -> bool:
    """Whether a shell that runs in `folder` finds a program by this word."""
    if shutil.which(word) is not None:
        return True
    is_path = os.path.dirname(word) != ""  # noqa: PTH120  (a Path forgets the dot of ./mine)
    return is_path and folder is not None and shutil.which(str(Path(folder, word))) is not None


def program_seat(game: Game, player: Player, start: Start, seat: int, hub: Hub) -> Seat:
    """A seat whose player is a program. Raises QuartetError where it cannot sit there."""
    name = game.info.name
    env = {**player.env}
    if player.ms is not None:
        env["QUARTET_TARGET"] = str(TARGET * player.ms / 1000)
    if player.nodes is not None:
        env[NODES] = str(player.nodes)
    if game.info.lines is None:
        if game.info.exchange is None:
            raise QuartetError(f"the judge of {name} speaks to no programs")
        command, more = launch(game, player.command)
        return FileSeat(command, {**more, **env})
    seed = str(turn_seed(start.seed, seat, 0))
    living, more = launch(game, player.command, "--seed", seed)
    lines = LineSeat(Command(living, player.cwd, {**more, **env}), hub)
    lines.built_in = registry.is_player(name, player.command)
    return lines


def seats_of(game: Game, players: Sequence[Player | None], start: Start) -> list[Seat | None]:
    """The seats of a match between programs; None where nobody sits. Raises QuartetError."""
    shared = hub()
    commands = [player.command for player in players if player is not None]
    told = start_environment(game, start, commands)
    seats: list[Seat | None] = []
    try:
        for seat, player in enumerate(players):
            if player is None:
                seats.append(None)
                continue
            full = Player(
                player.command,
                player.cwd,
                player.ms,
                player.nodes,
                player.seed,
                {**player.env, **told},
            )
            seats.append(program_seat(game, full, start, seat, shared))
    except BaseException:
        for made in seats:
            if made is not None:
                made.close()
        raise
    return seats


def engine_seat(game: Game, player: Player, *, clock: bool = False) -> EngineSeat:
    """A built-in player in this process; it minds its clock where it was given one of its own, or
    where `clock`.

    Raises UnknownNameError where there is none of that name.
    """
    clock = clock or player.ms is not None
    return EngineSeat(game.info.name, player.command, player.seed, nodes=player.nodes, clock=clock)


def names(game: str) -> tuple[str, ...]:
    """The names of a game's built-in players; none where its modules are not compiled."""
    try:
        return tuple(registry.load(game, "players").NAMES)
    except NotBuiltError:
        return ()


@cache
def built_in(game: str, name: str) -> Searcher[Any]:
    """A built-in player with its usual options, to be asked what it declares. Raises
    UnknownNameError and NotBuiltError."""
    found: Searcher[Any] = registry.load(game, "players").player(name)
    return found


def launch(game: Game, program: str, *arguments: str) -> tuple[str | list[str], dict[str, str]]:
    """The command of a program (a string for the shell, or a list) and what its environment needs.

    `program` is a built-in player or a version, which get `arguments`, an executable file, a shell command, or
    one of those after the prefix of an adapter of the game, or a version. It may run in another
    folder, where a relative path would lead nowhere, and where our packages must be found all the
    same.
    """
    name = game.info.name
    if (version := versions.parse(program)) is not None:
        return versions.command(registry.GAMES[name], version, *arguments)
    prefix, command = split(game, program)
    if prefix:
        adapter = game.info.adapters[prefix]
        theirs = {USERS_PATH: os.environ.get("PYTHONPATH", "")}
        return [*OURS, adapter, absolute(command)], {**home(), **theirs}
    if registry.is_player(name, program):
        package = registry.GAMES[name]
        player = whole_player(name, program)
        return [*OURS, package, "--player", player, *arguments], home()
    return ([absolute(program)] if Path(program).is_file() else program), {}


def require_nodes(game: Game, version: versions.Version) -> None:
    """Raise QuartetError where the agent of a commit's build does not search a fixed number of
    nodes."""
    if not versions.knows(registry.GAMES[game.info.name], version, NODES):
        raise QuartetError(
            f"{versions.short(str(version))} searches by its clock alone: its agent is of before {NODES}"
        )


def is_ours(game: str, program: str) -> bool:
    """Whether a program is a built-in player, of this checkout or of a commit. Raises
    UnknownNameError and TextError, as `registry.is_player`."""
    return versions.parse(program) is not None or registry.is_player(game, program)


def split(game: Game, program: str) -> tuple[str, str]:
    """The prefix of a program that an adapter of the game seats, and the rest; without one, an
    empty prefix and the program."""
    prefix, _, command = program.partition(":")
    return (prefix, command) if prefix in game.info.adapters else ("", program)


def absolute(program: str) -> str:
    """A program; a file by its whole path."""
    file = Path(program)
    return str(file.resolve()) if file.is_file() else program


def option_files(game: str, player: str) -> dict[str, Path]:
    """The files that options of a built-in player name, by option. Raises QuartetError."""
    bare, settings = parse_player(player)
    if not settings:
        return {}
    options = options_of(registry.load(game, "players").player(bare))
    return {
        option.name: Path(settings[option.name])
        for option in options
        if option.kind is str and settings.get(option.name)
    }


def whole_player(game: str, player: str) -> str:
    """A built-in player with its options, files by their whole paths: it may run in another folder.
    Raises QuartetError."""
    files = option_files(game, player)
    if not files:
        return player
    bare, settings = parse_player(player)
    settings.update({name: absolute(str(file)) for name, file in files.items()})
    return write_player(bare, settings)


def words(program: str) -> list[str]:
    """The words of a shell command; none where its quotes do not match, which is the shell's to
    say."""
    try:
        return shlex.split(program)
    except ValueError:
        return []


def home() -> dict[str, str]:
    """The environment in which our packages are found; a user's own import path comes behind."""
    theirs = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join(filter(None, (str(registry.ROOT), theirs)))}


def start_environment(game: Game, start: Start, programs: Sequence[str]) -> dict[str, str]:
    """What programs are told of the start in their environment, because the judge has no words.

    Nothing where it has, and where the game starts as always. Raises QuartetError where a program
    is none of ours, and cannot know.
    """
    if game.info.lines is None or game.info.lines.init:
        return {}
    text = start.position(game.position).text()
    if text == game.position.start().text():
        return {}
    name = game.info.name
    for program in programs:
        version = versions.parse(program)
        if version is not None and not versions.knows(registry.GAMES[name], version, START):
            raise QuartetError(
                f"{versions.short(program)} cannot know where the game starts: its agent is of before "
                f"{START}"
            )
        if not split(game, program)[0] and not is_ours(name, program):
            ours = ", ".join(["built-in players", *(f"{p}:COMMAND" for p in game.info.adapters)])
            raise QuartetError(
                f"{program!r} cannot know where the game starts: the judge of {name} has no words "
                f"for it, so only {ours} can play"
            )
    return {START: text}
