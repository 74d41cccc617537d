"""Players of other commits of the project, named `git:REF` or `git:REF:PLAYER` with options.

`quartet.arena.builds` makes their builds; a seat starts them as `python -m GAME`.
"""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

import platformdirs

CACHE = "QUARTET_CACHE"
"""Environment variable that names the cache folder."""
PREFIX = "git:"
SHORT = 7
"""Digits of an abbreviated commit id."""


@dataclass(frozen=True)
class Version:
    """A player of a commit.

    Attributes:
        ref: Name of the commit in git; its whole id in records.
        player: Name of the player with options; empty for the agent's default player.
    """

    ref: str
    player: str = ""

    def __str__(self) -> str:
        return PREFIX + ":".join(filter(None, (self.ref, self.player)))


def parse(program: str) -> Version | None:
    """Return the version that a text on the command line names; None if it names none."""
    if not program.startswith(PREFIX):
        return None
    ref, _, player = program.removeprefix(PREFIX).partition(":")
    return Version(ref, player)


def player_of(program: str) -> str:
    """Return the name of a built-in player, without its commit; any other text unchanged."""
    version = parse(program)
    return program if version is None else version.player


def short(program: str) -> str:
    """Return a text for tables: a commit's whole id is abbreviated."""
    version = parse(program)
    if version is None or not is_whole(version.ref):
        return program
    return str(Version(version.ref[:SHORT], version.player))


def is_whole(ref: str) -> bool:
    """Return True for the whole id of a commit."""
    return len(ref) in {40, 64} and set(ref) <= set("0123456789abcdef")


def cache() -> Path:
    """Return the cache folder."""
    named = os.environ.get(CACHE)
    return Path(named) if named else platformdirs.user_cache_path("quartet", False)


def tree(commit: str) -> Path:
    """Return the folder of a commit's build for this Python, machine and kind of build."""
    made = [sys.implementation.cache_tag, platform.machine()]
    made += filter(None, (os.environ.get("QUARTET_BUILD"), os.environ.get("QUARTET_CPU")))
    return (cache() / "versions" / "-".join([commit, *made])).absolute()


def knows(game: str, version: Version, variable: str) -> bool:
    """Return True if the agent of a commit's build reads an environment variable.

    It does if the variable's name is in its sources.

    Args:
        game: Package of the game.
        version: The commit, by its whole id.
        variable: Name of the variable.
    """
    folders = [tree(version.ref) / package for package in ("core", game)]
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    return any(variable in path.read_text(encoding="utf-8") for path in paths)


def command(game: str, version: Version, *arguments: str) -> tuple[list[str], dict[str, str]]:
    """Return the command of a commit's agent, and additions to its environment.

    It imports only its own packages: neither this checkout's, nor the working directory's (-P).

    Args:
        game: Package of the game.
        version: The commit, by its whole id.
        arguments: Arguments of the agent.
    """
    player = ["--player", version.player] if version.player else []
    words = [sys.executable, "-P", "-m", game, *player, *arguments]
    return words, {"PYTHONPATH": str(tree(version.ref))}
