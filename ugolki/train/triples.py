"""The table of triples of the pool's players, for `python -m ugolki.train triples`.

The table estimates the solo distance of a placement as a sum over its triples of cells. Least
squares fit it to the exact distances.
"""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import lsqr

from core.limits import Limits
from ugolki.geometry import PIECES, SEATS, SIZE, seen
from ugolki.players import player
from ugolki.protocol import PASS
from ugolki.rules import Position
from ugolki.train import features

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

CELLS = SIZE * SIZE
TRIPLES = CELLS * (CELLS - 1) * (CELLS - 2) // 6
ONE_MOVE = 64
"""Weight of one move."""
PLAYERS = ("greedy", "beam:10", "brs:2", "uct:50", "random")
"""Players of the games that give placements; all are frozen."""
RANDOM = 0.1
"""Share of random moves in a game."""
DAMP = 1.0
"""Damping of the least squares: it keeps rare triples small, so that pairs and cells decide."""
WEIGHTS = (0.3, 0.6, 1.0)
"""Input values of cells, pairs and triples; damping affects greater ones less."""


def placements_of(games: int, seed: int, progress: Callable[[], None]) -> NDArray[np.uint8]:
    """Return the distinct placements that legal moves in games lead to.

    Args:
        games: Number of games.
        seed: Seed of the games.
        progress: Called after each game.

    Returns:
        Shape (placements, 6): the cells in the owner's view, in ascending order.
    """
    found: set[tuple[int, ...]] = set()
    for game in range(games):
        random = Random(f"{seed} {game}")
        searchers = [player(random.choice(PLAYERS), random.getrandbits(32)) for _ in range(SEATS)]
        position = Position.start(random.getrandbits(32), opening=4)
        while not position.over:
            seat = position.to_move
            cells = position.cells
            own = [
                row * SIZE + column
                for column, row in (
                    seen(seat, i % SIZE, i // SIZE) for i in range(CELLS) if cells[i] == seat + 1
                )
            ]
            moves = position.pseudolegal()
            for move in moves:
                start, end = (
                    row * SIZE + column
                    for column, row in (seen(seat, *move[:2]), seen(seat, *move[2:]))
                )
                found.add(tuple(sorted([end, *(cell for cell in own if cell != start)])))
            if not moves:
                position = position.play(PASS)
            elif random.random() < RANDOM:
                position = position.play(random.choice(moves))
            else:
                position = position.play(searchers[seat].choose(position, Limits(nodes=1000)).move)
        progress()
    return np.array(sorted(found), np.uint8)


def moves_home(table: NDArray[np.uint8], placements: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the exact solo distances of placements, from the table of `learning.solo_table`."""
    numbers = np.empty(len(placements), np.uint32)
    features.numbers_of(placements, numbers)
    return table[numbers].astype(np.float64)


def mirrored(placements: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the placements with columns and rows exchanged; their solo distances are equal."""
    other = placements % SIZE * SIZE + placements // SIZE
    other.sort(1)
    return other


def inputs_of(placements: NDArray[np.uint8]) -> csr_matrix:
    """Return the sparse inputs: a row for each placement, with its cells, pairs and triples."""
    a = placements.astype(np.int64)
    columns, values = [], []
    first = 0
    for size, weight in zip((1, 2, 3), WEIGHTS, strict=True):
        for some in combinations(range(PIECES), size):
            number = sum(choose(a[:, i], k + 1) for k, i in enumerate(some))
            columns.append(first + number)
            values.append(np.full(len(a), weight))
        first += int(choose(np.int64(CELLS), size))
    width = len(columns)
    return csr_matrix(
        (
            np.array(values).T.ravel(),
            np.array(columns).T.ravel(),
            np.arange(0, width * len(a) + 1, width),
        ),
        (len(a), first),
    )


def choose(n: NDArray[np.int64] | np.int64, k: int) -> NDArray[np.int64]:
    """Return binomial coefficients, for k up to 3."""
    return np.asarray((n, n * (n - 1) // 2, n * (n - 1) * (n - 2) // 6)[k - 1])


def fitted(
    placements: NDArray[np.uint8], moves: NDArray[np.float64], iterations: int
) -> NDArray[np.float64]:
    """Fit the table, and return each triple's weight in moves.

    The weight of a cell or a pair is distributed over the triples that contain it.
    """
    both = np.concatenate([placements, mirrored(placements)])
    mean = float(moves.mean())
    found = lsqr(
        inputs_of(both), np.concatenate([moves, moves]) - mean, damp=DAMP, iter_lim=iterations
    )[0]
    cells = found[:CELLS] * WEIGHTS[0]
    pairs = found[CELLS : CELLS + CELLS * (CELLS - 1) // 2] * WEIGHTS[1]
    every = np.array(
        [(a, b, c) for c in range(CELLS) for b in range(c) for a in range(b)], np.int64
    )
    triples = found[-TRIPLES:] * WEIGHTS[2] + mean / 20  # six pieces have 20 triples,
    triples += sum(cells[every[:, i]] for i in range(3)) / 10  # each cell is in 10,
    for i, k in ((0, 1), (0, 2), (1, 2)):  # each pair in 4
        triples += pairs[every[:, i] + choose(every[:, k], 2)] / 4
    return np.asarray(triples)


def quantised(triples: NDArray[np.float64]) -> NDArray[np.int8]:
    """Return the weights as in the file: rounded, ONE_MOVE to a move."""
    return np.clip(np.rint(triples * ONE_MOVE), -127, 127).astype(np.int8)


def estimates(weights: NDArray[np.int8], placements: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the solo distances of placements as the weights estimate them, in moves."""
    a = placements.astype(np.int64)
    total = np.zeros(len(a))
    for some in combinations(range(PIECES), 3):
        total += weights[sum(choose(a[:, i], k + 1) for k, i in enumerate(some))]
    return total / ONE_MOVE
