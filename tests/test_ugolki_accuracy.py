"""`python -m ugolki.train accuracy` measures how well win shares predict recorded games."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from core.errors import QuartetError, TextError
from tests.commands import ONE_JOB, quartet
from ugolki.players import player
from ugolki.rules import Position
from ugolki.train.__main__ import command
from ugolki.train.accuracy import RecordedGame, loss_of, read_games


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with four games of one strong player and three weak ones."""
    folder = tmp_path_factory.mktemp("accuracy") / "run"
    players = [word for name in ("a=brs:3", "b=random", "c=random", "d=random")
               for word in ("--player", name)]  # fmt: skip
    quartet("tournament", "ugolki", *players, "--games", "4", "--in-process", *ONE_JOB,
            "--option", "opening=4", "--out", str(folder))  # fmt: skip
    return folder


def test_games_are_replayed(records: Path) -> None:
    games = read_games([records])
    assert len(games) == 4
    for game in games:
        assert [one.ply for one in game.positions] == list(range(4, 4 + len(game.positions)))
        assert sum(game.shares) == pytest.approx(1)


def test_the_command_compares_players(records: Path) -> None:
    words = ["accuracy", "bot", "bot:first_play=1", "--every", "15"]
    done = CliRunner().invoke(command, [*words, "--nodes", "60", "--records", str(records)])
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == "4 games, 60 nodes, one turn in 15"
    assert lines[1].endswith(" nats, +0.0000 +- 0.0000 to the first")
    assert re.search(r": \d\.\d{4} nats, [+-]\d\.\d{4} \+- \d\.\d{4} to the first$", lines[2])


def test_a_certain_and_right_player_has_no_loss() -> None:
    class Sure:
        def new_game(self) -> None: ...
        def choose(self, *_: object) -> None: ...
        def expectation(self) -> tuple[float, ...]:
            return (1, 0, 0, 0)

    start = Position.start()
    assert loss_of(Sure(), [RecordedGame([start], [1, 0, 0, 0])], 1, 1) == [0]
    assert loss_of(Sure(), [RecordedGame([start], [0, 1, 0, 0])], 1, 1)[0] > 9


def test_rejected_arguments(records: Path, tmp_path: Path) -> None:
    with pytest.raises(QuartetError, match="two finished games at least"):
        read_games([tmp_path])
    words = ["accuracy", "greedy", "--records", str(records)]
    with pytest.raises(QuartetError, match="greedy does not expect win shares"):
        CliRunner().invoke(command, words, catch_exceptions=False)
    assert not hasattr(player("greedy"), "expectation")
    log = (records / "games" / "000000.log").read_text().replace('"ply":5', '"ply":6')
    for number in range(2):
        (tmp_path / "games").mkdir(exist_ok=True)
        (tmp_path / "games" / f"{number}.log").write_text(log)
    with pytest.raises(TextError, match="ply 6 follows where 5 should"):
        read_games([tmp_path])
