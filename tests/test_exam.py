"""`quartet exam`, the former name of `quartet gauntlet`, schedules and scores games, and resumes
after a kill."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import time
from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from quartet import registry
from quartet.arena import gauntlet, schedule
from quartet.arena.config import GameUnit, PlayerConfig, RunConfig
from quartet.arena.gauntlet import OpponentGroup, OpponentScore
from quartet.arena.unit import GameResult, Use
from tests.commands import quartet, refusal

QUICK = ("--in-process", "--nodes", "20", "--jobs", "1", "--crowded")


def outcome(*arguments: str) -> dict[str, Any]:
    """Return the JSON of `quartet exam` of `greedy`."""
    done = quartet("exam", "ugolki", "--player", "greedy", *QUICK, "--json", *arguments)
    assert done.stderr.startswith("quartet: exam is deprecated")
    assert done.stderr.count("\n") == 1
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def config(players: int) -> RunConfig:
    return RunConfig(
        game="ugolki",
        players=tuple(PlayerConfig(str(number), "greedy") for number in range(players)),
        seed=5,
    )


def units(halves: list[OpponentGroup], players: int = 20) -> list[GameUnit]:
    found = [unit for unit in gauntlet.schedule(config(players), halves) if unit is not None]
    assert [unit.number for unit in found] == list(range(gauntlet.total(halves)))
    return found


def won(unit: GameUnit, shares: tuple[float, ...]) -> GameResult:
    return GameResult(
        number=unit.number,
        block=unit.block,
        seats=unit.seats,
        seed=unit.seed,
        plies=1,
        scores=(0, 0, 0, 0),
        places=(1, 1, 1, 1),
        shares=shares,
        use=(Use(),) * 4,
        seconds=1.0,
    )


def test_a_block_has_every_seat_and_every_order() -> None:
    found = units([OpponentGroup("odd", [(0, 3, 1, 7), (0, 2, 4, 6)])])
    for block, table in enumerate([(0, 3, 1, 7), (0, 2, 4, 6)]):
        games = [unit for unit in found if unit.block == block]
        assert sorted(unit.seats for unit in games) == sorted(permutations(table))
        # games with one opening rotate the seats
        openings = Counter(unit.seed for unit in games)
        assert set(openings.values()) == {4}
        for seed in openings:
            seatings = [unit.seats for unit in games if unit.seed == seed]
            assert all({seating[seat] for seating in seatings} == set(table) for seat in range(4))
    assert len({unit.seed for unit in found}) == 12


def test_tables_with_repeated_players_have_fewer_orders() -> None:
    assert schedule.size((0, 1, 2, 3)) == 24
    assert schedule.size((0, 1, 1, 2)) == 12
    assert schedule.size((0, 1, 1, 1)) == 4
    found = units([OpponentGroup("table", [(0, 1, 1, 2)] * 2)])
    for block in range(2):
        seatings = [unit.seats for unit in found if unit.block == block]
        assert len(set(seatings)) == len(seatings) == 12


def test_groups_alternate_with_the_same_openings() -> None:
    halves = [OpponentGroup("odd", [(0, 1, 2, 3)] * 3), OpponentGroup("even", [(0, 4, 5, 6)] * 3)]
    found = units(halves)
    assert [name for name, _ in gauntlet.blocks_of(halves)] == ["odd", "even"] * 3
    seeds = [[unit.seed for unit in found if unit.block % 2 == half] for half in range(2)]
    assert seeds[0] == seeds[1]


def test_all_opponents_are_drawn_equally_often() -> None:
    players = list(range(1, 14))
    tables = gauntlet.draw_tables(players, 4, 40, "1 odd")
    assert all(len({0, *table}) == 4 and table[0] == 0 for table in tables)
    drawn = Counter(player for table in tables for player in table[1:])
    assert set(drawn) == set(players)
    assert max(drawn.values()) - min(drawn.values()) <= 1
    assert tables == gauntlet.draw_tables(players, 4, 40, "1 odd")
    assert tables[:5] == gauntlet.draw_tables(players, 4, 5, "1 odd"), (
        "more games begin with the same"
    )
    assert tables != gauntlet.draw_tables(players, 4, 40, "2 odd")


def test_scores_are_of_the_measured_player() -> None:
    halves = [OpponentGroup("odd", [(0, 1, 2, 3)]), OpponentGroup("even", [(0, 4, 5, 6)])]
    results = []
    for unit in units(halves):
        # player 0 wins all games of the first group, player 4 those of the second
        winner = 0 if unit.block == 0 else 4
        results.append(won(unit, tuple(float(player == winner) for player in unit.seats)))
    lines = gauntlet.by_group(results, halves)
    assert (lines["odd"].share, lines["odd"].games, lines["odd"].theirs) == (1, 24, 0)
    assert lines["even"].share == 0
    assert lines["even"].theirs == pytest.approx(1 / 3)
    assert math.isnan(lines["odd"].error)
    opponents = gauntlet.by_opponent(results, 8)
    assert sorted(opponents) == [1, 2, 3, 4, 5, 6]
    assert (opponents[1].share, opponents[4].share, opponents[4].theirs) == (1, 0, 1)
    kinds = gauntlet.by_kind(results, {1: "tree", 4: "tree", 5: "beam", 6: "beam"})
    assert (kinds["tree"].share, kinds["tree"].theirs, kinds["tree"].games) == (0.5, 0.5, 48)
    assert kinds["tree"].error == pytest.approx(0.5)
    assert (kinds["beam"].share, kinds["beam"].theirs, kinds["beam"].games) == (0, 0, 24)
    assert math.isnan(OpponentScore().share)


def test_both_sets_of_the_pool(tmp_path: Path) -> None:
    found = outcome("--half", "both", "--games", "20", "--out", str(tmp_path))
    assert found["games"] == 48
    assert {name: line["games"] for name, line in found["halves"].items()} == {
        "odd": 24,
        "even": 24,
    }
    numbers = sorted(int(name.removeprefix("pool:")) % 2 for name in found["opponents"])
    assert numbers == [0, 0, 0, 1, 1, 1]
    assert set(found["kinds"]) == {"search", "evaluation"}
    again = outcome("--half", "both", "--games", "20", "--out", str(tmp_path))
    assert again["halves"] == found["halves"]
    text = quartet(
        *("exam", "ugolki", "--player", "greedy", *QUICK),
        *("--half", "both", "--games", "20", "--out", str(tmp_path)),
    ).stdout
    assert "ugolki, gauntlet of greedy: 48 games, seed 1" in text
    assert "by search" in text
    state = "finished; 48 of 48 games on record\n"
    assert quartet("runs", str(tmp_path)).stdout == text + state
    assert quartet("runs", str(tmp_path), "--games").stdout.endswith("48 of 48 games\n")
    assert " odd " in quartet("runs", str(tmp_path.parent)).stdout.replace("\n", " ")
    plan = json.loads((tmp_path / "run.json").read_text())
    for tables in (plan["tables"][:1], plan["tables"][:-1]):
        (tmp_path / "run.json").write_text(json.dumps({**plan, "tables": tables}))
        complaint = f"{tmp_path}: the games on record are not those of the plan"
        assert refusal("runs", str(tmp_path)) == complaint


def test_a_fixed_table_is_played(tmp_path: Path) -> None:
    found = outcome("--against", "greedy,random,random", "--games", "12", "--out", str(tmp_path))
    assert found["games"] == 12
    assert set(found["opponents"]) == {"greedy", "random"}
    assert found["opponents"]["random"]["theirs"] == 0
    assert found["halves"]["table"]["share"] + found["opponents"]["greedy"]["theirs"] == (
        pytest.approx(1)
    )


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_it_resumes_after_a_kill(tmp_path: Path) -> None:
    arguments = ["--against", "greedy,random,random", "--games", "60"]
    whole = outcome(*arguments, "--out", str(tmp_path / "whole"))
    folder = tmp_path / "killed"
    command = ["exam", "ugolki", "--player", "greedy", *QUICK, *arguments, "--out", str(folder)]
    running = subprocess.Popen(
        [sys.executable, "-m", "quartet", *command], cwd=registry.ROOT, stdout=subprocess.DEVNULL
    )
    games = folder / "games.jsonl"
    deadline = time.monotonic() + 120
    while not (games.exists() and games.read_bytes().count(b"\n") >= 5):
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.wait()
    before = games.read_bytes()
    before = before[: before.rfind(b"\n") + 1]
    assert before.count(b"\n") < 60
    found = outcome(*arguments, "--out", str(folder))
    assert games.read_bytes().startswith(before), "nothing is played twice"
    assert found["halves"] == whole["halves"]
    assert found["opponents"] == whole["opponents"]


BAD = [
    ((), "pass one of --pool (or --half) and --against"),
    (("--half", "odd", "--against", "bot"), "pass one of --pool (or --half) and --against"),
    (("--against", "bot,bot"), "a table takes 3 opponents, separated by commas"),
    (("--against", "bot,bot,unknown"), "'unknown' is neither a program nor a built-in player"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD)
def test_bad_input(arguments: tuple[str, ...], words: str) -> None:
    done = quartet("exam", "ugolki", *QUICK, *arguments, code=2)
    deprecation, error = done.stderr.splitlines()
    assert deprecation.startswith("quartet: exam is deprecated")
    assert error.startswith(f"quartet: {words}")


def test_games_without_a_pool() -> None:
    said = refusal("gauntlet", "ataxx", "--pool", "train")
    assert said.startswith("ataxx has no pool of opponents")
