"""The multi-player tree search against plain Python that looks at every leaf: a toy game, compiled
here with the kernel in it."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from statistics import mean
from typing import TYPE_CHECKING, Any

import pytest

from tests.games import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PLAYERS, MOVES, PLIES = 3, (1, 2, 3), 4
SEEDS = range(1, 61)
MARGIN = 0.05
"""Shares of the win that 200,000 iterations tell apart; moves that look bad at first are tried
seldom, so smaller gaps take many more."""
BUILD = """
import sys
from Cython.Build import cythonize
from setuptools import Extension, setup
root, folder = sys.argv.pop(1), sys.argv.pop(1)
flags = [] if sys.platform == "win32" else ["-O1", "-ffp-contract=off"]
toy = Extension("shuffled", [folder + "/shuffled.pyx"], include_dirs=[root], extra_compile_args=flags)
setup(name="toy", ext_modules=cythonize([toy], include_path=[root], quiet=True))
"""


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder: Path = tmp_path_factory.mktemp("maxn")
    (folder / "shuffled.pyx").write_bytes((ROOT / "tests" / "maxn" / "shuffled.pyx").read_bytes())
    command = [
        sys.executable,
        "-c",
        BUILD,
        str(ROOT),
        str(folder),
        "--quiet",
        "build_ext",
        "--inplace",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = (path for path in folder.glob("shuffled*") if path.suffix in {".so", ".pyd"})
    spec = importlib.util.spec_from_file_location("shuffled", built)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lines(
    toy: Any, path: int, margin: float, ply: int = 0, stuck: int = -1
) -> dict[tuple[float, ...], int]:
    """How the game may end, shares -> first move of the line, when every seat takes the most for
    itself, or within `margin` of it.

    With margin 0 that is max^n (Luckhart and Irani 1986), one line, for leaves never tie. A
    sampling search cannot tell moves apart that are nearly equal for their mover, though to the
    others they may make all the difference.
    """
    if ply == PLIES:
        return {toy.leaf(path): 0}
    seat = ply % PLAYERS
    moves = (0,) if seat == stuck else MOVES
    after = {move: lines(toy, path << 2 | move, margin, ply + 1, stuck) for move in moves}
    sure = max(min(shares[seat] for shares in ends) for ends in after.values())
    return {
        shares: move
        for move, ends in after.items()
        for shares in ends
        if shares[seat] >= sure - margin
    }


def worth(toy: Any, path: int) -> dict[int, float]:
    """Root move -> what max^n gives the first player after it."""
    return {move: next(iter(lines(toy, path << 2 | move, 0, 1)))[0] for move in MOVES}


def regret(toy: Any, iterations: int) -> float:
    """By how much the choices fall short of the best ones, over all seeds."""
    values = {seed: worth(toy, seed) for seed in SEEDS}
    return sum(
        max(values[seed].values()) - values[seed][toy.search(seed, iterations)[0]] for seed in SEEDS
    )


def test_it_finds_the_moves_of_max_n(toy: Any) -> None:
    told = 0
    for seed in SEEDS:
        good = set(lines(toy, seed, MARGIN).values())
        assert toy.search(seed, 200_000)[0] in good
        told += len(good) < len(MOVES)
    assert told >= len(SEEDS) // 2, "where every move is good, nothing was tested"


def test_its_value_comes_near_that_of_max_n(toy: Any) -> None:
    for seed in SEEDS:
        own = [shares[0] for shares in lines(toy, seed, MARGIN)]
        assert min(own) - MARGIN <= toy.search(seed, 200_000)[1] <= max(own) + MARGIN


def test_others_may_have_priors_of_their_own(toy: Any) -> None:
    """Where these leave them one branch, the game is that of the first player, whose own priors
    leave it all."""
    for seed in SEEDS:
        shares = {
            move: max(toy.leaf(seed << 8 | move << 6 | 1 << 4 | 1 << 2 | last)[0] for last in MOVES)
            for move in MOVES
        }
        move, share, *_ = toy.search(seed, 20_000, others_led=True)
        assert shares[move] >= max(shares.values()) - MARGIN
        assert share == pytest.approx(shares[move], abs=MARGIN)


def test_who_is_predicted_plays_as_predicted(toy: Any) -> None:
    for seed in SEEDS:
        shares = {
            move: max(toy.leaf(seed << 8 | move << 6 | 3 << 4 | 3 << 2 | last)[0] for last in MOVES)
            for move in MOVES
        }
        move, share, *_ = toy.search(seed, 200_000, predicted=3, confidence=(0, 1, 1))
        assert shares[move] >= max(shares.values()) - MARGIN
        assert share == pytest.approx(shares[move], abs=MARGIN)


def test_half_the_confidence_is_half_of_the_visits(toy: Any) -> None:
    unpredicted = [toy.search(seed, 2_000)[4][2] for seed in SEEDS]
    assert sum(visits < 900 for visits in unpredicted) > len(SEEDS) / 3
    assert all(
        toy.search(seed, 2_000, predicted=3, confidence=(0.5, 0, 0))[4][2] >= 999 for seed in SEEDS
    )


def test_all_that_is_predicted_is_as_likely(toy: Any) -> None:
    for seed in SEEDS:
        replies = [second << 4 | third << 2 for second in (2, 3) for third in (2, 3)]
        shares = {
            move: mean(
                max(toy.leaf(seed << 8 | move << 6 | reply | last)[0] for last in MOVES)
                for reply in replies
            )
            for move in MOVES
        }
        move, share, *_ = toy.search(seed, 200_000, predicted=0, confidence=(0, 1, 1))
        assert shares[move] >= max(shares.values()) - MARGIN
        assert share == pytest.approx(shares[move], abs=MARGIN)


def test_later_levels_replace_the_first(toy: Any) -> None:
    for seed in SEEDS:
        first, second, third = toy.search(seed, 10_000, predicted=1, confidence=(1, 0, 0))[4]
        assert 120 <= first <= 128
        assert 1920 <= second <= 1928
        assert 7952 <= third <= 7960


def test_more_iterations_are_better(toy: Any) -> None:
    assert regret(toy, 10) > 2 * regret(toy, 10_000)


def test_a_seat_that_is_stuck_passes(toy: Any) -> None:
    for seed in SEEDS:
        move, share, *_ = toy.search(seed, 200_000, stuck=1)
        ends = lines(toy, seed, MARGIN, stuck=1)
        assert move in ends.values()
        assert min(ends)[0] - MARGIN <= share <= max(ends)[0] + MARGIN
    assert toy.search(1, 50, stuck=0)[4] == [50], "the root passes too"


def test_the_limits_hold(toy: Any) -> None:
    assert toy.search(1, 500)[2] == 500
    late = toy.search(1, 500, deadline=1e-9)
    assert late[2] == 16, "the clock is looked at every sixteenth time"
    assert toy.search(1, 500, deadline=1e-9, confidence=(1, 1, 1)) == late, (
        "there is no time to predict anything"
    )


def test_a_full_tree_goes_on_searching(toy: Any) -> None:
    _, _, done, nodes, visits = toy.search(1, 5000, max_nodes=20)
    assert (done, nodes) == (5000, 20)
    assert sum(visits) == 5000


THREADS = 4


def test_threads_share_the_iterations_and_lose_none(toy: Any) -> None:
    """However they come in each other's way, everything adds up, and the moves are good."""
    for seed in SEEDS:
        move, done, nodes, faults = toy.search_together(seed, 20_000, THREADS)
        assert (done, faults) == (20_000, [])
        assert move in set(lines(toy, seed, 2 * MARGIN).values())
        assert nodes <= 1 + 3 + 9 + 27
    assert toy.search_together(1, 7, THREADS)[1] == 7


def test_threads_agree_on_what_they_predict(toy: Any) -> None:
    for seed in SEEDS:
        move, done, _, faults = toy.search_together(seed, 20_000, THREADS, confidence=1.0)
        assert (done, faults) == (20_000, [])
        assert move in MOVES


def test_a_full_tree_holds_several_threads(toy: Any) -> None:
    for max_nodes in (1, 2, 20):
        _, done, nodes, faults = toy.search_together(1, 20_000, THREADS, max_nodes=max_nodes)
        assert (done, faults) == (20_000, [])
        assert nodes < max_nodes + THREADS


def test_a_search_that_was_held_up_leaves_more_room(toy: Any) -> None:
    """The clock is looked at every 16 iterations and goes on by a millisecond then: to the deadline
    at 390 ms, unless the longest stall, three times over, would lead beyond 490 ms."""
    for held_up, ended in ((0.001, 390), (0.030, 390), (0.050, 340), (0.100, 190)):
        done, stall = toy.search_late(10**6, 0.3895, 0.4895, held_up, 20)
        assert stall == pytest.approx(held_up)
        assert done == 16 * (ended - round(1000 * held_up) + 1)
    # at the last moment: nothing is left to be saved
    assert toy.search_late(10**6, 0.3895, 0.4895, 0.5, 300)[0] == 16 * 300
    # nobody said when it is too late
    assert toy.search_late(10**6, 0.3895, 0, 0.1, 20)[0] == 16 * (390 - 99)
