"""Engines solve endings exactly, and `python -m tests.bench.endgames` counts the errors of
players."""

from __future__ import annotations

import json
import shutil
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from applegame.engine import Engine
from applegame.protocol import PASS
from applegame.rules import Position
from core.errors import QuartetError
from quartet import registry
from quartet.arena import records
from quartet.judge import game as games
from quartet.judge.logs.check import check
from tests.bench import endgames
from tests.commands import quartet

if TYPE_CHECKING:
    from collections.abc import Iterator

ENOUGH = 20_000_000


def outcome(position: Position) -> int:
    """Return the result by plain negamax."""
    if position.over:
        first, second = position.scores()
        ahead = (first or 0) - (second or 0)
        return ((ahead > 0) - (ahead < 0)) * (-1 if position.to_move else 1)
    return max(-outcome(position.play(move)) for move in position.legal())


def late(moves: int) -> Iterator[Position]:
    """Yield the first position with at most `moves` legal moves of each random game."""
    seed = 0
    while True:
        random, position = Random(seed), Position.start(seed)
        while len(position.legal()) > moves:
            position = position.play(random.choice(position.legal()[1:]))
        yield position
        seed += 1


def test_the_apple_game_is_solved_as_by_brute_force() -> None:
    engine = Engine()
    outcomes = []
    for position in islice(late(4), 20):
        outcomes.append(outcome(position))
        assert engine.solve(position, ENOUGH) == outcomes[-1]
        passed = position.play(PASS)
        assert engine.solve(passed, ENOUGH) == outcome(passed)
    assert {1, -1} <= set(outcomes)


@pytest.mark.parametrize("game", ["applegame", "connexion"])
def test_positions_over_the_node_limit_are_not_solved(game: str) -> None:
    assert (
        registry.load(game, "engine")
        .Engine()
        .solve(registry.load(game, "rules").Position.start(), 1000)
        is None
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    words = [
        "--player",
        "g=greedy",
        "--player",
        "m=margin",
        "--games",
        "4",
        "--in-process",
        "--json",
        "--out",
        str(folder),
    ]
    quartet("tournament", "connexion", *words)
    return folder


def test_the_loss_is_the_value_minus_the_result(run: Path) -> None:
    engine: Any = registry.load("connexion", "engine").Engine()
    for log in sorted((run / "games").glob("*.log")):
        rules = registry.load("connexion", "rules").Position
        checked = check(games.load("connexion"), log.read_bytes(), rules=rules)
        assert checked.agrees, checked.complaint
        moves = endgames.losses(engine, checked, 8, ENOUGH)
        assert [(ply, seat) for ply, seat, _ in moves] == [(ply, ply % 2) for ply in range(56, 64)]
        first, second = checked.positions[-1].scores()
        promised = engine.solve(checked.positions[56], ENOUGH)
        lost = [sum(loss or 0 for _, mover, loss in moves if mover == seat) for seat in range(2)]
        assert min(loss for _, _, loss in moves if loss is not None) >= 0
        assert (first or 0) - (second or 0) == promised - lost[0] + lost[1]


def test_the_table_has_the_losses_of_each_player(run: Path) -> None:
    done = CliRunner().invoke(endgames.command, ["connexion", str(run), "--plies", "8", "--json"])
    assert done.exit_code == 0
    figures = json.loads(done.stdout)
    _, results = records.read(run)
    assert {
        name: (row["games"], row["turns"], row["unsolved"]) for name, row in figures.items()
    } == {"g": (4, 16, 0), "m": (4, 16, 0)}
    assert len(results) == 4
    assert sum(figures["g"]["errors by ply"].values()) > 0
    shown = CliRunner().invoke(endgames.command, ["connexion", str(run), "--plies", "2"])
    assert shown.exit_code == 0
    assert "none" in shown.stdout
    early = json.loads(
        CliRunner()
        .invoke(
            endgames.command, ["connexion", str(run), "--plies", "13", "--nodes", "1000", "--json"]
        )
        .stdout
    )
    assert [
        (row["games"], row["unsolved"], row["given away a game"]) for row in early.values()
    ] == [(0, 4, None)] * 2


def test_bad_input_gives_one_line(run: Path, tmp_path: Path) -> None:
    for words, reason in (
        (["ataxx", str(run)], "the engine of ataxx solves no endings"),
        (["applegame", str(run)], "holds games of connexion"),
        (["connexion", str(tmp_path)], "holds no records of a run"),
    ):
        with pytest.raises(QuartetError, match=reason):
            endgames.command.main(words, standalone_mode=False)
    shutil.copytree(run, tmp_path / "torn")
    (tmp_path / "torn/games/000002.log").unlink()
    with pytest.raises(QuartetError, match=r"cannot read .*000002\.log: No such file"):
        endgames.command.main(["connexion", str(tmp_path / "torn")], standalone_mode=False)
