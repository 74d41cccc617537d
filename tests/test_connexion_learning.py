"""Connexion's evaluation reads and checks its numbers, and self-play learns useful ones."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from connexion.clock import PLIES, moves_to_go, weight
from connexion.engine import Engine
from connexion.nn.evaluate import EvaluationWeights, default_weights
from connexion.players import player
from connexion.rules import Position
from connexion.train.__main__ import command
from connexion.train.learner import Learner
from core.errors import TextError
from core.limits import Limits
from core.nn.sealed import seal
from core.players import lead
from tests.commands import failure

if TYPE_CHECKING:
    from pathlib import Path

QUICK = Limits(depth=1)


def learned(path: Path, *options: str) -> bytes:
    """Return the file that a short training writes."""
    done = CliRunner().invoke(command, [str(path), "--games", "500", "--width", "6", *options])
    assert done.exit_code == 0, done.output
    return path.read_bytes()


def test_training_repeats_itself(tmp_path: Path) -> None:
    first = learned(tmp_path / "a")
    assert first == learned(tmp_path / "b")
    assert first != learned(tmp_path / "c", "--seed", "2")
    assert "--games 500 --seed 1" in EvaluationWeights(first).fields["command"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["x.bin", "--width", "0"], "--width"),
        (["x.bin", "--td-lambda", "nan"], "nan is not a finite number"),
        (["x.bin", "--rate", "inf"], "--rate"),
        (["nowhere/x.bin"], "there is no folder"),
        (["."], "is a directory"),
    ],
)
def test_bad_options_end_before_the_training(options: list[str], says: str) -> None:
    assert says in failure(command, "--games", "500", *options)


def test_the_package_records_the_origin_of_its_numbers() -> None:
    assert default_weights().fields["command"].startswith("python -m connexion.train --games")


def test_self_play_learns() -> None:
    """Check that the error falls, and that a one-ply search with the learned numbers beats one with
    the scores alone."""
    learner = Learner(1, width=6)
    errors = [learner.play(250, 0.3) for _ in range(6)]
    assert errors[-1] < 0.9 * errors[0]
    engine = Engine(
        weights=seal(
            "weights",
            {"game": "connexion", "numbers": str(len(learner.numbers()))},
            learner.numbers().tobytes(),
        )
    )
    margins = []
    for seed in range(4):
        for side in (0, 1):
            position, margin = Position.start(seed), player("margin")
            while not position.over:
                searcher = engine if position.to_move == side else margin
                position = position.play(searcher.choose(position, QUICK).move)
            margins.append(lead(position, side))
    assert sum(margins) > 0


def test_an_evaluation_uses_only_known_information() -> None:
    weights, random = default_weights(), Random(1)
    position = Position.start(5)
    while not position.over:
        hands, bags = (
            position.hands,
            [sorted(bag, key=lambda _: random.random()) for bag in position.bags],
        )
        other = Position.from_tiles(
            position.cells, [(*hand, *bag) for hand, bag in zip(hands, bags, strict=True)]
        )
        assert weights.value(other) == weights.value(position)
        position = position.play(random.choice(position.legal()))


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "no file of weights"),
        (seal("weights", {"game": "noughts", "numbers": "2"}, b"1234"), "is for 'noughts'"),
        (seal("weights", {"game": "connexion", "numbers": "2"}, b"1234"), "another evaluation"),
        (seal("weights", {"game": "connexion"}, b"1234"), "another evaluation"),
    ],
)
def test_other_files_are_rejected(data: bytes, complaint: str) -> None:
    with pytest.raises(TextError, match=complaint):
        EvaluationWeights(data)


def test_a_clock_is_divided_among_all_moves() -> None:
    for seat in (0, 1):
        left = 1.0
        for ply in range(seat, PLIES, 2):
            assert moves_to_go(ply) >= 1
            left -= left / moves_to_go(ply)
        assert left == pytest.approx(0)
    assert Engine().moves_to_go(Position.start()) == moves_to_go(0)
    assert max(range(PLIES), key=weight) in {52, 53}
