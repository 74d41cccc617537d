"""In the folder of a run, complete records survive everything, and partial records are
discarded."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path
from typing import NoReturn

import msgspec
import pytest

from core.errors import QuartetError, TextError
from quartet.arena import catalogue, records
from quartet.arena.records import Records, log_name
from quartet.arena.store import ResultStore
from quartet.arena.unit import GameResult, Played, Use

PLAN: dict[str, object] = {"kind": "tournament", "game": "fake", "seed": 1}


def played(number: int) -> Played:
    use = (Use(turns=3, seconds=0.5, nodes=7, lost={"late": 2}), Use())
    result = GameResult(
        number, number // 2, (0, 1), 5, 12, (3, None), (1, None), (1.0, 0.0), use, 0.25
    )
    return Played(result, f"log {number}\n".encode())


def fill(folder: Path, numbers: range = range(4)) -> None:
    with Records(folder, PLAN) as store:
        for number in numbers:
            store.add(played(number))


def numbers(folder: Path) -> list[int]:
    return [
        msgspec.json.decode(line, type=GameResult).number
        for line in (folder / "games.jsonl").read_bytes().splitlines()
    ]


def test_a_game_leaves_its_log_and_its_line(tmp_path: Path) -> None:
    fill(tmp_path)
    assert numbers(tmp_path) == [0, 1, 2, 3]
    assert (tmp_path / log_name(3)).read_bytes() == b"log 3\n"
    with Records(tmp_path, PLAN) as records:
        assert records.done == {number: played(number).result for number in range(4)}


def test_a_game_counts_once(tmp_path: Path) -> None:
    fill(tmp_path)
    fill(tmp_path)
    assert numbers(tmp_path) == [0, 1, 2, 3]
    with Records(tmp_path, PLAN) as records:
        for number in (4, 4, 3):
            records.add(played(number))
        assert list(records.done) == [0, 1, 2, 3, 4]
    assert numbers(tmp_path) == [0, 1, 2, 3, 4]


def test_a_file_cut_anywhere_resumes(tmp_path: Path) -> None:
    """Cut the file anywhere, as SIGKILL may: games with whole lines remain, and the run ends
    complete."""
    fill(tmp_path)
    data = (tmp_path / "games.jsonl").read_bytes()
    for size in range(0, len(data) + 1, 37):
        (tmp_path / "games.jsonl").write_bytes(data[:size])
        with Records(tmp_path, PLAN) as records:
            there = data[:size].count(b"\n")
            assert list(records.done) == list(range(there))
            for number in range(4):
                records.add(played(number))
        assert (tmp_path / "games.jsonl").read_bytes() == data


def test_a_folder_belongs_to_one_run(tmp_path: Path) -> None:
    fill(tmp_path)
    with pytest.raises(QuartetError, match=r"holds another run \(not the same: seed\)"):
        Records(tmp_path, {**PLAN, "seed": 2})
    with pytest.raises(QuartetError, match=r"holds another run \(run\.json\)"):
        ResultStore(tmp_path, PLAN, GameResult)
    assert not (tmp_path / "plan.json").exists()
    with (
        Records(tmp_path, PLAN),
        pytest.raises(QuartetError, match="another process plays the run"),
    ):
        Records(tmp_path, PLAN)


def test_an_error_before_the_first_result_leaves_no_new_folder(tmp_path: Path) -> None:
    def fail_after(number: int, folder: Path) -> None:
        with Records(folder, PLAN) as records:
            for n in range(number):
                records.add(played(n))
            raise QuartetError("of a core")

    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").touch()
    for name, number in (("new", 0), ("half", 1), ("mine", 0)):
        with pytest.raises(QuartetError, match="of a core"):
            fail_after(number, tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["half", "mine"]
    assert (tmp_path / "mine" / "notes.txt").exists()


def test_damaged_records_are_rejected(tmp_path: Path) -> None:
    fill(tmp_path)
    path = tmp_path / "games.jsonl"
    good = path.read_bytes()
    path.write_bytes(good + good.splitlines(keepends=True)[0])
    with pytest.raises(TextError, match="has unit 0 twice"):
        Records(tmp_path, PLAN)
    path.write_bytes(b"nonsense\n" + good)
    with pytest.raises(TextError, match="line 1"):
        Records(tmp_path, PLAN)
    path.write_bytes(good)
    (tmp_path / "run.json").write_bytes(b"{")
    with pytest.raises(TextError, match="cannot be read"):
        Records(tmp_path, PLAN)


@pytest.mark.parametrize("players", [3, None])
def test_players_that_are_no_list_are_rejected(players: object, tmp_path: Path) -> None:
    fill(tmp_path)
    plan = json.loads((tmp_path / "run.json").read_bytes())
    (tmp_path / "run.json").write_text(json.dumps(plan | {"players": players}))
    with pytest.raises(TextError, match="the players of the run are not a list"):
        records.read(tmp_path)


def test_a_folder_that_may_not_be_read_is_no_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fill(tmp_path)
    assert catalogue.is_run(tmp_path)

    def denied(*_: object, **__: object) -> NoReturn:
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", denied)
        assert not catalogue.is_run(tmp_path)
    shutil.rmtree(tmp_path)
    assert catalogue.last_change(tmp_path) == 0


def test_a_folder_that_cannot_be_written_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(QuartetError, match="cannot keep results in"):
        Records(tmp_path / "file", PLAN)
