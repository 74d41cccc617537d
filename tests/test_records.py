"""The folder of a run: what is there survives everything, what is there in part is not there."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import msgspec
import pytest

from core.errors import QuartetError, TextError
from quartet.arena.records import Records, log_name
from quartet.arena.unit import GameResult, Played, Use

PLAN: dict[str, object] = {"kind": "tournament", "game": "fake", "seed": 1}
NAMES = ["a", "b"]


def played(number: int) -> Played:
    use = (Use(turns=3, seconds=0.5, nodes=7, lost={"late": 2}), Use())
    result = GameResult(
        number, number // 2, (0, 1), 5, 12, (3, None), (1, None), (1.0, 0.0), use, 0.25
    )
    return Played(result, f"log {number}\n".encode())


def fill(folder: Path, numbers: range = range(4)) -> None:
    with Records(folder, PLAN, NAMES) as records:
        for number in numbers:
            records.add(played(number))


def index(
    folder: Path, query: str = "SELECT number FROM games ORDER BY number"
) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(folder / "index.sqlite")
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def numbers(folder: Path) -> list[int]:
    return [
        msgspec.json.decode(line, type=GameResult).number
        for line in (folder / "games.jsonl").read_bytes().splitlines()
    ]


def test_a_game_leaves_its_log_its_line_and_its_rows(tmp_path: Path) -> None:
    fill(tmp_path)
    assert numbers(tmp_path) == [0, 1, 2, 3]
    assert (tmp_path / log_name(3)).read_bytes() == b"log 3\n"
    assert index(tmp_path) == [(0,), (1,), (2,), (3,)]
    seats = index(
        tmp_path,
        "SELECT seat, player, name, score, place, share, turns, seconds, nodes, lost FROM seats "
        "WHERE number = 2",
    )
    assert seats == [
        (0, 0, "a", 3, 1, 1.0, 3, 0.5, 7, 2),
        (1, 1, "b", None, None, 0.0, 0, 0.0, 0, 0),
    ]
    with Records(tmp_path, PLAN, NAMES) as records:
        assert records.done == {number: played(number).result for number in range(4)}


def test_a_game_counts_once(tmp_path: Path) -> None:
    fill(tmp_path)
    fill(tmp_path)
    assert numbers(tmp_path) == [0, 1, 2, 3]


def test_every_cut_of_the_file_is_a_run_that_goes_on(tmp_path: Path) -> None:
    """SIGKILL may leave any beginning of the file; the games whose lines are whole are there, and
    all are in the end."""
    fill(tmp_path)
    data = (tmp_path / "games.jsonl").read_bytes()
    for size in range(0, len(data) + 1, 37):
        (tmp_path / "games.jsonl").write_bytes(data[:size])
        with Records(tmp_path, PLAN, NAMES) as records:
            there = data[:size].count(b"\n")
            assert list(records.done) == list(range(there))
            assert index(tmp_path) == [(number,) for number in range(there)]
            for number in range(4):
                records.add(played(number))
        assert (tmp_path / "games.jsonl").read_bytes() == data


def test_the_index_is_made_anew(tmp_path: Path) -> None:
    fill(tmp_path)
    for spoil in (b"", b"no database at all, but long enough to be one" * 100):
        (tmp_path / "index.sqlite").write_bytes(spoil)
        fill(tmp_path, range(0))
        assert index(tmp_path) == [(0,), (1,), (2,), (3,)]
    (tmp_path / "index.sqlite").unlink()
    fill(tmp_path, range(0))
    assert len(index(tmp_path, "SELECT * FROM seats")) == 8


def test_a_folder_is_for_one_run(tmp_path: Path) -> None:
    fill(tmp_path)
    with pytest.raises(QuartetError, match=r"holds another run \(not the same: seed\)"):
        Records(tmp_path, {**PLAN, "seed": 2}, NAMES)
    with (
        Records(tmp_path, PLAN, NAMES),
        pytest.raises(QuartetError, match="another process plays the run"),
    ):
        Records(tmp_path, PLAN, NAMES)


def test_damage_is_told_not_guessed(tmp_path: Path) -> None:
    fill(tmp_path)
    path = tmp_path / "games.jsonl"
    good = path.read_bytes()
    path.write_bytes(good + good.splitlines(keepends=True)[0])
    with pytest.raises(TextError, match="line 5: game 0 is there twice"):
        Records(tmp_path, PLAN, NAMES)
    path.write_bytes(b"nonsense\n" + good)
    with pytest.raises(TextError, match="line 1"):
        Records(tmp_path, PLAN, NAMES)
    path.write_bytes(good)
    (tmp_path / "run.json").write_bytes(b"{")
    with pytest.raises(QuartetError, match="no plan of a run"):
        Records(tmp_path, PLAN, NAMES)


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(QuartetError, match="cannot keep records in"):
        Records(tmp_path / "file", PLAN, NAMES)
