"""Commands survive system failures: a full disk, a read-only folder, a clock that is set back,
truncated records."""

from __future__ import annotations

import subprocess
import sys
import time
from random import Random
from typing import TYPE_CHECKING

import msgspec
import pytest

from quartet.arena import records
from quartet.arena.config import GameUnit, PlayerConfig, RunConfig
from quartet.arena.unit import play
from tests.games import RANDOM_CASES
from tests.long import kill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of files are for POSIX")

GAMES = 8
FULL = (
    "import resource, runpy, sys; size = int(sys.argv[1]); del sys.argv[1];"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)); sys.argv[0] = 'quartet';"
    "runpy.run_module('quartet', run_name='__main__')"
)
"""A program that runs `quartet` with a limit on the size of files, as on a full disk."""


def quartet(*words: str, cwd: Path, size: int | None = None) -> subprocess.CompletedProcess[str]:
    start = ["-m", "quartet"] if size is None else ["-c", FULL, str(size)]
    return subprocess.run(
        [sys.executable, *start, *words],
        cwd=cwd,
        env=kill.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def complains(done: subprocess.CompletedProcess[str]) -> None:
    """Assert that it failed with the reason in its last line."""
    assert done.returncode not in {0, -11}, done.stdout
    assert "Traceback" not in done.stderr, done.stderr
    assert done.stderr.splitlines()[-1].startswith("quartet: cannot"), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("what", ["tournament", "tune", "selfplay", "train", "review"])
def test_the_disk_is_full(what: str, tmp_path: Path) -> None:
    """Check that the command prints a message, and resumes when there is room."""
    task, size = kill.TASKS[what], 64 if what == "selfplay" else GAMES
    words = task.words("ataxx", size)
    if before := task.prepare("ataxx", size):
        kill.complete(before, tmp_path)
    whole, filled = tmp_path / "whole", tmp_path / "filled"
    for folder in (whole, filled):
        folder.mkdir()
    kill.complete(words, whole)
    for room in (0, 1500):
        complains(quartet(*words, cwd=filled, size=room))
    kill.complete(words, filled)
    assert task.outcome(filled) == task.outcome(whole)


@pytest.mark.parametrize("out", ["/proc/quartet", "/dev/null/quartet"])
def test_a_read_only_folder(out: str, tmp_path: Path) -> None:
    words = kill.tournament("ataxx", GAMES)
    done = quartet(*words[:-1], out, cwd=tmp_path)
    complains(done)
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("words", [("games",), ("perft", "ataxx", "1"), ("--help",)])
def test_a_full_output(words: tuple[str, ...], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "quartet", *words]
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=kill.environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    complains(done)


def unit(number: int) -> GameUnit:
    players = (PlayerConfig("a", "greedy"), PlayerConfig("b", "random"))
    config = RunConfig(game="ataxx", players=players, in_process=True)
    return config.unit(number, number, (0, 1), number)


def test_truncated_records(tmp_path: Path) -> None:
    """Check that complete lines remain and other games are played again."""
    played = [play(unit(number)) for number in range(6)]
    plan: dict[str, object] = {"kind": "test"}
    with records.Records(tmp_path, plan) as kept:
        for one in played:
            kept.add(one)
    data = (tmp_path / "games.jsonl").read_bytes()
    random = Random(1)
    for _ in range(max(20, RANDOM_CASES // 500)):
        cut = random.randrange(len(data) + 1)
        (tmp_path / "games.jsonl").write_bytes(data[:cut])
        with records.Records(tmp_path, plan) as kept:
            there = data[:cut].count(b"\n")
            assert sorted(kept.done) == list(range(there))
            for one in played:
                kept.add(one)
        assert (tmp_path / "games.jsonl").read_bytes() == data
        assert [r.number for r in records.read(tmp_path)[1]] == list(range(6))


def test_the_clock_is_set_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that only dates come from the wall clock."""
    wall = iter(range(10**9, 0, -1000))
    usual = play(unit(3))
    monkeypatch.setattr(time, "time", lambda: float(next(wall)))
    again = play(unit(3))
    assert again.result.seconds >= 0
    assert kill.essence(again.result) == kill.essence(usual.result)
    assert all(use.seconds >= 0 for use in again.result.use)
    assert msgspec.json.decode(msgspec.json.encode(again.result))
