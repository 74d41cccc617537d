"""The opponents' network of Ugolki predicts other players, and learns from their moves."""

from __future__ import annotations

import math
import re
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from core.errors import QuartetError
from core.limits import Limits
from core.nn.contract import FIRST, OFF_PATH
from core.nn.sealed import seal, unseal
from core.rules import Move
from ugolki.engine import Engine
from ugolki.frozen.pool.players import HALVES, TEST_HALF
from ugolki.geometry import SEATS
from ugolki.protocol import PASS
from ugolki.rules import Position
from ugolki.train import learning, selfplay
from ugolki.train import opponents as prediction
from ugolki.train.__main__ import command

WEIGHTS = Path(__file__).parents[1] / "ugolki" / "nn" / "weights.bin"


def test_a_prediction_is_of_all_moves_and_adds_up() -> None:
    engine, random = Engine(), Random(3)
    position = Position.start(5, opening=4)
    while not position.over:
        legal = position.legal()
        shares = engine.prediction(position)
        assert set(shares) == set(legal) - {PASS}
        if shares:
            assert sum(shares.values()) == pytest.approx(1)
            assert min(shares.values()) > 0
        position = position.play(random.choice(legal))


def test_it_predicts_players_of_other_kinds() -> None:
    """Check that each player chooses the likeliest of some 24 moves about every second time. A
    random guess would be right once in 20."""
    names = ["beam:30", "brs:3", "uct:200"]
    for choices in prediction.choices_of(names, 16, 5, lambda: None).values():
        assert len(choices) > 50
        hits = [max(one.shares, key=lambda move: one.shares[move]) == one.chosen for one in choices]
        assert sum(hits) / len(hits) > 0.4


def test_the_command_reports_each_player() -> None:
    done = CliRunner().invoke(command, ["opponents", "greedy", "beam:3", "--games", "4"])
    assert done.exit_code == 0
    lines = [line for line in done.stdout.splitlines() if "likeliest" in line]
    assert [line.split(":")[0] for line in lines] == ["greedy", "beam"]
    assert all(re.search(r"\d+ moves, \d+\.\d % the likeliest one, \d\.\d{3} nats$", line)
               for line in lines)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "why"),
    [("unknown", "no built-in player 'unknown'"), (HALVES[TEST_HALF][0], "is in the test set")],
)
def test_rejected_names(name: str, why: str) -> None:
    with pytest.raises(QuartetError, match=why):
        CliRunner().invoke(command, ["opponents", name], catch_exceptions=False)


def test_players_of_the_test_set_give_no_samples() -> None:
    assert not set(selfplay.FIELD) & set(HALVES[TEST_HALF])


@pytest.mark.parametrize(("who", "least"), [(selfplay.OPPONENTS, 100), (selfplay.MIXED, 60)])
def test_games_of_other_players_are_reproducible(who: str, least: int) -> None:
    games = selfplay.play_games(range(2), 7, 40, who)
    assert len(games) > least
    assert games == selfplay.play_games(range(2), 7, 40, who)
    assert games != selfplay.play_games(range(2), 8, 40, who)
    with pytest.raises(QuartetError, match="is not an engine and gives no samples"):
        selfplay.play_games(range(1), 7, 40, "greedy")


def test_moves_of_other_players_are_not_samples_of_the_engine() -> None:
    seated, limits = selfplay.Seated(1), Limits(nodes=40)
    others = {seat: selfplay.Outsider(seated.at("greedy", seat), limits) for seat in (0, 2, 3)}
    found = selfplay.one_game(Engine(model=False), limits, Random(4), others)
    path = [record for record in found if not record[2] & OFF_PATH]
    assert len(path) > 10
    assert {record[0] % SEATS for record in path} == {1}


def test_it_learns_the_moves_of_other_players(tmp_path: Path) -> None:
    """Train on random games: the prediction of random moves improves."""
    random = Random(1)

    def game(seed: int) -> list[tuple[Position, Move]]:
        position, path = Position.start(seed, moves=16), []
        while not position.over:
            move = random.choice(position.legal())
            if move != PASS:
                path.append((position, move))
            position = position.play(move)
        return path

    even, nothing = (1 / SEATS,) * SEATS, (0, 0, 0, 0)
    for number in range(24):
        body = b"".join(
            selfplay.packed(position, even, [(move, 1)], nothing, FIRST * (ply == 0))
            for ply, (position, move) in enumerate(game(number))
        )
        file = tmp_path / f"{number:06}.samples"
        file.write_bytes(seal("samples", {"game": "ugolki"}, body))
    out = tmp_path / "weights.bin"
    asked = [
        "predict",
        tmp_path,
        "--weights",
        WEIGHTS,
        "--out",
        out,
        "--epochs",
        60,
        "--rate",
        0.01,
    ]
    done = CliRunner().invoke(command, [str(word) for word in asked])
    assert done.exit_code == 0, done.output
    before, after = (unseal("weights", file.read_bytes(), "ugolki") for file in (WEIGHTS, out))
    parts = [learning.networks_of(body) for _, body in (before, after)]
    assert [one == other for one, other in zip(*parts, strict=True)] == [True, True, False, True]
    assert after[0]["opponents-data"].endswith(" samples)")
    path = game(99)
    nats = [
        -sum(math.log(engine.prediction(position)[move]) for position, move in path) / len(path)
        for engine in (Engine(), Engine(weights=str(out)))
    ]
    assert nats[1] < nats[0] - 0.2, nats
