"""Names of players: what the text that names a player on the command line stands for."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from core.engine import options_of, parse_player, write_player
from core.errors import NotBuiltError, QuartetError, UnknownNameError
from quartet import registry
from quartet.judge import game as games
from quartet.judge.process.sandbox import words_of
from quartet.judge.seats import versions
from quartet.judge.seats.versions import Version

if TYPE_CHECKING:
    from core.engine import Searcher

EMPTY_SEAT, PERSON = "none", "human"
"""Names of an empty seat and of a human player. `PlayerSpec` knows neither."""
NODES = "QUARTET_NODES"
"""Environment variable with the node limit of every search of an agent of this project."""
USERS_PATH = "QUARTET_USERS_PYTHONPATH"
"""Environment variable with the user's own PYTHONPATH, which an adapter restores for the program
that it starts."""
SCRIPTS = (".py", ".js", ".rb", ".pl", ".lua", ".jar")
"""Suffixes of files that an interpreter runs."""
SHELL_SYNTAX = set("|&;<>()$`\"'*?[]#~={}%\\\n")
"""Characters that only the shell interprets."""
SHELL_WORDS = {"exec", "exit", "cd", "call", "command", "echo", "eval", "start", "type"}
"""Commands built into shells; no file has these names."""
ADAPTER_OPTIONS = re.compile(r"""^(--\w+[ =]("[^"]*"|'[^']*'|\S+)\s+)+""")
"""Options of an adapter, before the command of its engine."""
PYTHON = (sys.executable, "-P", "-m")
"""Command that starts a module of this project. With -P the working directory, which may be another
checkout, is no import path."""


class Kind(Enum):
    """What a player is."""

    BUILT_IN = "player of this checkout"
    COMMIT = "player of another commit of this project"
    ADAPTER = "program that an adapter of the game runs"
    COMMAND = "executable file or shell command"


@dataclass(frozen=True)
class PlayerSpec:
    """A player of a game. `parse` is the only code that interprets its name.

    Attributes:
        game: Name of the game.
        kind: What the player is.
        text: The player as it was named. `quartet.arena.builds.resolve` replaces a commit's
            reference by its whole id.
        name: Name of a built-in player, without options; else empty.
        settings: Options of a built-in player, with absolute paths of files.
        files: Files that these options name, by option.
        version: The commit and its player, for COMMIT.
        adapter: Prefix of the adapter, for ADAPTER.
        command: Absolute path of an executable file, or a shell command; for ADAPTER and COMMAND.
    """

    game: str
    kind: Kind
    text: str
    name: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Path] = field(default_factory=dict)
    version: Version | None = None
    adapter: str = ""
    command: str = ""

    @classmethod
    def parse(cls, game: str, text: str) -> Self:
        """Interpret a player's name; `require` checks whether the player can be started.

        Args:
            game: Name of the game.
            text: NAME, NAME:OPTION=VALUE,..., git:REF, git:REF:PLAYER, PREFIX:COMMAND of an
                adapter, a file, or a shell command.

        Raises:
            UnknownNameError: There is no such game.
            TextError: The text names a built-in player, but its options cannot be read.
            NotBuiltError: The game's compiled modules are missing.
        """
        if (version := versions.parse(text)) is not None:
            return cls(game, Kind.COMMIT, text, version=version)
        if (player := registry.find_player(game, text)) is not None:
            name, settings = parse_player(text)
            files = {
                option.name: Path(absolute(settings[option.name]))
                for option in (options_of(player) if settings else ())
                if option.kind is str and settings.get(option.name)
            }
            settings.update({option: str(file) for option, file in files.items()})
            return cls(game, Kind.BUILT_IN, text, name, settings, files)
        prefix, _, command = text.partition(":")
        if prefix in games.load(game).info.adapters:
            return cls(game, Kind.ADAPTER, text, adapter=prefix, command=absolute(command))
        return cls(game, Kind.COMMAND, text, command=absolute(text))

    @classmethod
    def built_in(cls, game: str, text: str) -> Self:
        """Return a built-in player without checking that the game has it. Raises TextError."""
        name, settings = parse_player(text)
        return cls(game, Kind.BUILT_IN, text, name, settings)

    @property
    def full(self) -> str:
        """The player's name for records: files have absolute paths."""
        if self.kind is Kind.BUILT_IN:
            return write_player(self.name, self.settings)
        if self.kind is Kind.ADAPTER:
            return f"{self.adapter}:{self.command}"
        return self.command or self.text

    @property
    def label(self) -> str:
        """The player's name for tables and logs: the id of a commit is abbreviated."""
        return versions.short(self.text)

    @property
    def is_ours(self) -> bool:
        """Return True for a player of this project, of whatever commit."""
        return self.kind in {Kind.BUILT_IN, Kind.COMMIT}

    def require(self, folder: str | Path | None = None) -> None:
        """Check that the player can be started: otherwise it would forfeit every turn.

        A script that is given to an interpreter must exist. Shell syntax is not checked.

        Args:
            folder: Working directory of the program [default: the current one].

        Raises:
            UnknownNameError: There is no such program, player, option, or build.
            TextError: An option has no such value.
        """
        if self.kind is Kind.BUILT_IN:
            registry.load(self.game, "players").player(self.text)
        elif self.version is not None:
            if not versions.tree(self.version.ref).is_dir():
                raise UnknownNameError(f"{self.text} is not built here")
        else:
            self._require_program(folder)

    def require_nodes(self) -> None:
        """Raise QuartetError if this is a commit whose agent has no node limit."""
        if not self._knows(NODES):
            raise QuartetError(
                f"{self.label} cannot search N nodes: its agent does not know {NODES}"
            )

    def require_start(self, variable: str) -> None:
        """Raise QuartetError if the player cannot read an unusual start.

        Args:
            variable: Environment variable with the start, for agents of this project.
        """
        if not self._knows(variable):
            raise QuartetError(
                f"{self.label} cannot know where the game starts: its agent does not know {variable}"
            )
        if self.kind is Kind.COMMAND:
            adapters = games.load(self.game).info.adapters
            able = ", ".join(["built-in players", *(f"{p}:COMMAND" for p in adapters)])
            raise QuartetError(
                f"{self.text!r} cannot know where the game starts: the judge of {self.game} has no "
                f"message for it, so only {able} can play"
            )

    def launch(self, *arguments: str) -> tuple[str | list[str], dict[str, str]]:
        """Return the command that starts the player, and additions to its environment.

        Args:
            arguments: For an agent of this project.

        Returns:
            A command for the shell, or a list of arguments; it works in any folder.
        """
        package = registry.GAMES[self.game]
        if self.version is not None:
            return versions.command(package, self.version, *arguments)
        if self.kind is Kind.BUILT_IN:
            return [*PYTHON, package, "--player", self.full, *arguments], _import_path()
        if self.kind is Kind.ADAPTER:
            module = games.load(self.game).info.adapters[self.adapter]
            users = {USERS_PATH: os.environ.get("PYTHONPATH", "")}
            return [*PYTHON, module, self.command], {**_import_path(), **users}
        return ([self.command] if Path(self.command).is_file() else self.command), {}

    def words(self) -> set[str]:
        """Return the command and its words, for ADAPTER and COMMAND; some of them name files."""
        return {self.command, *words_of(self.command)} - {""}

    def _knows(self, variable: str) -> bool:
        """Return False if this is a commit whose agent does not read an environment variable."""
        package = registry.GAMES[self.game]
        return self.version is None or versions.knows(package, self.version, variable)

    def _require_program(self, folder: str | Path | None) -> None:
        program = self.command
        if self.kind is Kind.ADAPTER:
            program = ADAPTER_OPTIONS.sub("", program)
        is_file = Path(program).is_file()
        if is_file and os.name == "nt":
            return
        if not is_file and SHELL_SYNTAX & set(program):
            return
        first, *rest = [program] if is_file else words_of(program) or [""]
        if first in SHELL_WORDS:
            return
        if rest and rest[0].endswith(SCRIPTS):
            place = Path(folder or ".", rest[0])
            if not place.is_file():
                raise UnknownNameError(f"there is no file {place}, which {self.text!r} is to run")
        if not _is_program(first, folder):
            raise UnknownNameError(self._complaint(first, folder))

    def _complaint(self, word: str, folder: str | Path | None) -> str:
        """Say why the first word of the command is no program."""
        is_whole = self.kind is Kind.COMMAND and word == self.command
        shown, place = self.text if is_whole else word, Path(folder or ".", word)
        prefix, colon, _ = self.text.partition(":")
        others = [name for name in registry.GAMES if prefix in games.load(name).info.adapters]
        if self.text in {PERSON, EMPTY_SEAT}:
            return f"{self.text!r} is a player of `quartet match` only"
        if colon and others and self.game not in others:
            return f"{self.game} has no players {prefix}:COMMAND; they are for {', '.join(others)}"
        if word and place.is_dir():
            return f"{shown!r} is a folder, not a program"
        if os.path.dirname(word) and place.is_file():  # noqa: PTH120  (as in _is_program)
            runner = "python3" if word.endswith(".py") else "INTERPRETER"
            return f'{shown} is not executable: run chmod +x, or write "{runner} {shown}"'
        names = ", ".join(registry.load(self.game, "players").NAMES)
        return f"{shown!r} is neither a program nor a built-in player of {self.game} ({names})"


def names(game: str) -> tuple[str, ...]:
    """Return the names of a game's built-in players; none if its modules are not compiled."""
    try:
        return tuple(registry.load(game, "players").NAMES)
    except NotBuiltError:
        return ()


@cache
def built_in(game: str, name: str) -> Searcher[Any]:
    """Return a shared built-in player with default options, only to read its declarations.

    Raises:
        UnknownNameError: There is no such player.
        NotBuiltError: The game's compiled modules are missing.
    """
    found: Searcher[Any] = registry.load(game, "players").player(name)
    return found


def absolute(program: str) -> str:
    """Return the absolute path of a file; anything else unchanged."""
    file = Path(program)
    return str(file.resolve()) if file.is_file() else program


def _is_program(word: str, folder: str | Path | None) -> bool:
    """Return True if a shell that runs in `folder` finds a program by this word."""
    if shutil.which(word) is not None:
        return True
    is_path = os.path.dirname(word) != ""  # noqa: PTH120  (a Path forgets the dot of ./mine)
    return is_path and folder is not None and shutil.which(str(Path(folder, word))) is not None


def _import_path() -> dict[str, str]:
    """Return an environment in which this project can be imported, before the user's PYTHONPATH."""
    paths = [str(registry.ROOT), os.environ.get("PYTHONPATH")]
    return {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
