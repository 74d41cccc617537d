"""Self-play for the networks: games of the engine against itself, and its search of every
position, as samples.

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

from core.errors import QuartetError
from core.limits import Limits
from core.nn.contract import ASIDE, FIRST
from core.rules import places, shares
from ugolki import players
from ugolki.engine import Engine
from ugolki.geometry import PIECES, SEATS, SIZE
from ugolki.protocol import MOVES, PASS
from ugolki.rules import Position

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


def play_games(games: range, seed: int, nodes: int, player: str) -> list[bytes]:
    """The samples of the games with these numbers, of a run with this seed, at so many iterations a
    move, by the engine with these options; pure. Raises QuartetError for other players."""
    engine = players.player(player)
    if not isinstance(engine, Engine):
        raise QuartetError(f"{player!r} is no engine, and gives no samples")
    return [
        sample
        for number in games
        for sample in one_game(engine, Limits(nodes=nodes), Random(f"{seed} {number}"))
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


def one_game(engine: Engine, limits: Limits, random: Random) -> list[bytes]:
    """The samples of a game, then those beside its path. Positions with one move or none give
    none."""
    position = opening(random)
    careless = [random.choice(CARELESS) for _ in range(SEATS)]
    path: list[tuple[Position, tuple[float, ...], list[tuple[tuple[int, ...], int]]]] = []
    beside: list[bytes] = []
    while not position.over:
        if position.legal() == [PASS]:
            position = position.play(PASS)
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
