"""Self-play: an engine plays itself from random openings; its searches become samples for
training."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from random import Random
from typing import Any, cast

import msgspec

from core.errors import QuartetError
from core.limits import Limits
from core.nn.contract import FIRST, OFF_PATH, PLAYED, ForgetfulSearcher, OwnSamples, Training
from quartet import registry
from quartet.arena.cores import pin
from quartet.arena.store import SELFPLAY_GAMES
from quartet.training.samples import TAIL, Batch, MadeSamples

PLAYER = "bot"
"""The player that plays itself by default."""
LASTING = 4
"""Consecutive plies with a score beyond WON that end a game; both sides have then seen it twice."""
MAX_SCORE = 32_000
SearchedPosition = tuple[Any, int]
"""A position of a game that has not ended, and the search's score."""


class SelfplayUnit(msgspec.Struct, frozen=True, kw_only=True):
    """Some games of self-play: everything that their samples depend on.

    Attributes:
        number: Number of the unit, from 0; its first game is number * games.
        game: The game's name.
        seed: Seed of the run; each game derives its own.
        games: Number of games.
        nodes: Nodes per search.
        player: The built-in player that plays itself, with options.
        off_path: Off-path samples per position of a game, 0 to 1; None: the game's OFF_PATH_SHARE.
    """

    number: int
    game: str
    seed: int
    games: int
    nodes: int
    player: str = PLAYER
    off_path: float | None = None

    def require_same(self, result: Batch) -> None:
        """Raise QuartetError if a recorded batch is not of this unit."""
        if (self.seed, self.games, self.nodes) != (result.seed, result.games, result.nodes):
            raise QuartetError(
                f"unit {self.number} in the folder is not the one of this run; choose another "
                "folder with --out"
            )


def schedule(settings: SelfplayUnit, games: int) -> Iterator[SelfplayUnit]:
    """Yield units with at least `games` games, with the settings of a unit."""
    for number in range(-(-games // SELFPLAY_GAMES)):
        yield msgspec.structs.replace(settings, number=number, games=SELFPLAY_GAMES)


def play(unit: SelfplayUnit, cores: tuple[int, ...] | None = None) -> MadeSamples:
    """Play a unit. Equal units give equal samples.

    Raises QuartetError if the game has no engine or no training, or no share of off-path samples
    that can be set.
    """
    pin(cores)
    module = cast("Training | OwnSamples", registry.load(unit.game, "train.selfplay"))
    games = range(unit.number * unit.games, (unit.number + 1) * unit.games)
    if module.OWN_SAMPLES:
        if unit.off_path is not None:
            raise QuartetError(f"the share of off-path samples of {unit.game} is fixed")
        parts = module.play_games(games, unit.seed, unit.nodes, unit.player)
    else:
        parts = play_games(unit, module, games)
    return MadeSamples(
        Batch(unit.number, unit.seed, unit.games, unit.nodes, len(parts)), b"".join(parts)
    )


def play_games(unit: SelfplayUnit, training: Training, games: range) -> list[bytes]:
    """Return the samples of the games with these numbers, of a game for two."""
    rules = registry.load(unit.game, "rules").Position
    pass_move = registry.load(unit.game, "reference").PASS
    engine = training.engine(unit.player)
    limits = Limits(nodes=unit.nodes)
    off_path = training.OFF_PATH_SHARE if unit.off_path is None else unit.off_path
    parts = []
    for number in games:
        random = Random(f"{unit.seed} {number}")
        engine.new_game()
        start = opening(training, engine, limits, rules, random)
        parts += one_game(training, engine, limits, start, pass_move, random, off_path)
    return parts


def opening(
    training: Training, engine: ForgetfulSearcher, limits: Limits, rules: Any, random: Random
) -> Any:
    """Return a position after random plies that the engine scores within +-LOPSIDED."""
    while True:
        position = rules.start(random.getrandbits(32))
        for _ in range(random.randint(*training.OPENING)):
            if position.over:
                break
            position = position.play(random.choice(position.legal()))
        if not position.over and abs(engine.choose(position, limits).score) <= training.LOPSIDED:
            return position


def one_game(
    training: Training,
    engine: ForgetfulSearcher,
    limits: Limits,
    position: Any,
    pass_move: tuple[int, ...],
    random: Random,
    share: float,
) -> list[bytes]:
    """Return the samples of a game from a position, then its off-path samples.

    Forced passes and solved positions give no samples: their values are known without a network. A
    game ends when it is solved, or when one side has been beyond WON for LASTING plies.
    """
    samples: list[SearchedPosition] = []
    off_path: list[SearchedPosition] = []
    leads: deque[int] = deque(maxlen=LASTING)  # of the last plies: the sign, 0 within +-WON
    while True:
        if position.over:
            scores = position.scores()
            ahead, flags = (scores[0] or 0) - (scores[1] or 0), PLAYED
            break
        search = engine.choose(position, limits)
        sign = 1 if (search.score > 0) == (position.to_move == 0) else -1  # the first seat's
        if abs(search.score) >= training.SOLVED:
            ahead, flags = sign, PLAYED
            break
        if search.move != pass_move:
            samples.append((position, search.score))
            if random.random() < share:
                off_path += off_path_sample(training, engine, limits, position, pass_move, random)
        leads.append(sign if abs(search.score) >= training.WON else 0)
        if abs(sum(leads)) == LASTING:
            ahead, flags = sign, 0
            break
        position = position.play(search.move)
    won = (ahead > 0) - (ahead < 0)
    parts = [
        packed(training, sample, won if sample[0].to_move == 0 else -won, flags | FIRST * (n == 0))
        for n, sample in enumerate(samples)
    ]
    return parts + [packed(training, sample, 0, FIRST | OFF_PATH) for sample in off_path]


def off_path_sample(
    training: Training,
    engine: ForgetfulSearcher,
    limits: Limits,
    position: Any,
    pass_move: tuple[int, ...],
    random: Random,
) -> list[SearchedPosition]:
    """Return the off-path sample one or two random plies from here.

    Returns [] for a forced pass, a solved position or the end of the game.
    """
    for _ in range(random.randint(1, 2)):
        position = position.play(random.choice(position.legal()))
        if position.over:
            return []
    search = engine.choose(position, limits)
    if search.move == pass_move or abs(search.score) >= training.SOLVED:
        return []
    return [(position, search.score)]


def packed(training: Training, sample: SearchedPosition, result: int, flags: int) -> bytes:
    """Return a sample in the format of `quartet.training.samples`.

    The result is for its side to move.
    """
    position, score = sample
    score = max(-MAX_SCORE, min(MAX_SCORE, score))
    return training.encode(position) + TAIL.pack(score, position.ply, result, flags)
