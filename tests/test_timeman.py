"""Time management keeps the clock of a game to its end, and a process that plays one move allows
for stalls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ataxx.engine import Engine
from ataxx.rules import Position
from core.agent import stalls
from core.native import clock
from core.timeman import (
    EXIT_SECONDS,
    MAX_FRACTION,
    MAX_OVERHEAD,
    RESERVE,
    Overhead,
    game_limits,
    process_limits,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("clock", [0.0, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("moves_to_go", [0.5, 1.0, 3.0, 28.75, 200.0])
def test_the_reserve_remains_after_the_longest_searches(clock: float, moves_to_go: float) -> None:
    left = clock
    for _ in range(200):
        limits = game_limits(100.0, left, moves_to_go)
        assert limits.soft is not None
        assert limits.deadline is not None
        assert 100 <= limits.soft <= limits.deadline
        left -= limits.deadline - 100
        assert left >= min(clock, RESERVE) - 1e-9


@pytest.mark.parametrize("lost", [0.0, 0.003, 0.012])
def test_a_clock_lasts_on_a_busy_machine(lost: float) -> None:
    """Play 55 moves with a second in which each move loses some milliseconds to other programs."""
    left, overhead = 1.0, Overhead()
    for move in range(55):
        overhead.asked(left)
        soft = game_limits(0.0, left, max(3, 30 - move), overhead.seconds).soft
        assert soft is not None
        overhead.searched(soft)
        left -= soft + lost
    assert left > 0.1


def test_one_long_stall_is_no_overhead() -> None:
    overhead = Overhead()
    for left in (10.0, 9.0, 5.0):
        overhead.asked(left)
        overhead.searched(1.0)
    assert overhead.seconds == pytest.approx(MAX_OVERHEAD / 2)
    overhead.new_game()
    overhead.asked(10.0)
    assert overhead.seconds == pytest.approx(MAX_OVERHEAD / 2)


def test_a_hard_move_gets_a_bounded_share_of_the_clock() -> None:
    limits = game_limits(0.0, 10.0, 20.0)
    assert limits.soft is not None
    assert limits.deadline is not None
    assert 2 * limits.soft < limits.deadline <= MAX_FRACTION * 10


def test_ataxx_spends_more_of_its_clock_near_the_end() -> None:
    engine = Engine(hash=1)
    paces = [
        engine.moves_to_go(Position.parse(f"{board} x 0 1"))
        for board in (
            "x5o/7/7/7/7/7/o5x",
            "xxxxxxx/xxxxxxx/7/7/ooooooo/ooooooo/7",
            "xxxxxxx/" * 6 + "oooooo1",
        )
    ]
    assert paces == sorted(paces, reverse=True)
    assert paces[0] > 5 * paces[2] >= 5


def test_the_deadline_counts_from_the_process_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start it 90 ms ago, at 999.91: it ends at 1000.31, and is late at 1000.41."""
    monkeypatch.setattr(clock, "now", lambda: 1000.0)
    monkeypatch.setattr(clock, "process_age", lambda: 0.09)
    for stall, left in ((0.0, 0.4), (0.03, 0.4), (0.05, 0.35), (0.1, 0.2), (1.0, -2.5)):
        limits = process_limits(0.4, stall)
        assert limits.deadline == pytest.approx(999.91 + left - EXIT_SECONDS)
        assert limits.late == pytest.approx(999.91 + 0.5 - EXIT_SECONDS)
    assert process_limits(0.4).deadline == process_limits(0.4, 0.0).deadline


def test_a_stall_is_remembered_for_some_moves(tmp_path: Path) -> None:
    """Check that an undisturbed machine has no file."""
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
def test_an_invalid_stall_is_ignored(tmp_path: Path, text: bytes) -> None:
    (tmp_path / stalls.FILE).write_bytes(text)
    assert stalls.recall(str(tmp_path)) == 0


def test_stalls_work_without_a_folder(tmp_path: Path) -> None:
    stalls.keep(str(tmp_path / "nowhere"), 0.5, 0.5)
    assert stalls.recall(str(tmp_path / "nowhere")) == 0
