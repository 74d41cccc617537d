"""Samples of self-play: the search's result for positions of the engine's own games, or the moves
that other players made.

`quartet selfplay ugolki` calls this module (`core.nn.contract.OwnSamples`), and `python -m
ugolki.train` learns from the samples. A sample is a RECORD of little-endian numbers:

    ply, last_ply   uint8 each: plies played, and the ply at which the game is stopped
    flags           uint8: FIRST, the first sample of its game; OFF_PATH, an off-path position, one
                    to three random plies away from a game's
    moves           uint8: number of entries in use of `visits`
    pieces          24 times uint8: six cells for each seat, 10 * row + column; NOWHERE for a seat
                    that does not play
    shares          4 times uint16, of 65535: win share of each seat that the search expects
    result          4 times uint8, twelfths: win share of each seat at the end; 0 if OFF_PATH
    visits          20 times three uint8, the most visited moves: from, to, and the move's share of
                    the visits, of 255
"""

from __future__ import annotations

import struct
from random import Random
from typing import TYPE_CHECKING, Literal, NamedTuple

from core.engine import NEW_GAME, can
from core.errors import QuartetError
from core.limits import Limits
from core.nn.contract import FIRST, OFF_PATH
from core.rules import places, shares
from ugolki import players
from ugolki.engine import Engine
from ugolki.frozen.pool.players import HALVES
from ugolki.geometry import PIECES, SEATS, SIZE
from ugolki.protocol import MOVES, PASS
from ugolki.rules import Position

if TYPE_CHECKING:
    from core.engine import Searcher

OWN_SAMPLES: Literal[True] = True
RECORD = struct.Struct("<4B24B4H4B60B")
SAMPLE_MOVES = 20
NOWHERE = 255
OPENING = 8
"""Highest number of random plies before a game."""
OFF_PATH_SHARE = 0.25
"""Probability that a position of a game adds an off-path position, one to three random plies
away."""
CARELESS = (0.0, 0.0, 0.05, 0.15)
"""Probabilities that a move is drawn by its visits instead of the best; one for each seat of a
game."""
MISSING = 0.1
"""Share of the games between three or two players."""
OPPONENTS = "opponents"
"""In place of a player: four random ones of FIELD play, and the samples are for the opponents'
network."""
FIELD = (*HALVES["odd"], "greedy", "brs:4", "beam:30", "beam:100", "uct:300", "bot2611")
"""The players of these games."""
EFFORTS = (0.25, 0.75, 1.5)
"""Factors of the node limit of these players; one for each game."""
RANDOM_MOVES = 0.03
"""Share of random moves of these players."""
GUMBEL = "gumbel"
"""In place of a player: compiled games with a few iterations per move, see
ugolki/train/gumbel.py."""
MIXED = "mixed"
"""In place of a player: the engine plays with some of FIELD, and the samples are of its moves."""
OUTSIDERS = 0.5
"""Mean share of the seats that FIELD takes in these games."""


def play_games(games: range, seed: int, nodes: int, player: str) -> list[bytes]:
    """Return the samples of some games of a run. The function is pure.

    Args:
        games: Numbers of the games.
        seed: Seed of the run.
        nodes: Iterations per move.
        player: The engine with options, or OPPONENTS, MIXED or GUMBEL.

    Raises:
        QuartetError: The player gives no samples.
    """
    if player.partition(":")[0] == GUMBEL:
        from ugolki.train import gumbel  # noqa: PLC0415  (it imports this module)

        return gumbel.play_games(games, seed, nodes, player)
    if player == OPPONENTS:
        seated = Seated(seed)
        return [
            sample
            for number in games
            for sample in others_game(seated, nodes, Random(f"{seed} {number}"))
        ]
    engine = players.player("bot" if player == MIXED else player)
    if not isinstance(engine, Engine):
        raise QuartetError(f"{player!r} is not an engine and gives no samples")
    found: list[bytes] = []
    seated = Seated(seed)
    for number in games:
        random = Random(f"{seed} {number}")
        others = seated.some(nodes, random) if player == MIXED else {}
        found += one_game(engine, Limits(nodes=nodes), random, others)
    return found


class Seated:
    """Cache of players by name and seat."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._made: dict[tuple[str, int], Searcher[Position]] = {}

    def at(self, name: str, seat: int) -> Searcher[Position]:
        """Return the player, ready for a new game."""
        if (name, seat) not in self._made:
            self._made[name, seat] = players.player(name, self._seed + seat)
        found = self._made[name, seat]
        if can(found, NEW_GAME):
            found.new_game()
        return found

    def some(self, nodes: int, random: Random) -> dict[int, Outsider]:
        """Return random players of FIELD for some seats, ready for a new game."""
        own = Limits(nodes=round(nodes * random.choice(EFFORTS)))
        return {
            seat: Outsider(self.at(random.choice(FIELD), seat), own)
            for seat in range(SEATS)
            if random.random() < OUTSIDERS
        }


class Outsider(NamedTuple):
    """A player that plays with the engine, and the limits of its search."""

    player: Searcher[Position]
    limits: Limits


def others_game(seated: Seated, nodes: int, random: Random) -> list[bytes]:
    """Return the samples of a game between four of FIELD.

    A sample gives all visits to the move played, and equal win shares to all seats. Random moves
    and positions with one move give none.
    """
    names = [random.choice(FIELD) for _ in range(SEATS)]
    own = round(nodes * random.choice(EFFORTS))
    table = [seated.at(name, seat) for seat, name in enumerate(names)]
    position = Position.start(random.getrandbits(32), opening=random.randint(0, OPENING))
    path: list[tuple[Position, tuple[int, ...]]] = []
    while not position.over:
        legal = position.legal()
        if legal == [PASS]:
            position = position.play(PASS)
            continue
        move = tuple(table[position.to_move].choose(position, Limits(nodes=own)).move)
        if random.random() < RANDOM_MOVES:
            move = random.choice(legal)
        elif len(legal) > 1:
            path.append((position, move))
        position = position.play(move)
    result = tuple(shares(places(position.scores(), lower_wins=True)))
    even = (1 / SEATS,) * SEATS
    return [
        packed(position, even, [(move, 1)], result, FIRST * (number == 0))
        for number, (position, move) in enumerate(path)
    ]


def opening(random: Random) -> Position:
    """Return a position after random plies. Some games have fewer moves, some empty seats."""
    moves = MOVES if random.random() < 0.7 else random.randint(16, MOVES)
    position = Position.start(
        random.getrandbits(32), moves=moves, opening=random.randint(0, OPENING)
    )
    if random.random() < MISSING:
        gone = random.sample(range(1, SEATS + 1), random.randint(1, 2))
        position = Position.from_cells(
            [0 if cell in gone else cell for cell in position.cells], position.ply, moves
        )
    return position


def one_game(
    engine: Engine, limits: Limits, random: Random, others: dict[int, Outsider]
) -> list[bytes]:
    """Return the samples of a game, then those of its off-path positions.

    Moves of `others`, by seat, give no samples. Positions with one move or none give none either.
    """
    position = opening(random)
    careless = [random.choice(CARELESS) for _ in range(SEATS)]
    path: list[tuple[Position, tuple[float, ...], list[tuple[tuple[int, ...], int]]]] = []
    off_path: list[bytes] = []
    while not position.over:
        if position.legal() == [PASS]:
            position = position.play(PASS)
            continue
        if position.to_move in others:
            other = others[position.to_move]
            move = other.player.choose(position, other.limits).move
            if random.random() < RANDOM_MOVES:
                move = random.choice(position.legal())
            position = position.play(move)
            continue
        move = engine.choose(position, limits).move
        expected, visits = engine.expectation(), engine.visits()
        if expected is not None and len(visits) > 1:
            path.append((position, expected, visits))
            if random.random() < careless[position.to_move]:
                move = random.choices([one for one, _ in visits], [count for _, count in visits])[0]
            if random.random() < OFF_PATH_SHARE:
                off_path += off_path_sample(engine, limits, position, random)
        position = position.play(move)
    result = tuple(shares(places(position.scores(), lower_wins=True)))
    parts = [
        packed(*searched, result, FIRST * (number == 0)) for number, searched in enumerate(path)
    ]
    return parts + off_path


def off_path_sample(
    engine: Engine, limits: Limits, position: Position, random: Random
) -> list[bytes]:
    """Return the sample one to three random plies away, in a list; [] if the game has ended."""
    for _ in range(random.randint(1, 3)):
        position = position.play(random.choice(position.legal()))
        if position.over:
            return []
    if position.legal() == [PASS]:
        return []
    engine.choose(position, limits)
    expected, visits = engine.expectation(), engine.visits()
    if expected is None or len(visits) < 2:
        return []
    return [packed(position, expected, visits, (0, 0, 0, 0), FIRST | OFF_PATH)]


def packed(
    position: Position,
    expected: tuple[float, ...],
    visits: list[tuple[tuple[int, ...], int]],
    result: tuple[float, ...],
    flags: int,
) -> bytes:
    """Return a sample as a RECORD."""
    cells = position.cells
    pieces: list[int] = []
    for seat in range(1, SEATS + 1):
        own = [cell for cell, label in enumerate(cells) if label == seat]
        pieces += own or [NOWHERE] * PIECES
    total = sum(count for _, count in visits)
    kept = visits[:SAMPLE_MOVES]
    moves: list[int] = []
    for (column, row, to_column, to_row), count in kept:
        moves += [row * SIZE + column, to_row * SIZE + to_column, round(255 * count / total)]
    moves += [0] * (3 * SAMPLE_MOVES - len(moves))
    scaled = [round(65535 * share) for share in expected]
    return RECORD.pack(
        position.ply,
        SEATS * position.moves,
        flags,
        len(kept),
        *pieces,
        *scaled,
        *[round(12 * share) for share in result],
        *moves,
    )
