"""What a program on the command line stands for: a built-in player, a file, or a shell command."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
from pathlib import Path

import registry

SHIPPED = {".py", ".so", ".pyd", ".bin"}
"""Suffixes of the files that a built-in player runs."""


def launch(game: str, program: str, *arguments: str) -> tuple[str | list[str], dict[str, str]]:
    """The command of a program (a string for the shell, or a list) and its environment, on top of ours.

    `program` is a built-in player, which gets `arguments`, an executable file, or a shell command. It may run in another folder, where a
    relative path would lead nowhere, and where our packages must be found all the same.
    """
    if registry.is_player(game, program):
        home = str(Path(registry.__file__).resolve().parent)
        path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
        return [sys.executable, "-m", registry.GAMES[game], "--player", program, *arguments], {"PYTHONPATH": path}
    file = Path(program)
    return ([str(file.resolve())] if file.is_file() else program), {}


def fingerprint(game: str, program: str) -> str:
    """A digest of all that makes a program as far as we can see: its own file, those that its command names, or a game's package."""
    if registry.is_player(game, program):
        return engine_fingerprint(game)
    return _digest([path for word in {program, *words(program)} if (path := Path(word)).is_file()])


def engine_fingerprint(game: str) -> str:
    """A digest of all that makes a game's engine."""
    home = Path(registry.__file__).resolve().parent
    rooms = [home / "core", home / registry.GAMES[game]]
    return _digest([path for room in rooms for path in room.rglob("*") if path.suffix in SHIPPED])


def _digest(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def words(program: str) -> list[str]:
    """The words of a shell command; none where its quotes do not match, which is the shell's to say."""
    try:
        return shlex.split(program)
    except ValueError:
        return []
