"""A clock for a whole game is never spent before its end; a process that plays one move leaves room
for a machine that holds it up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ataxx.engine import Engine
from ataxx.rules import Position
from core.agent import stalls
from core.native import clock
from core.timeman import EXIT_SECONDS, MOST, RESERVE, game_limits, process_limits

if TYPE_CHECKING:
    from pathlib import Path


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


def test_a_process_knows_when_it_was_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was started 90 ms ago, at 999.91: it ends at 1000.31, and is late at 1000.41."""
    monkeypatch.setattr(clock, "now", lambda: 1000.0)
    monkeypatch.setattr(clock, "process_age", lambda: 0.09)
    for stall, left in ((0.0, 0.4), (0.03, 0.4), (0.05, 0.35), (0.1, 0.2), (1.0, -2.5)):
        limits = process_limits(0.4, stall)
        assert limits.deadline == pytest.approx(999.91 + left - EXIT_SECONDS)
        assert limits.late == pytest.approx(999.91 + 0.5 - EXIT_SECONDS)


def test_a_stall_is_remembered_for_some_moves(tmp_path: Path) -> None:
    """And an undisturbed machine has no file."""
    folder = str(tmp_path)
    stalls.keep(folder, stalls.recall(folder), 0.019)
    assert list(tmp_path.iterdir()) == []
    stalls.keep(folder, stalls.recall(folder), 5.0)  # which is cut
    known = []
    while found := stalls.recall(folder):
        known.append(found)
        stalls.keep(folder, found, 0.001)
    assert known == pytest.approx([0.08 * 0.8**k for k in range(7)], abs=1e-3)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", [b"", b"soon\n", b"nan", b"inf", b"-3", b"\xff\xfe", b"0.0001"])
def test_a_stall_that_is_none(tmp_path: Path, text: bytes) -> None:
    (tmp_path / stalls.FILE).write_bytes(text)
    assert stalls.recall(str(tmp_path)) == 0


def test_stalls_need_no_folder(tmp_path: Path) -> None:
    stalls.keep(str(tmp_path / "nowhere"), 0.5, 0.5)
    assert stalls.recall(str(tmp_path / "nowhere")) == 0
