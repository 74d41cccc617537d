"""The fingerprint: node counts, and hashes of moves and scores, at fixed limits.

It changes whenever rules, a search or a frozen player change.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

from core.rules import Position
from quartet import registry

RECORDED = Path(__file__).with_name("fingerprint.txt")
GAMES, EVERY = 3, 9
"""Number of random games, and of plies from one searched position to the next."""


def positions(game: str) -> Iterator[Position]:
    """Yield the positions to search."""
    start = registry.load(game, "rules").Position.start
    for seed in range(GAMES):
        random, position = Random(seed), start(seed)
        while not position.over:
            if position.ply % EVERY == 0:
                yield position
            position = position.play(random.choice(position.legal()))


def fingerprint(game: str) -> dict[str, str]:
    """Return name -> figure for every built-in player; the engine has the name of its game.

    A figure is the number of nodes and a hash of the moves and scores.
    """
    players = registry.load(game, "players")
    limits = registry.load(game, "engine").BENCH_LIMITS
    figures = {}
    for name in players.NAMES:
        player = players.player(name, seed=1)
        infos = [player.choose(position, limits) for position in positions(game)]
        choices = repr([(info.move, info.score) for info in infos]).encode()
        figures[game if name == "bot" else f"{game}/{name}"] = (
            f"{sum(info.nodes for info in infos)}-{hashlib.sha256(choices).hexdigest()[:8]}"
        )
    return figures


def recorded() -> dict[str, str]:
    """Return the recorded figures."""
    return (
        dict(re.findall(r"^(\S+) (\S+)$", RECORDED.read_text(), re.MULTILINE))
        if RECORDED.exists()
        else {}
    )


def record(figures: dict[str, str]) -> None:
    """Record these figures; others stay as they are."""
    RECORDED.write_text(
        "".join(f"{name} {figure}\n" for name, figure in sorted({**recorded(), **figures}.items()))
    )
