"""A game with types, for the tests: both rules, players and engine."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Protocol

from core.errors import RuleError
from core.rules import GameInfo, Move, Position
from quartet import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from core.engine import Engine, Searcher
    from core.limits import Limits

ROOT = Path(__file__).resolve().parents[1]
RANDOM_CASES = int(os.environ.get("QUARTET_RANDOM_CASES", "2000"))
"""Random positions per game for comparing fast and reference rules. Other random tests scale with
it."""
SANITIZED = os.environ.get("QUARTET_BUILD") in {"asan", "ubsan", "tsan"}
"""True if compiled code runs under a sanitizer, which takes time and memory; see docs/builds.md."""
WATCHING = {n: os.environ[n] for n in os.environ if re.match("LD_PRELOAD$|.*SAN_OPTIONS$", n)}
"""The environment variables that a child process needs to run under the sanitizer."""


class FastPosition(Position, Protocol):
    """The members of a fast position in addition to those of every position."""

    @property
    def key(self) -> int:
        """Return the hash of the position, updated incrementally."""
        ...

    def recomputed_key(self) -> int:
        """Return the same hash, computed from scratch."""
        ...


@dataclass(frozen=True)
class GameUnderTest:
    """Attributes: `folder` is its package and `data` its test data. The others are those of its
    modules.

    `fast` are the fast rules, or the reference rules if the game has no fast ones yet: see
    `is_whole`.
    """

    name: str
    folder: Path
    data: Path
    info: GameInfo
    reference: type[Position]
    fast: type[FastPosition]
    pass_move: Move
    player_names: Sequence[str]
    player: Callable[[str, int | None], Searcher[FastPosition]]

    @property
    def engine(self) -> Callable[..., Engine[FastPosition]]:
        """Return the class of its engine. Raises NotBuiltError if it is missing."""
        engine: Callable[..., Engine[FastPosition]] = registry.load(self.name, "engine").Engine
        return engine

    @property
    def bench_limits(self) -> Limits:
        """Return the limits of its fingerprint. Raises NotBuiltError if it has no engine."""
        limits: Limits = registry.load(self.name, "engine").BENCH_LIMITS
        return limits


def is_whole(name: str) -> bool:
    """Return True if a game has fast rules and an engine, which may be written last."""
    return registry.has(name, "rules") and registry.has(name, "engine")


def load(name: str) -> GameUnderTest:
    """Return a game by its name. Raises an error if a part is missing."""
    reference, players = (registry.load(name, part) for part in ("reference", "players"))
    return GameUnderTest(
        name=name,
        folder=ROOT / registry.GAMES[name],
        data=ROOT / "tests" / "data" / name,
        info=reference.INFO,
        reference=reference.Position,
        fast=(registry.load(name, "rules") if registry.has(name, "rules") else reference).Position,
        pass_move=reference.PASS,
        player_names=players.NAMES,
        player=players.player,
    )


def random_games(
    game: GameUnderTest, positions: int, seed: int = 0
) -> Iterator[tuple[Position, FastPosition]]:
    """Yield the positions of random games by both rules, final positions included.

    Stops after the game that reaches `positions`. If the rules allow forfeited turns, every second
    game forfeits one turn in ten.
    """
    count, number = 0, 0
    while count < positions:
        random = Random(f"{game.name} {seed} {number}")
        slow, fast = game.reference.start(number), game.fast.start(number)
        forfeit_chance = 0.1 if number % 2 and has_forfeits(slow) else 0.0
        yield slow, fast
        while not slow.over:
            if random.random() < forfeit_chance:
                slow, fast = slow.lose_turn(), fast.lose_turn()
            else:
                move = random.choice(slow.legal())
                slow, fast = slow.play(move), fast.play(move)
            yield slow, fast
            count += 1
        number += 1


def has_forfeits(position: Position) -> bool:
    """Return True if the rules define what a forfeited turn does."""
    try:
        position.lose_turn()
    except RuleError:
        return False
    return True
