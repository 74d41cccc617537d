"""A clock for a whole game is never spent before its end."""

from __future__ import annotations

import pytest

from ataxx.engine import Engine
from ataxx.rules import Position
from core.timeman import MOST, RESERVE, game_limits


@pytest.mark.parametrize("clock", [0.0, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("pace", [0.5, 1.0, 3.0, 28.75, 200.0])
def test_the_reserve_is_left_after_the_longest_searches(clock: float, pace: float) -> None:
    left = clock
    for _ in range(200):
        limits = game_limits(100.0, left, pace)
        assert limits.soft is not None
        assert limits.deadline is not None
        assert 100 <= limits.soft <= limits.deadline
        left -= limits.deadline - 100
        assert left >= min(clock, RESERVE) - 1e-9


def test_a_hard_move_gets_more_but_not_the_clock() -> None:
    limits = game_limits(0.0, 10.0, 20.0)
    assert limits.soft is not None
    assert limits.deadline is not None
    assert 2 * limits.soft < limits.deadline <= MOST * 10


def test_ataxx_spends_a_greater_part_of_what_is_left_the_nearer_the_end() -> None:
    engine = Engine(hash=1)
    paces = [
        engine.pace(Position.parse(f"{board} x 0 1"))
        for board in (
            "x5o/7/7/7/7/7/o5x",
            "xxxxxxx/xxxxxxx/7/7/ooooooo/ooooooo/7",
            "xxxxxxx/" * 6 + "oooooo1",
        )
    ]
    assert paces == sorted(paces, reverse=True)
    assert paces[0] > 5 * paces[2] >= 5
