"""The pool's table of triples: what each three cells of a placement bring to its exact number of
moves home, by least squares. For `python -m ugolki.train triples`."""

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
"""The unit of the weights."""
PLAYERS = ("greedy", "beam:10", "brs:2", "uct:50", "random")
"""Who plays the games that placements are taken from, frozen ones all."""
RANDOM = 0.1
"""Of the moves of a game are random ones."""
DAMP = 1.0
"""Of the least squares: triples that are rare stay small, and pairs and cells speak for them."""
WEIGHTS = (0.3, 0.6, 1.0)
"""Of cells, pairs and triples, as inputs: the greater, the less damped."""


def placements_of(games: int, seed: int, progress: Callable[[], None]) -> NDArray[np.uint8]:
    """Placements of six pieces that a move of a game leads to, or would, in the owner's view, cells
    in ascending order, each once."""
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
    """The exact number of moves of each, from the table of `learning.solo_table`."""
    numbers = np.empty(len(placements), np.uint32)
    features.numbers_of(placements, numbers)
    return table[numbers].astype(np.float64)


def mirrored(placements: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The placements with columns and rows exchanged: they are as far from home."""
    other = placements % SIZE * SIZE + placements // SIZE
    other.sort(1)
    return other


def inputs_of(placements: NDArray[np.uint8]) -> csr_matrix:
    """A row for each placement: its cells, pairs and triples."""
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
    """Binomial coefficients, k up to 3."""
    return np.asarray((n, n * (n - 1) // 2, n * (n - 1) * (n - 2) // 6)[k - 1])


def fitted(
    placements: NDArray[np.uint8], moves: NDArray[np.float64], iterations: int
) -> NDArray[np.float64]:
    """What each triple brings, in moves: the cells and pairs of the fit are spread over the triples
    that they are part of."""
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
    """In 64ths of a move, as the file has them."""
    return np.clip(np.rint(triples * ONE_MOVE), -127, 127).astype(np.int8)


def estimates(weights: NDArray[np.int8], placements: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The moves home that the weights say of placements."""
    a = placements.astype(np.int64)
    total = np.zeros(len(a))
    for some in combinations(range(PIECES), 3):
        total += weights[sum(choose(a[:, i], k + 1) for k, i in enumerate(some))]
    return total / ONE_MOVE
