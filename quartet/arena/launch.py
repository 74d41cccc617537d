"""What a program on the command line stands for: a built-in player, a file, a shell command, or
PREFIX: and a program of another language."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import QuartetError
from quartet import registry
from quartet.judge import game as games

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.rules import DrawnPosition

SHIPPED = {".py", ".so", ".pyd", ".bin"}
"""Suffixes of the files that a built-in player runs."""
START = "QUARTET_POSITION"
"""The environment variable that tells programs of ours of a start for which their judge has no
words."""


def launch(game: str, program: str, *arguments: str) -> tuple[str | list[str], dict[str, str]]:
    """The command of a program (a string for the shell, or a list) and its environment, on top of
    ours.

    `program` is a built-in player, which gets `arguments`, an executable file, a shell command, or
    one of those after the prefix of an adapter of the game. It may run in another folder, where a
    relative path would lead nowhere, and where our packages must be found all the same.
    """
    prefix, command = split(game, program)
    if prefix:
        return [
            sys.executable,
            "-m",
            games.load(game).info.adapters[prefix],
            absolute(command),
        ], _home()
    if registry.is_player(game, program):
        return [
            sys.executable,
            "-m",
            registry.GAMES[game],
            "--player",
            program,
            *arguments,
        ], _home()
    return ([absolute(program)] if Path(program).is_file() else program), {}


def split(game: str, program: str) -> tuple[str, str]:
    """The prefix of a program that an adapter of the game seats, and the rest; without one, an
    empty prefix and the program."""
    prefix, _, command = program.partition(":")
    return (prefix, command) if prefix in games.load(game).info.adapters else ("", program)


def absolute(program: str) -> str:
    """A program; a file by its whole path."""
    file = Path(program)
    return str(file.resolve()) if file.is_file() else program


def start_environment(game: str, start: DrawnPosition, programs: Sequence[str]) -> dict[str, str]:
    """What the programs of a game of lines are told of its start in their environment, because the
    judge has no words for it.

    Nothing where it has, and where the game starts as always. Raises QuartetError where a program
    is none of ours, and cannot know.
    """
    known = games.load_lines(game)
    if known.judge.init or start.text() == known.position.start().text():
        return {}
    for program in programs:
        if not split(game, program)[0] and not registry.is_player(game, program):
            ours = ", ".join(
                ["built-in players", *(f"{prefix}:COMMAND" for prefix in known.info.adapters)]
            )
            raise QuartetError(
                f"{program!r} cannot know where the game starts: the judge of {game} has no words for it, so only {ours} can play"
            )
    return {START: start.text()}


def fingerprint(game: str, program: str) -> str:
    """A digest of all that makes a program as far as we can see: its own file, those that its
    command names, or a game's package."""
    if registry.is_player(game, program):
        return engine_fingerprint(game)
    _, command = split(game, program)
    return _digest([path for word in {command, *words(command)} if (path := Path(word)).is_file()])


def engine_fingerprint(game: str) -> str:
    """A digest of all that makes a game's engine."""
    rooms = [registry.ROOT / "core", registry.ROOT / registry.GAMES[game]]
    return _digest([path for room in rooms for path in room.rglob("*") if path.suffix in SHIPPED])


def _digest(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def words(program: str) -> list[str]:
    """The words of a shell command; none where its quotes do not match, which is the shell's to
    say."""
    try:
        return shlex.split(program)
    except ValueError:
        return []


def _home() -> dict[str, str]:
    """The environment in which our packages are found."""
    return {
        "PYTHONPATH": os.pathsep.join(
            filter(None, (str(registry.ROOT), os.environ.get("PYTHONPATH")))
        )
    }
