"""The pool of Ugolki's players plays legally, within limits and reproducibly. Training and tuning
reject its test set."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from random import Random

import numpy as np
import pytest

from core.errors import QuartetError, RuleError, UnknownNameError
from core.limits import Limits
from core.native.clock import now
from quartet import registry
from ugolki.frozen.pool.engine import Player
from ugolki.frozen.pool.players import HALVES, NAMES, ROWS, Row, kinds
from ugolki.frozen.pool.players import player as pool_player
from ugolki.players import player
from ugolki.rules import Position
from ugolki.train import triples

NODES = 300
CHOICES = "4dfa5ddf"
"""Checksum of all players' choices at NODES nodes; it differs if a player has changed."""


def positions() -> list[Position]:
    """Return positions of random games from all phases, some with empty seats or few rounds
    left."""
    found = []
    for seed in range(6):
        random = Random(seed)
        position = Position.start(seed, moves=50 if seed % 2 else 12)
        if seed > 2:
            gone = random.sample(range(1, 5), seed - 2)
            cells = [0 if cell in gone else cell for cell in position.cells]
            position = Position.from_cells(cells, seed, position.moves)
        searcher = player("greedy", seed)
        while not position.over:
            if position.pseudolegal() and random.random() < 0.15:
                found.append(position)
            move = random.choice(position.legal())
            if seed % 3 and position.pseudolegal() and random.random() < 0.8:
                move = searcher.choose(position, Limits()).move
            position = position.play(move)
        if position.pseudolegal():
            found.append(position)  # as if the judge played the round out
    return found


POSITIONS = positions()


def blocked() -> Position:
    """Return a position in which seat 0 has two moves, into its square and out of it, and seat 1
    none."""
    cells = [0] * 100
    for column, row in ((9, 9), (8, 9), (9, 8), (7, 9), (9, 7), (8, 8)):
        cells[row * 10 + column] = 1
    for column, row in ((0, 0),):
        cells[row * 10 + column] = 2
    for column, row in ((1, 0), (0, 1), (2, 0), (0, 2), (1, 1)):
        cells[row * 10 + column] = 3
    return Position.from_cells(cells, 1)


@pytest.mark.parametrize("name", NAMES)
def test_their_moves_are_legal(name: str) -> None:
    searcher = player(name, 1)
    for position in POSITIONS:
        info = searcher.choose(position, Limits(nodes=NODES))
        assert info.move in position.pseudolegal()
        assert info.pv == (info.move,)
    with pytest.raises(RuleError, match="no piece can move"):
        searcher.choose(blocked(), Limits(nodes=NODES))


def test_they_are_deterministic() -> None:
    said = []
    for name in NAMES:
        first = [player(name, 7).choose(one, Limits(nodes=NODES)) for one in POSITIONS[::5]]
        searcher = player(name, 7)  # one for all positions: it has no state
        again = [searcher.choose(one, Limits(nodes=NODES)) for one in POSITIONS[::5]]
        assert [one.move for one in first] == [one.move for one in again], name
        said.append([(one.move, one.score, one.nodes) for one in first])
    assert hashlib.sha256(repr(said).encode()).hexdigest()[:8] == CHOICES


def test_seeds_change_only_the_noise() -> None:
    for name, row in zip(NAMES, ROWS, strict=True):
        moves = {
            tuple(
                player(name, seed).choose(one, Limits(nodes=NODES)).move for one in POSITIONS[:12]
            )
            for seed in range(8)
        }
        if row.search != "tree":  # a tree search has a seed for its playouts
            assert (len(moves) > 1) == (row.noise > 0), name


def test_they_use_their_part_of_the_time() -> None:
    position = Position.start()
    for name, row in zip(NAMES, ROWS, strict=True):
        searcher = player(name)
        searcher.choose(position, Limits(nodes=1))  # allocates all memory
        started = now()
        searcher.choose(position, Limits(deadline=started + 0.1))
        assert now() - started < 0.1 * row.part + 0.2, name


def test_the_two_sets_are_alike() -> None:
    assert len(ROWS) >= 24
    assert len(ROWS) % 2 == 0
    assert len(set(ROWS)) == len(ROWS)
    assert sorted(HALVES["odd"] + HALVES["even"]) == sorted(NAMES)
    assert all(int(name[5:]) % 2 for name in HALVES["odd"])
    for search in {row.search for row in ROWS}:
        numbers = [sum(row.search == search for row in ROWS[first::2]) for first in (0, 1)]
        assert numbers[0] == numbers[1], search
    assert {row.evaluation for row in ROWS} >= {"penalty", "steps", "triples", "solo"}
    assert kinds("pool:9") == {"search": "best reply", "evaluation": "triples"}
    assert kinds("brs:5") == {}


@pytest.mark.parametrize("name", ["pool:", "pool:0", f"pool:{len(ROWS) + 1}", "pool:x", "pool:01"])
def test_invalid_names_are_rejected(name: str) -> None:
    with pytest.raises(UnknownNameError, match="no built-in player"):
        player(name)


def test_training_rejects_the_test_set() -> None:
    assert registry.is_held_out("ugolki", "pool:2")
    for game, name in (("ugolki", "pool:1"), ("ugolki", "bot"), ("ataxx", "pool:2")):
        assert not registry.is_held_out(game, name)
    registry.require_training("ugolki", ["pool:1", "bot", "./mine.exe"])
    with pytest.raises(QuartetError, match=r"^pool:4 is in the test set: nothing is trained"):
        registry.require_training("ugolki", ["pool:1", "pool:4"])
    done = subprocess.run(
        [sys.executable, "-m", "quartet", "sprt", "ugolki", "bot", "pool:6"],
        capture_output=True,
        text=True,
        check=False,
        cwd=registry.ROOT,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("quartet: pool:6 is in the test set: nothing is trained or")
    assert done.stderr.count("\n") == 1


def test_cost_approximates_the_number_of_moves() -> None:
    """Find the solo distance of the start, 19 moves, by a one-ply search with the table of triples,
    on every seat."""
    cells = Position.start().cells
    for seat in range(4):
        alone = [label if label == seat + 1 else 0 for label in cells]
        searcher = pool_player("pool:17", 1)
        assert searcher is not None
        position = Position.from_cells(alone, seat)
        moves = 0
        while not position.over:
            if position.to_move == seat:
                position = position.play(searcher.choose(position, Limits(nodes=2000)).move)
                moves += 1
            else:
                position = position.lose_turn()
        assert 19 <= moves <= 22


def test_rows_are_plain_numbers() -> None:
    """Copy a row: it defines its player completely, so the copy makes the same moves."""
    row = Row("best reply", triples=16, width=12, plies=4)
    for position in POSITIONS[:6]:
        found = {Player(row).choose(position, Limits()).move for _ in range(2)}
        assert len(found) == 1


def test_triples_of_a_placement() -> None:
    """Check that the fit recovers given weights, and distributes cells and pairs over the
    triples."""
    random = np.random.default_rng(1)
    placements = np.sort(
        np.array([random.choice(30, 6, replace=False) for _ in range(4000)], np.uint8), 1
    )
    # weights that are equal in both views, as in the fit
    values = random.random(100)
    values = values + values.reshape(10, 10).T.ravel()
    moves = values[placements].sum(1)
    weights = triples.quantised(triples.fitted(placements, moves, 60))
    assert weights.shape == (triples.TRIPLES,)
    assert np.abs(triples.estimates(weights, placements) - moves).mean() < 0.1
