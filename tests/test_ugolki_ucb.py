"""The frozen player `ucb` of Ugolki plays legally, within limits, reproducibly and well."""

from __future__ import annotations

from random import Random

import pytest

from core.errors import RuleError, UnknownNameError
from core.limits import Limits
from core.native.clock import now
from quartet import registry
from ugolki.geometry import SEATS
from ugolki.players import player
from ugolki.protocol import PASS
from ugolki.rules import Position


def test_each_bound_ends_the_search() -> None:
    start = Position.start()
    assert player("ucb").choose(start, Limits()).nodes == 10_000
    assert player("ucb").choose(start, Limits(nodes=300)).nodes == 300
    assert player("ucb:700").choose(start, Limits()).nodes == 700
    assert player("ucb:700").choose(start, Limits(nodes=300)).nodes == 300
    assert player("ucb:300").choose(start, Limits(nodes=700)).nodes == 300
    assert player("ucb").choose(start, Limits(deadline=now() - 1)).nodes == 32


def test_time_bounds_the_search() -> None:
    """Search with no time left, and with more and more time: a busy machine may take a short time
    away."""
    start = Position.start()
    assert player("ucb").choose(start, Limits(deadline=now())).nodes <= 32
    assert any(
        player(f"ucb:{ms}ms").choose(start, Limits()).nodes > 32
        and player("ucb").choose(start, Limits(deadline=now() + ms / 1000)).nodes > 32
        for ms in (50, 500, 5000)
    )


@pytest.mark.parametrize(
    "name", ["ucb:", "ucb:0", "ucb:x", "ucb:ms", "ucb:0ms", "uct:9ms", "ucb:٣"]
)
def test_unknown_names(name: str) -> None:
    with pytest.raises(UnknownNameError, match="no built-in player"):
        player(name)


def test_moves_are_legal_and_repeatable() -> None:
    """Test random games with absent seats, few rounds and positions after the end."""
    searcher = player("ucb")
    for seed in range(5):
        random = Random(seed)
        position = Position.start(seed, moves=50 if seed % 2 else 8)
        if seed > 2:
            absent = random.sample(range(1, 5), seed - 2)
            cells = [0 if cell in absent else cell for cell in position.cells]
            position = Position.from_cells(cells, seed, position.moves)
        while True:
            if position.pseudolegal() and random.random() < 0.3:
                info = searcher.choose(position, Limits(nodes=200))
                assert info.move in position.pseudolegal()
                again = player("ucb").choose(position, Limits(nodes=200))
                assert (info.move, info.score) == (again.move, again.score)
            if position.over:
                break
            position = position.play(random.choice(position.legal()))


def test_a_blocked_seat_is_an_error() -> None:
    cells = [0] * 100
    cells[0], cells[1], cells[10], cells[2], cells[20] = 1, 2, 2, 2, 2
    with pytest.raises(RuleError, match="no piece can move"):
        player("ucb").choose(Position.from_cells(cells), Limits(nodes=10))


def test_alone_it_comes_home() -> None:
    cells = [label if label == 1 else 0 for label in Position.start().cells]
    position, moves = Position.from_cells(cells), 0
    while not position.over:
        move: tuple[int, ...] = PASS
        if position.to_move == 0:
            move = player("ucb:2000").choose(position, Limits()).move
            moves += 1
        position = position.play(move) if move != PASS else position.lose_turn()
    assert position.scores()[0] == 0
    assert 19 <= moves <= 23  # 19 is optimal


def test_it_beats_three_best_reply_players() -> None:
    wins = 0
    for seed in range(8):
        position = Position.start(seed, opening=4)
        searchers = [
            player("ucb:3000" if seat == seed % SEATS else "brs:3", seed) for seat in range(SEATS)
        ]
        while not position.over:
            position = position.play(searchers[position.to_move].choose(position, Limits()).move)
        wins += position.scores()[seed % SEATS] == 0
    assert wins >= 4  # fair is 2


def test_it_may_be_tuned_on() -> None:
    registry.require_training("ugolki", ["ucb", "ucb:7000"])
