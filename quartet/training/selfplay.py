"""Self-play: games of a game's engine against itself from random openings, as samples for training.
Runs on any Executor."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple, cast

import msgspec

from core.errors import QuartetError
from core.limits import Limits
from core.nn.contract import ASIDE, FIRST, PLAYED, ForgetfulSearcher, OwnSamples, Training
from quartet import registry
from quartet.arena.cores import pin
from quartet.training.samples import TAIL, Batch

GAMES = 32
"""Of a unit: half a second's work and more, at a thousand nodes a move."""
PLAYER = "bot"
"""Who plays itself."""
LASTING = 4
"""Plies in a row for which a score beyond WON must last; both sides have then seen it twice."""
MOST_SCORE = 32_000


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """Some games: everything that their samples depend on.

    Attributes:
        number: of the unit, from 0; it plays the games from number * games on.
        seed: of the whole run; each game has its own from it. nodes: of every search.
        player: who plays itself, a built-in player with or without options.
    """

    number: int
    game: str
    seed: int
    games: int
    nodes: int
    player: str = PLAYER

    def require_same(self, result: Batch) -> None:
        """Raise QuartetError where a batch that was recorded is not of this unit."""
        if (self.seed, self.games, self.nodes) != (result.seed, result.games, result.nodes):
            raise QuartetError(
                f"unit {self.number} in the folder is not the one of this run; choose another "
                "folder with --out"
            )


class Played(msgspec.Struct, frozen=True):
    """What comes back from a worker."""

    result: Batch
    samples: bytes


class Sample(NamedTuple):
    """A position before anybody knows the result."""

    position: bytes
    seat: int
    score: int
    ply: int


def schedule(game: str, seed: int, games: int, nodes: int, player: str = PLAYER) -> Iterator[Unit]:
    """Units with at least so many games."""
    for number in range(-(-games // GAMES)):
        yield Unit(number=number, game=game, seed=seed, games=GAMES, nodes=nodes, player=player)


def play(unit: Unit, cores: tuple[int, ...] | None = None) -> Played:
    """Play a unit; pure and idempotent. Raises QuartetError where the game has no engine or nothing
    to train."""
    pin(cores)
    module = registry.load(unit.game, "train.selfplay")
    games = range(unit.number * unit.games, (unit.number + 1) * unit.games)
    if hasattr(module, "play_games"):
        own = cast("OwnSamples", module)
        parts = own.play_games(games, unit.seed, unit.nodes, unit.player)
    else:
        parts = play_games(unit, cast("Training", module), games)
    return Played(
        Batch(unit.number, unit.seed, unit.games, unit.nodes, len(parts)), b"".join(parts)
    )


def play_games(unit: Unit, training: Training, games: range) -> list[bytes]:
    """The samples of the games with these numbers, between two."""
    rules = registry.load(unit.game, "rules").Position
    pass_move = registry.load(unit.game, "reference").PASS
    engine = training.engine(unit.player)
    limits = Limits(nodes=unit.nodes)
    parts = []
    for number in games:
        random = Random(f"{unit.seed} {number}")
        engine.forget()
        start = opening(training, engine, limits, rules, random)
        parts += one_game(training, engine, limits, start, pass_move, random)
    return parts


def opening(
    training: Training, engine: ForgetfulSearcher, limits: Limits, rules: Any, random: Random
) -> Any:
    """A position after random plies that neither side has won yet, by the engine's judgement."""
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
) -> list[bytes]:
    """The samples of a game from that position, then those beside its path.

    Forced passes give none, nor do positions that the search has solved: their values are known
    without any network. A solved game is over, and so is one whose score has been beyond WON for
    LASTING plies, for the same side.
    """
    samples: list[Sample] = []
    beside: list[Sample] = []
    leader, lasted = 0, 0
    while True:
        if position.over:
            scores = position.scores()
            ahead, flags = (scores[0] or 0) - (scores[1] or 0), PLAYED
            break
        seat = position.to_move
        found = engine.choose(position, limits)
        sign = 1 if (found.score > 0) == (seat == 0) else -1  # of the first seat's lead
        if abs(found.score) >= training.SOLVED:
            ahead, flags = sign, PLAYED
            break
        if found.move != pass_move:
            samples.append(Sample(training.encode(position), seat, found.score, position.ply))
            if random.random() < training.ASIDE:
                beside += aside(training, engine, limits, position, pass_move, random)
        if abs(found.score) < training.WON:
            leader, lasted = 0, 0
        else:
            lasted = lasted + 1 if leader == sign else 1
            leader = sign
        if lasted == LASTING:
            ahead, flags = sign, 0
            break
        position = position.play(found.move)
    won = (ahead > 0) - (ahead < 0)
    parts = [
        packed(sample, won if sample.seat == 0 else -won, flags | FIRST * (number == 0))
        for number, sample in enumerate(samples)
    ]
    return parts + [packed(sample, 0, FIRST | ASIDE) for sample in beside]


def aside(
    training: Training,
    engine: ForgetfulSearcher,
    limits: Limits,
    position: Any,
    pass_move: tuple[int, ...],
    random: Random,
) -> list[Sample]:
    """The sample one or two random plies from here, or none where it would not be one of a game
    either."""
    for _ in range(random.randint(1, 2)):
        position = position.play(random.choice(position.legal()))
        if position.over:
            return []
    found = engine.choose(position, limits)
    if found.move == pass_move or abs(found.score) >= training.SOLVED:
        return []
    return [Sample(training.encode(position), position.to_move, found.score, position.ply)]


def packed(sample: Sample, result: int, flags: int) -> bytes:
    """A sample as it is kept, see quartet/training/samples.py; the result is for its side to
    move."""
    return sample.position + TAIL.pack(
        max(-MOST_SCORE, min(MOST_SCORE, sample.score)), sample.ply, result, flags
    )
