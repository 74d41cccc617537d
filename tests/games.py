"""A game as the tests see it: both rules, players and engine, with types."""

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
RANDOM_CASES = int(os.environ.get("QUARTET_RANDOM_CASES", "4000"))
"""Random positions on which fast rules and reference rules are compared, per game; other random
tests scale with it."""
SANITIZED = os.environ.get("QUARTET_BUILD") in {"asan", "ubsan", "tsan"}
"""Whether compiled code is watched, which takes time and memory: see docs/builds.md."""
WATCHING = {n: os.environ[n] for n in os.environ if re.match("LD_PRELOAD$|.*SAN_OPTIONS$", n)}
"""What a process needs of our environment to be watched, too."""


class FastPosition(Position, Protocol):
    """What a fast position has beside the face that all positions show."""

    @property
    def key(self) -> int:
        """Hash of the position, kept incrementally."""
        ...

    def recomputed_key(self) -> int:
        """The same, from nothing."""
        ...


@dataclass(frozen=True)
class Game:
    """Attributes: `folder` its package, `data` its test data; the rest as the game's modules offer
    it.

    `fast` are the fast rules, or the reference rules again in a game that is still without: see
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
        """The class of its engine. Raises NotBuiltError where there is none."""
        engine: Callable[..., Engine[FastPosition]] = registry.load(self.name, "engine").Engine
        return engine

    @property
    def bench_limits(self) -> Limits:
        """The limits of its fingerprint. Raises NotBuiltError where there is no engine."""
        limits: Limits = registry.load(self.name, "engine").BENCH_LIMITS
        return limits


def is_whole(name: str) -> bool:
    """Whether a game has all its parts: fast rules and an engine can come after the rest."""
    return registry.has(name, "rules") and registry.has(name, "engine")


def load(name: str) -> Game:
    """The game of that name; raises where a part of it is missing."""
    reference, players = (registry.load(name, part) for part in ("reference", "players"))
    return Game(
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
    game: Game, positions: int, seed: int = 0
) -> Iterator[tuple[Position, FastPosition]]:
    """The same random games by both rules, position by position, last ones included; at least so
    many positions.

    Where the rules know lost turns, every second game loses one in ten.
    """
    count, number = 0, 0
    while count < positions:
        random = Random(f"{game.name} {seed} {number}")
        slow, fast = game.reference.start(number), game.fast.start(number)
        foul_chance = 0.1 if number % 2 and knows_lost_turns(slow) else 0.0
        yield slow, fast
        while not slow.over:
            if random.random() < foul_chance:
                slow, fast = slow.lose_turn(), fast.lose_turn()
            else:
                move = random.choice(slow.legal())
                slow, fast = slow.play(move), fast.play(move)
            yield slow, fast
            count += 1
        number += 1


def knows_lost_turns(position: Position) -> bool:
    """Whether the rules of the game have an answer to a foul."""
    try:
        position.lose_turn()
    except RuleError:
        return False
    return True
