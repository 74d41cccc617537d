"""Long trials find the errors that they look for."""

from __future__ import annotations

import re
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import psutil
import pytest

from core.errors import QuartetError
from quartet import registry
from tests.long import differential, soak

if TYPE_CHECKING:
    from core.rules import Position


@pytest.mark.parametrize("name", registry.GAMES)
def test_random_positions_are_the_same_by_both_rules(name: str) -> None:
    assert differential.run(name, seed=1, most=60, seconds=60)["positions"] == 60
    slow, fast = next(differential.positions(name, 1))
    assert differential.same_leaves(slow, fast) > 0


@pytest.mark.parametrize("name", registry.GAMES)
def test_a_different_position_is_detected(name: str) -> None:
    both = differential.positions(name, 1)
    slow, _ = next(both)
    _, fast = next(both)
    with pytest.raises(QuartetError, match="by the reference"):
        differential.compare(slow, fast)


class Blind:
    """A position whose perft is too small by one."""

    def __init__(self, position: Position) -> None:
        self._position = position

    def __getattr__(self, name: str) -> object:
        if name == "perft":
            return lambda depth: self._position.perft(depth) - 1
        return getattr(self._position, name)


def test_different_leaves_are_detected() -> None:
    slow, fast = next(differential.positions("ataxx", 1))
    with pytest.raises(QuartetError, match="perft"):
        differential.same_leaves(slow, Blind(fast))


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors are counted on POSIX")
@pytest.mark.slow
def test_successive_games_leave_no_resource() -> None:
    figures = soak.soak("applegame", 2, 20)
    assert figures["games"] == 2
    assert figures["left over"] == 0


def test_leftover_resources_are_detected() -> None:
    before = soak.held()
    soak.check("x", before, before, [10.0, 10.0])
    for what in ("processes", "zombies", "threads", "descriptors", "files"):
        with pytest.raises(QuartetError, match=what):
            soak.check("x", before, {**before, what: before[what] + 1}, [10.0])
    with pytest.raises(QuartetError, match=r"has grown from 11.0 to 30.0 MB"):
        soak.check("x", before, before, [10.0, *[11.0] * 8, 30.0])


def test_a_forfeit_is_a_finding_with_the_load(monkeypatch: pytest.MonkeyPatch) -> None:
    result = SimpleNamespace(
        plies=9,
        forfeits=[SimpleNamespace(reason="too late")],
        use=[SimpleNamespace(seconds=2.4)] * 2,
    )
    monkeypatch.setattr(soak, "play", lambda _: SimpleNamespace(result=result))
    before = psutil.Process().children()
    with soak.trial("ugolki", soak.BUSY)() as attempt:
        assert len({*psutil.Process().children()} - {*before}) == 2
        count, finding = attempt(0)
    assert count == 9
    assert re.fullmatch(r"1 of 9 turns forfeited at a load of \d+\.\d: too late", finding)
    assert soak.CLOCKS.count(result) == 5  # type: ignore[arg-type]


def test_each_player_of_a_short_game_has_one_second() -> None:
    unit = soak.ONE_SECOND.unit("ataxx", 3)
    assert [player.ms for player in unit.players] == [1000, 1000]
    assert not unit.config.in_process
