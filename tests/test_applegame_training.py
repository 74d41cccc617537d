"""The apple game's weights: the fit recovers the data, training resumes, and the file names its
command."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from applegame.engine import WEIGHTS_SHAPE, feature_list
from applegame.rules import Position
from applegame.train.__main__ import command
from applegame.train.games import play
from applegame.train.learning import fit
from core.players import lead
from tests.commands import failure

ROOT = Path(__file__).resolve().parent.parent
GAMES = ("--games", "150", "--nodes", "20")


def train(file: Path, *options: str) -> str:
    """Run a training, assert success, and return the file that it writes."""
    result = CliRunner().invoke(command, [str(file), *GAMES, *options])
    assert result.exit_code == 0, result.output
    return file.read_text(encoding="ascii")


def test_the_fit_finds_the_weights_of_the_data() -> None:
    rng = np.random.default_rng(1)
    features = rng.normal(size=(20_000, 3)) * (1.0, 5.0, 0.2)
    weights = np.array([1.0, -0.3, 0.0])
    won = (rng.random(20_000) < 1 / (1 + np.exp(-features @ weights))).astype(np.float64)
    assert fit(features, won, 1.0) == pytest.approx(weights, abs=0.15)


def test_rows_of_a_game_are_from_the_side_to_move() -> None:
    rows = play("1 0", nodes=20, explore=0.0)
    results = {row[-1] for row in rows}
    assert results in ({0}, {max(results), -max(results)})
    assert all(len(row) == 2 + WEIGHTS_SHAPE[1] for row in rows)
    assert play("1 0", nodes=20, explore=0.0) == rows != play("1 1", nodes=20, explore=0.0)


def test_the_features_begin_with_the_phase_and_the_lead() -> None:
    position = Position.start(3)
    assert feature_list(position)[:2] == [WEIGHTS_SHAPE[0] - 1, 0]
    for _ in range(6):
        position = position.play(position.legal()[1])
        assert feature_list(position)[1] == lead(position, position.to_move)


def test_a_training_resumes_where_it_stopped(tmp_path: Path) -> None:
    whole = train(tmp_path / "whole.h")
    games = (tmp_path / "whole.h.games").read_text(encoding="ascii")
    broken = tmp_path / "broken.h.games"
    # in the middle of a line, as a kill leaves it
    broken.write_text(games[: len(games) // 2], encoding="ascii")
    assert train(tmp_path / "broken.h") == whole
    assert broken.read_text(encoding="ascii") == games


def test_games_with_other_options_are_rejected(tmp_path: Path) -> None:
    train(tmp_path / "weights.h")
    assert "games of other options" in failure(
        command, str(tmp_path / "weights.h"), *GAMES, "--seed", "2"
    )


def test_too_few_games_are_rejected(tmp_path: Path) -> None:
    few = ("--games", "2", "--nodes", "20")
    assert "too few games" in failure(command, str(tmp_path / "weights.h"), *few)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["x.h", "--penalty", "nan"], "nan is not a finite number"),
        (["nowhere/x.h"], "cannot write nowhere/x.h: there is no folder"),
    ],
)
def test_bad_options_end_before_the_games(options: list[str], says: str) -> None:
    assert says in failure(command, "--games", "2", "--nodes", "5", *options)


def test_weights_record_their_origin(tmp_path: Path) -> None:
    ours = (ROOT / "applegame" / "nn" / "weights.h").read_text(encoding="ascii")
    made = train(tmp_path / "weights.h")
    shape = re.compile(
        r"Made by: python -m applegame\.train .*\n   From: \d+ positions of \d+ games, CRC-32 "
        r"[0-9a-f]{8} \*/"
    )
    for text in (ours, made):
        assert shape.search(text)
        numbers = re.findall(r"^    \{(.*)\},$", text, re.MULTILINE)
        assert [len(row.split(", ")) for row in numbers] == [WEIGHTS_SHAPE[1]] * WEIGHTS_SHAPE[0]
