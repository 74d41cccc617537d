"""Self-play for the networks: games of the engine against itself, and its search of every position,
as samples; and games of other programs, and what they played.

`quartet selfplay ugolki` calls it (`core.nn.contract.OwnSamples`), `python -m ugolki.train` learns
from what it keeps. A sample is RECORD, all numbers little-endian:

    ply, last_ply   uint8 each: where the game stood, and where it is stopped
    flags           uint8, FIRST: this is its game's first; ASIDE: the position is not of a game,
                    random plies led there from one
    moves           uint8, how many of the moves below there are
    pieces          24 times uint8: the cells, 10 * row + column, six for each seat; NOWHERE for a
                    seat that does not play
    shares          4 times uint16, of 65535: every seat's share of the win, as the search saw it
    result          4 times uint8, twelfths: every seat's share of the win in the end; 0 where ASIDE
    visits          20 times three uint8: from, to, and its share of the visits, of 255, of the
                    moves that were tried most
"""

from __future__ import annotations

import struct
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from core.engine import FORGET, can
from core.errors import QuartetError
from core.limits import Limits
from core.nn.contract import ASIDE, FIRST
from core.rules import places, shares
from ugolki import players
from ugolki.engine import Engine
from ugolki.frozen.pool.players import HALVES
from ugolki.geometry import PIECES, SEATS, SIZE
from ugolki.protocol import MOVES, PASS
from ugolki.rules import Position

if TYPE_CHECKING:
    from core.engine import Searcher

RECORD = struct.Struct("<4B24B4H4B60B")
MOST_MOVES = 20
NOWHERE = 255
OPENING = 8
"""Random plies before a game, at most."""
ASIDE_SHARE = 0.25
"""For how many of a game's positions one more is searched that one to three random plies lead
to."""
CARELESS = (0.0, 0.0, 0.05, 0.15)
"""Shares of the moves that are not the best one but any that was tried, as often as it was tried;
one of them for each seat of a game."""
MISSING = 0.1
"""Of the games are between three, or two."""
OPPONENTS = "opponents"
"""Instead of a player: any four of FIELD play, and the samples are for the opponents' network."""
FIELD = (*HALVES["odd"], "greedy", "brs:4", "beam:30", "beam:100", "uct:300", "bot2611")
"""Who plays then."""
EFFORTS = (0.25, 0.75, 1.5)
"""Of the nodes; one of them for each such game."""
RANDOM_MOVES = 0.03
"""Of the moves of such a game."""
MIXED = "mixed"
"""Instead of a player: the engine sits with some of FIELD, and the samples are of its moves."""
OUTSIDERS = 0.5
"""Of the seats at such a table, on average."""


def play_games(games: range, seed: int, nodes: int, player: str) -> list[bytes]:
    """The samples of the games with these numbers, of a run with this seed, at so many iterations a
    move, by the engine with these options, or by OPPONENTS, or MIXED; pure. Raises QuartetError for
    other players."""
    if player == OPPONENTS:
        seated = Seated(seed)
        return [
            sample
            for number in games
            for sample in others_game(seated, nodes, Random(f"{seed} {number}"))
        ]
    engine = players.player("bot:model=off" if player == MIXED else player)
    if not isinstance(engine, Engine):
        raise QuartetError(f"{player!r} is no engine, and gives no samples")
    found: list[bytes] = []
    seated = Seated(seed)
    for number in games:
        random = Random(f"{seed} {number}")
        others = seated.some(nodes, random) if player == MIXED else {}
        found += one_game(engine, Limits(nodes=nodes), random, others)
    return found


class Seated:
    """Players by name and seat, each made once."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._made: dict[tuple[str, int], Searcher[Position]] = {}

    def at(self, name: str, seat: int) -> Searcher[Position]:
        """The player, for a new game."""
        if (name, seat) not in self._made:
            self._made[name, seat] = players.player(name, self._seed + seat)
        found = self._made[name, seat]
        if can(found, FORGET):
            found.forget()
        return found

    def some(self, nodes: int, random: Random) -> dict[int, Outsider]:
        """Players of FIELD on some seats, for a new game."""
        own = Limits(nodes=round(nodes * random.choice(EFFORTS)))
        return {
            seat: Outsider(self.at(random.choice(FIELD), seat), own)
            for seat in range(SEATS)
            if random.random() < OUTSIDERS
        }


class Outsider(NamedTuple):
    """Who sits with the engine, and how long it thinks of a move."""

    player: Searcher[Position]
    limits: Limits


def others_game(seated: Seated, nodes: int, random: Random) -> list[bytes]:
    """The samples of a game of four of FIELD: of each position where there was a choice the move
    that was made, as all visits; nothing is said of the seats' shares. Some moves are random, and
    no samples."""
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
    """A position after some random plies; some games are stopped early, some lack a seat or two."""
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
    """The samples of a game, then those beside its path; of the moves of others, who play on these
    seats, none. Positions with one move or none give none."""
    position = opening(random)
    careless = [random.choice(CARELESS) for _ in range(SEATS)]
    path: list[tuple[Position, tuple[float, ...], list[tuple[tuple[int, ...], int]]]] = []
    beside: list[bytes] = []
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
            if random.random() < ASIDE_SHARE:
                beside += aside(engine, limits, position, random)
        position = position.play(move)
    result = tuple(shares(places(position.scores(), lower_wins=True)))
    parts = [
        packed(*searched, result, FIRST * (number == 0)) for number, searched in enumerate(path)
    ]
    return parts + beside


def aside(engine: Engine, limits: Limits, position: Position, random: Random) -> list[bytes]:
    """The sample one to three random plies from here, or none where the game is over."""
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
    return [packed(position, expected, visits, (0, 0, 0, 0), FIRST | ASIDE)]


def packed(
    position: Position,
    expected: tuple[float, ...],
    visits: list[tuple[tuple[int, ...], int]],
    result: tuple[float, ...],
    flags: int,
) -> bytes:
    """A sample as it is kept."""
    cells = position.cells
    pieces: list[int] = []
    for seat in range(1, SEATS + 1):
        own = [cell for cell, label in enumerate(cells) if label == seat]
        pieces += own or [NOWHERE] * PIECES
    total = sum(count for _, count in visits)
    kept = visits[:MOST_MOVES]
    moves: list[int] = []
    for (column, row, to_column, to_row), count in kept:
        moves += [row * SIZE + column, to_row * SIZE + to_column, round(255 * count / total)]
    moves += [0] * (3 * MOST_MOVES - len(moves))
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
