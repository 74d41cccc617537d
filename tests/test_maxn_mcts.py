"""The multi-player tree search agrees with an exhaustive search in plain Python. The kernel is
compiled here for a toy game."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.games import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PLAYERS, MOVES, PLIES = 3, (1, 2, 3), 4
SEEDS = range(1, 61)
MARGIN = 0.05
"""Difference of win shares that 200,000 iterations detect. Moves that look bad at first get few
visits, so smaller differences take many more."""
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
    """Return the possible ends of the game, win shares -> first move of the line, if every seat
    takes a move within `margin` of its best.

    Margin 0 is max^n (Luckhart and Irani 1986), with one line, because leaves never tie. A sampling
    search cannot distinguish moves that are nearly equal for the mover. For the other players, they
    may differ widely.
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


def root_values(toy: Any, path: int) -> dict[int, float]:
    """Return the first player's win share by max^n after each root move."""
    return {move: next(iter(lines(toy, path << 2 | move, 0, 1)))[0] for move in MOVES}


def regret(toy: Any, iterations: int) -> float:
    """Return the sum over all seeds of the loss by the chosen move."""
    values = {seed: root_values(toy, seed) for seed in SEEDS}
    return sum(
        max(values[seed].values()) - values[seed][toy.search(seed, iterations)[0]] for seed in SEEDS
    )


def test_it_finds_the_moves_of_max_n(toy: Any) -> None:
    distinguished = 0
    for seed in SEEDS:
        good = set(lines(toy, seed, MARGIN).values())
        assert toy.search(seed, 200_000)[0] in good
        distinguished += len(good) < len(MOVES)
    assert distinguished >= len(SEEDS) // 2, "too many seeds for which every move is good"


def test_its_value_is_close_to_max_n(toy: Any) -> None:
    for seed in SEEDS:
        own = [shares[0] for shares in lines(toy, seed, MARGIN)]
        assert min(own) - MARGIN <= toy.search(seed, 200_000)[1] <= max(own) + MARGIN


def test_other_players_have_separate_priors(toy: Any) -> None:
    """Check that the first player alone determines the result if the others' priors allow one
    branch only."""
    for seed in SEEDS:
        shares = {
            move: max(toy.leaf(seed << 8 | move << 6 | 1 << 4 | 1 << 2 | last)[0] for last in MOVES)
            for move in MOVES
        }
        move, share, *_ = toy.search(seed, 20_000, others_led=True)
        assert shares[move] >= max(shares.values()) - MARGIN
        assert share == pytest.approx(shares[move], abs=MARGIN)


def test_more_iterations_are_better(toy: Any) -> None:
    assert regret(toy, 10) > 2 * regret(toy, 10_000)


def test_a_seat_without_a_legal_move_passes(toy: Any) -> None:
    for seed in SEEDS:
        move, share, *_ = toy.search(seed, 200_000, stuck=1)
        ends = lines(toy, seed, MARGIN, stuck=1)
        assert move in ends.values()
        assert min(ends)[0] - MARGIN <= share <= max(ends)[0] + MARGIN
    assert toy.search(1, 50, stuck=0)[4] == [50], "the root passes too"


def test_the_limits_hold(toy: Any) -> None:
    assert toy.search(1, 500)[2] == 500
    late = toy.search(1, 500, deadline=1e-9)
    assert late[2] == 16, "the search must read the clock every 16 iterations"


def test_a_search_continues_in_a_full_tree(toy: Any) -> None:
    _, _, done, nodes, visits = toy.search(1, 5000, max_nodes=20)
    assert (done, nodes) == (5000, 20)
    assert sum(visits) == 5000


THREADS = 4


def test_threads_share_the_iterations_and_lose_none(toy: Any) -> None:
    """Check that visits and totals add up despite concurrent updates, and that the moves are
    good."""
    for seed in SEEDS:
        move, done, nodes, errors = toy.search_together(seed, 20_000, THREADS)
        assert (done, errors) == (20_000, [])
        assert move in set(lines(toy, seed, 2 * MARGIN).values())
        assert nodes <= 1 + 3 + 9 + 27
    assert toy.search_together(1, 7, THREADS)[1] == 7


def test_threads_overwrite_no_greater_number_of_tried_edges(toy: Any) -> None:
    """Search many small trees: most edges are tried for the first time there."""
    for seed in range(2000):
        assert toy.search_together(seed, 200, THREADS)[3] == []


def test_several_threads_search_a_full_tree(toy: Any) -> None:
    for max_nodes in (1, 2, 20):
        _, done, nodes, errors = toy.search_together(1, 20_000, THREADS, max_nodes=max_nodes)
        assert (done, errors) == (20_000, [])
        assert nodes < max_nodes + THREADS


def test_a_stalled_search_leaves_more_time(toy: Any) -> None:
    """Let each reading advance the clock by 1 ms; the search reads it every 16 iterations.

    The search ends at the deadline, 390 ms, or earlier if three more stalls like the longest would
    end after 490 ms.
    """
    for pause, ended in ((0.001, 390), (0.030, 390), (0.050, 340), (0.100, 190)):
        done, stall = toy.search_late(10**6, 0.3895, 0.4895, pause, 20)
        assert stall == pytest.approx(pause)
        assert done == 16 * (ended - round(1000 * pause) + 1)
    # the stall itself ends too late: the search ends at once
    assert toy.search_late(10**6, 0.3895, 0.4895, 0.5, 300)[0] == 16 * 300
    # without a time at which the move is late, the deadline alone counts
    assert toy.search_late(10**6, 0.3895, 0, 0.1, 20)[0] == 16 * (390 - 99)
