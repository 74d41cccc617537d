"""A player that is named by a commit of the project: `git:REF`, or `git:REF:PLAYER` with the player's
options. `quartet.arena.builds` makes its build; a seat starts it by `python -m GAME`.
"""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

import platformdirs

CACHE = "QUARTET_CACHE"
"""The environment variable that names the folder of what can be made again."""
BEGINNING = "git:"
SHORT = 7
"""Digits of a commit's id, where a person reads it."""


@dataclass(frozen=True)
class Version:
    """A player of a commit.

    Attributes:
        ref: str; what git calls the commit; its whole id in records.
        player: str; with its options, empty for the player of whoever names none.
    """

    ref: str
    player: str = ""

    def __str__(self) -> str:
        return BEGINNING + ":".join(filter(None, (self.ref, self.player)))


def parse(program: str) -> Version | None:
    """The version that a program is on the command line; None for whatever else plays."""
    if not program.startswith(BEGINNING):
        return None
    ref, _, player = program.removeprefix(BEGINNING).partition(":")
    return Version(ref, player)


def player_of(program: str) -> str:
    """The built-in player's name that a program is, of whatever commit; else the program."""
    version = parse(program)
    return program if version is None else version.player


def short(program: str) -> str:
    """A program as a table shows it: a commit's whole id cut short."""
    version = parse(program)
    if version is None or not is_whole(version.ref):
        return program
    return str(Version(version.ref[:SHORT], version.player))


def is_whole(ref: str) -> bool:
    """Whether this is the whole id of a commit."""
    return len(ref) in {40, 64} and set(ref) <= set("0123456789abcdef")


def cache() -> Path:
    """The folder of what can be made again."""
    named = os.environ.get(CACHE)
    return Path(named) if named else platformdirs.user_cache_path("quartet", False)


def folder() -> Path:
    """Where builds are kept."""
    return cache() / "versions"


def tree(commit: str) -> Path:
    """The folder of a commit's build for this Python, machine and kind of build."""
    made = [sys.implementation.cache_tag, platform.machine()]
    made += filter(None, (os.environ.get("QUARTET_BUILD"), os.environ.get("QUARTET_CPU")))
    return (folder() / "-".join([commit, *made])).absolute()


def knows(game: str, version: Version, variable: str) -> bool:
    """Whether the agent of a commit's build heeds an environment variable: its name stands in what
    the agent is made of. `game` is the package."""
    rooms = [tree(version.ref) / room for room in ("core", game)]
    paths = [path for room in rooms for path in room.rglob("*.py")]
    return any(variable in path.read_text(encoding="utf-8") for path in paths)


def command(game: str, version: Version, *arguments: str) -> tuple[list[str], dict[str, str]]:
    """How the agent of a commit's build is started, and what its environment needs. It sees no
    packages of ours but its own: not those in its working directory (-P), nor ours.

    Args:
        game: str; the package. version: Version; of a whole id. arguments: of the agent.
    """
    player = ["--player", version.player] if version.player else []
    words = [sys.executable, "-P", "-m", game, *player, *arguments]
    return words, {"PYTHONPATH": str(tree(version.ref))}
