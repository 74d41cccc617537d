"""The long runs of `quartet.bench`: that they notice what they look for."""

from __future__ import annotations

import sys

import pytest

from core.errors import QuartetError
from quartet import registry
from quartet.bench import differential, soak
from quartet.judge import game as games


@pytest.mark.parametrize("name", registry.GAMES)
def test_random_positions_are_the_same_by_both_rules(name: str) -> None:
    assert differential.run(name, seed=1, most=60, seconds=60)["positions"] == 60
    slow, fast = next(differential.positions(name, 1))
    assert differential.same_leaves(slow, fast) > 0


@pytest.mark.parametrize("name", registry.GAMES)
def test_another_position_is_noticed(name: str) -> None:
    both = differential.positions(name, 1)
    slow, _ = next(both)
    _, fast = next(both)
    with pytest.raises(QuartetError, match="by the reference"):
        differential.compare(slow, fast)


class Blind:
    """A position that has lost a move."""

    def __init__(self, position: games.TablePosition) -> None:
        self._position = position

    def __getattr__(self, name: str) -> object:
        if name == "perft":
            return lambda depth: self._position.perft(depth) - 1
        return getattr(self._position, name)


def test_other_leaves_are_noticed() -> None:
    slow, fast = next(differential.positions("ataxx", 1))
    with pytest.raises(QuartetError, match="perft"):
        differential.same_leaves(slow, Blind(fast))


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors are counted on POSIX")
@pytest.mark.slow
def test_a_game_after_the_other_leaves_nothing() -> None:
    figures = soak.soak("applegame", 2, 20)
    assert figures["games"] == 2
    assert figures["left over"] == 0


def test_what_is_left_over_is_noticed() -> None:
    before = soak.held()
    soak.check("x", before, before, [10.0, 10.0])
    for what in ("processes", "zombies", "threads", "descriptors", "files"):
        with pytest.raises(QuartetError, match=what):
            soak.check("x", before, {**before, what: before[what] + 1}, [10.0])
    with pytest.raises(QuartetError, match=r"has grown from 11.0 to 30.0 MB"):
        soak.check("x", before, before, [10.0, *[11.0] * 8, 30.0])
