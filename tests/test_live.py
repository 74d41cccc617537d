"""Running games of a run write their turns to live/N.jsonl, for others to read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from core.errors import QuartetError
from quartet import registry
from quartet.arena.config import GameUnit, PlayerConfig, RunConfig
from quartet.arena.records import Records, live_name, read
from quartet.arena.unit import play
from quartet.judge import game as games
from quartet.judge.logs.check import check
from quartet.judge.logs.jsonl import read_log
from quartet.judge.logs.replays import ABORTED

ROOT = Path(__file__).parent.parent
ENOUGH = 60.0


def unit_of(name: str, folder: Path, *, in_process: bool = True) -> GameUnit:
    """Return a short game that is written to a live file."""
    seats = games.load(name).info.players
    options: dict[str, bool | int] = (
        {"moves": 2} if "moves" in games.load(name).info.options else {}
    )
    config = RunConfig(
        game=name,
        players=(PlayerConfig("greedy", "greedy"), PlayerConfig("random", "random")),
        seed=5,
        options=options,
        in_process=in_process,
    )
    unit = config.unit(3, 0, (0, 1, 1, 1)[:seats], 0)
    return msgspec.structs.replace(unit, live=str(folder / "live.jsonl"))


@pytest.mark.parametrize("name", registry.GAMES)
@pytest.mark.parametrize("in_process", [True, False], ids=["in process", "programs"])
def test_the_live_file_is_a_valid_log(name: str, in_process: bool, tmp_path: Path) -> None:
    """Cut the file anywhere: it can be read and agrees with the game."""
    unit = unit_of(name, tmp_path, in_process=in_process)
    played = play(unit)
    data = (tmp_path / "live.jsonl").read_bytes()
    game = games.load(name)
    whole = check(game, data)
    assert whole.complaint is None
    assert whole.notes == []
    assert whole.positions[-1].scores() == played.result.scores
    assert len(whole.turns) == sum(use.turns for use in played.result.use)
    judges = check(game, played.log)
    assert judges.complaint is None
    assert [turn.move for turn in judges.turns] == [turn.move for turn in whole.turns]
    header = data.index(b"\n") + 1
    for end in range(header, len(data) - 1, max(1, len(data) // 40)):
        cut = check(game, data[:end])
        assert cut.complaint is None
        assert len(cut.turns) >= data[:end].count(b"\n") - 1
        assert ABORTED in cut.notes[-1]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
@pytest.mark.parametrize("name", ["applegame", "ugolki"])
def test_turns_are_written_during_the_game(name: str, tmp_path: Path) -> None:
    """Let one player wait for a file; in some games the other one moves first."""
    go_on = tmp_path / "go on"
    wait = f"while [ ! -e '{go_on}' ]; do sleep 0.05; done; "
    slow = f"{wait}exec {sys.executable} -m {registry.GAMES[name]} --player greedy"
    if name == "applegame":
        slow = f"echo OK; {wait}echo -1 -1 -1 -1; {wait}echo -1 -1 -1 -1; exec cat > /dev/null"
    out = tmp_path / "out"
    arguments = ["--player", "a=greedy", "--player", f"b={slow}", "--clock", "60000"]
    arguments += ["--games", "1", "--jobs", "4", "--oversubscribe", "--out", str(out)]
    arguments += ["--option", "moves=1"] if name == "ugolki" else []
    arguments += ["--pairing", "gauntlet"]
    run = subprocess.Popen(
        [sys.executable, "-m", "quartet", "tournament", name, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        live, turns = out / "live", 0
        give_up = time.monotonic() + ENOUGH
        while not turns:
            assert time.monotonic() < give_up
            assert run.poll() is None
            time.sleep(0.05)
            for file in live.glob("*.jsonl"):
                data = file.read_bytes()
                if data.count(b"\n") < 2:
                    continue
                checked = check(games.load(name), data)
                assert checked.complaint is None
                assert ABORTED in checked.notes[-1]
                assert read_log(data).result is None
                turns = len(checked.turns)
                assert file == out / live_name(int(file.stem))
                assert not read(out)[1] or int(file.stem) not in {
                    result.number for result in read(out)[1]
                }
        go_on.touch()
        assert run.wait(ENOUGH) == 0
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGINT)
            run.wait(ENOUGH)
    assert list(live.iterdir()) == []
    assert len(read(out)[1]) == len(list((out / "games").glob("*.log")))


def test_a_live_file_is_deleted_when_its_game_is_recorded(tmp_path: Path) -> None:
    plan: dict[str, object] = {"game": "ataxx"}
    with Records(tmp_path, plan) as records:
        unit = unit_of("ataxx", tmp_path)
        unit = msgspec.structs.replace(unit, live=records.live(unit))
        played = play(unit)
        live = tmp_path / "live" / "000003.jsonl"
        assert unit.live == str(live)
        assert live.exists()
        records.add(played)
        assert not live.exists()
        live.write_text("of a game that was aborted")
    with Records(tmp_path, plan) as records:
        assert not live.exists()
        assert list(records.done) == [3]


def test_a_live_file_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    unit = unit_of("ataxx", tmp_path / "missing")
    with pytest.raises(QuartetError, match="cannot write the log"):
        play(unit)
