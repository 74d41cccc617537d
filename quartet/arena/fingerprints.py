"""What makes a player, as a digest: two players with the same digest are the same program."""

from __future__ import annotations

import hashlib
from pathlib import Path

from core.engine import parse_player
from quartet import registry
from quartet.judge import game as games
from quartet.judge.seats import versions
from quartet.judge.seats.players import split, words

SHIPPED = {".py", ".so", ".pyd", ".bin"}
"""Suffixes of the files that a built-in player runs."""


def fingerprint(game: str, program: str) -> str:
    """A digest of all that makes a program as far as we can see: its own file, those that its
    command names, a game's package, or a commit."""
    if (version := versions.parse(program)) is not None:
        _, settings = parse_player(version.player)
        files = [path for value in settings.values() if (path := Path(value)).is_file()]
        return hashlib.sha256(f"{version.ref} {_digest(files)}".encode()).hexdigest()[:16]
    if registry.is_player(game, program):
        return engine_fingerprint(game)
    _, command = split(games.load(game), program)
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
