"""A few numbers that change whenever rules, search or a frozen player do: node counts and hashes of
choices at fixed limits."""

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
"""Random games that are walked, and how many plies lie between two positions that are searched."""


def positions(game: str) -> Iterator[Position]:
    """The positions that the fingerprint is taken on."""
    start = registry.load(game, "rules").Position.start
    for seed in range(GAMES):
        random, position = Random(seed), start(seed)
        while not position.over:
            if position.ply % EVERY == 0:
                yield position
            position = position.play(random.choice(position.legal()))


def fingerprint(game: str) -> dict[str, str]:
    """Name -> figure, for the engine under the name of its game and for every other built-in
    player: nodes, and a hash of the choices."""
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
    """The figures of the last commit that changed them on purpose."""
    return (
        dict(re.findall(r"^(\S+) (\S+)$", RECORDED.read_text(), re.MULTILINE))
        if RECORDED.exists()
        else {}
    )


def record(figures: dict[str, str]) -> None:
    """Make these the recorded figures, keeping those of games that are not among them."""
    RECORDED.write_text(
        "".join(f"{name} {figure}\n" for name, figure in sorted({**recorded(), **figures}.items()))
    )
