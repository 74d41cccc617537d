"""`quartet analyse` prints reports of a running engine, also after an interruption, and works with
players that print none."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from core.background import BackgroundSearch
from core.engine import CANDIDATES, MULTIPV, STOP, can, score_unit
from core.errors import RuleError
from core.limits import Limits, SearchInfo
from core.rules import Move, Position
from quartet import registry
from quartet.cli import analyse
from tests.commands import quartet, refusal
from tests.games import GameUnderTest

ROOT = Path(__file__).parent.parent


def test_a_game_with_an_empty_seat(tmp_path: Path) -> None:
    """The move is one of the player to move, on the board that is shown."""
    log = tmp_path / "game.jsonl"
    players = ("greedy", "none", "greedy", "none")
    quartet("match", "ugolki", *players, "--seed", "3", "--moves", "3", "-s", "--log", str(log))
    look = ("analyse", str(log), "--at", "2", "--nodes", "300")
    found = json.loads(quartet(*look, "--json").stdout)
    assert found["seat"] == 2
    assert tuple(found["move"][:2]) in {(8, 6), (7, 7), (8, 7), (6, 8), (7, 8), (8, 8)}
    assert found["best"] == " ".join(map(str, found["move"]))


def test_reports_of_an_engine(whole_game: GameUnderTest) -> None:
    data = json.loads(quartet("analyse", whole_game.name, "--nodes", "3000", "--json").stdout)
    start = whole_game.reference.start()
    assert data["position"] == start.text()
    assert tuple(data["move"]) in start.legal()
    assert data["lines"]
    assert data["line"][0] == data["best"]
    assert [line["nodes"] for line in data["lines"]] == sorted(
        line["nodes"] for line in data["lines"]
    )
    assert not data["interrupted"]
    said = quartet("analyse", whole_game.name, "--nodes", "3000").stdout.splitlines()
    assert said[-1].startswith(f"best: {data['best']} ")
    shown = said[said.index(analyse.HEAD) + 1 : -1]
    table = next((at for at, row in enumerate(shown) if row.startswith("move ")), len(shown))
    rows = shown[:table]
    assert len(shown[table + 1 :]) == len(data["candidates"])
    assert len(rows) >= len(data["lines"])
    assert all(int(row.split()[0]) > 0 for row in rows)


def test_a_position_and_a_player_can_be_chosen(game: GameUnderTest) -> None:
    name = next(name for name in game.player_names if name != "bot")
    start = game.fast.start()
    position = game.fast.parse(start.play(start.legal()[0]).text())
    given = ("--position", position.text(), "--player", name, "--nodes", "50")
    data = json.loads(quartet("analyse", game.name, *given, "--json").stdout)
    assert tuple(data["move"]) in position.legal()
    assert data["seat"] == position.to_move


def test_a_game_without_an_engine_gives_one_line() -> None:
    for name in registry.GAMES:
        if not registry.has(name, "engine"):
            assert refusal("analyse", name) == f"{name} has no engine yet"


def test_a_finished_game_is_rejected() -> None:
    given = ("--player", "greedy", "--position", "xxxxxxx/7/7/7/7/7/7 o 0 9")
    assert refusal("analyse", "ataxx", *given) == "the game is over in this position"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_an_interruption_prints_the_result_so_far(whole_game: GameUnderTest) -> None:
    command = [
        sys.executable,
        "-m",
        "quartet",
        "analyse",
        whole_game.name,
        "--nodes",
        str(1 << 40),
        "--depth",
        "90",
    ]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        rows: list[str] = []
        for line in process.stdout:
            if rows or line.startswith(analyse.HEAD):
                rows.append(line)
            if len(rows) > 1:
                break
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
    many = 1_000_000
    start = whole_game.fast.start()
    if whole_game.engine().choose(start, Limits(nodes=many, depth=90)).nodes < many:
        # a small game: its search ends at once, and the signal may arrive at any later time
        assert process.returncode in {0, 130}, errors
        return
    assert (process.returncode, errors) == (0, "quartet: interrupted\n")
    assert rest.splitlines()[-1].startswith("best: ")


class Weigher:
    """An engine that searches until it is stopped, and rates two moves."""

    CAPABILITIES = frozenset({STOP, CANDIDATES})

    def __init__(self, *, patient: bool = True) -> None:
        self.enough = threading.Event()
        self.patient = patient

    def stop(self) -> None:
        self.enough.set()

    def choose(self, position: Position, limits: Limits, report: Any = None) -> SearchInfo:  # noqa: ARG002
        first, second = position.legal()[:2]
        report(SearchInfo(first, 5, 1, 10, 0.5, (first,)))
        if self.patient:
            self.enough.wait()
        return SearchInfo(second, 7, 2, 20, 1.0, (second,))

    def candidates(self) -> list[dict[str, object]]:
        return [
            {"move": (0, 0, 0, 5), "visits": 12, "share": 0.25},
            {"move": (-1, -1, -1, -1), "visits": 3},
        ]


def test_a_search_can_be_stopped() -> None:
    position = registry.load("applegame", "reference").Position.start()
    thinking = BackgroundSearch(Weigher(), position, Limits())
    assert not thinking.wait(0.01)
    thinking.stop()
    assert thinking.wait(0)
    assert thinking.latest is not None
    assert (thinking.latest.score, thinking.outcome().score) == (5, 7)


def test_an_error_of_a_search_reaches_the_caller() -> None:
    class Failing:
        def choose(self, position: Position, limits: Limits) -> SearchInfo:  # noqa: ARG002
            raise RuleError("no move")

    thinking = BackgroundSearch(Failing(), None, Limits())
    with pytest.raises(RuleError, match="no move"):
        thinking.outcome()


def test_candidates_are_shown_as_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that the moves of an engine that rates every move are listed."""
    monkeypatch.setattr(analyse, "_player", lambda *_: Weigher(patient=False))
    text = CliRunner().invoke(analyse.command, ["applegame"]).output
    assert text.splitlines()[-4].split() == ["move", "visits", "share"]
    assert text.splitlines()[-3].split() == ["0", "0", "0", "5", "12", "0.250"]
    data = json.loads(CliRunner().invoke(analyse.command, ["applegame", "--json"]).output)
    assert [row["visits"] for row in data["candidates"]] == [12, 3]
    moves: list[Move] = [tuple(map(int, row["move"].split())) for row in data["candidates"]]
    assert moves == [(0, 0, 0, 5), (-1, -1, -1, -1)]


def test_the_best_lines_are_shown(whole_game: GameUnderTest) -> None:
    if not can(whole_game.engine(), MULTIPV):
        said = refusal("analyse", whole_game.name, "--lines", "2")
        assert said == "this player shows only one line: omit --lines"
        return
    data = json.loads(
        quartet("analyse", whole_game.name, "--nodes", "3000", "--lines", "3", "--json").stdout
    )
    latest = {line["rank"]: line for line in data["lines"]}
    assert [*latest] == [1, 2, 3]
    assert len({line["line"][0] for line in latest.values()}) == 3
    assert data["score_unit"] == score_unit(whole_game.engine())
    said = quartet("analyse", whole_game.name, "--nodes", "3000", "--lines", "3").stdout
    assert f"score: {data['score_unit']}\n" in said
    assert " 3. " in said
