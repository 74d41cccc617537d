"""A few numbers that change whenever rules, search or a frozen player do: node counts at fixed depth, and hashes of choices."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import registry
from core.limits import Limits
from core.rules import Position

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
    """Name -> figure: the engine's nodes under the game's own `BENCH_LIMITS`, and a hash of the choices of every other built-in player."""
    engine = registry.load(game, "engine")
    searcher = engine.Engine()
    figures = {game: str(sum(searcher.choose(position, engine.BENCH_LIMITS).nodes for position in positions(game)))}
    players = registry.load(game, "players")
    for name in players.NAMES:
        if name != "bot":
            player = players.player(name, seed=1)
            choices = [player.choose(position, Limits(nodes=1000)).move for position in positions(game)]
            figures[f"{game}/{name}"] = hashlib.sha256(repr(choices).encode()).hexdigest()[:12]
    return figures


def recorded() -> dict[str, str]:
    """The figures of the last commit that changed them on purpose."""
    return dict(re.findall(r"^(\S+) (\S+)$", RECORDED.read_text(), re.MULTILINE)) if RECORDED.exists() else {}


def record(figures: dict[str, str]) -> None:
    """Make these the recorded figures, keeping those of games that are not among them."""
    RECORDED.write_text("".join(f"{name} {figure}\n" for name, figure in sorted({**recorded(), **figures}.items())))
