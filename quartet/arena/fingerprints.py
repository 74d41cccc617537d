"""What makes a player, as a digest: two players with the same digest are the same program."""

from __future__ import annotations

import hashlib
from pathlib import Path

from core.engine import parse_player
from quartet import registry
from quartet.judge.seats.players import Kind, PlayerSpec

SHIPPED = {".py", ".so", ".pyd", ".bin"}
"""Suffixes of the files that a built-in player runs."""


def fingerprint(player: PlayerSpec) -> str:
    """Return a digest of all that makes a player, as far as it can be seen.

    That is a commit, a game's package, the files that options name, or the files that a command
    names.
    """
    if player.version is not None:
        _, settings = parse_player(player.version.player)
        files = [path for value in settings.values() if (path := Path(value)).is_file()]
        return _short(f"{player.version.ref} {digest_of(files)}".encode())
    if player.kind is Kind.BUILT_IN:
        found = engine_fingerprint(player.game)
        for file in player.files.values():
            found = _short(found.encode() + file.read_bytes())
        return found
    return digest_of([path for word in player.words() if (path := Path(word)).is_file()])


def reviewer_fingerprint(game: str, engine: str) -> str:
    """Return a digest of an engine of `quartet review`: its game's package, and the files that its
    command names."""
    words = engine.removeprefix("uai:").split()
    files = [path for word in words if (path := Path(word)).is_file()]
    return _short(f"{engine_fingerprint(game)} {digest_of(files)}".encode())


def engine_fingerprint(game: str) -> str:
    """Return a digest of all that makes a game's engine."""
    folders = [registry.ROOT / "core", registry.ROOT / registry.GAMES[game]]
    return digest_of(
        [path for folder in folders for path in folder.rglob("*") if path.suffix in SHIPPED]
    )


def digest_of(files: list[Path]) -> str:
    """Return a digest of the contents of files."""
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _short(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
