"""Ugolki's networks have the inputs and outputs that network.h describes, and training improves
them."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

from core.errors import QuartetError, TextError
from core.limits import Limits
from core.nn import sparse_net
from core.nn.contract import FIRST, OFF_PATH
from core.nn.sealed import seal, unseal
from quartet.cli.selfplay import command as quartet_selfplay
from quartet.cli.train import command as quartet_train
from quartet.training import selfplay
from quartet.training.samples import SampleStore
from quartet.training.selfplay import SelfplayUnit
from tests.commands import failure
from tests.games import ROOT
from ugolki.engine import Engine
from ugolki.geometry import PIECES, SEATS, SIZE, seen
from ugolki.rules import Position
from ugolki.train import features, learning, table_samples
from ugolki.train import selfplay as training
from ugolki.train.__main__ import command

if TYPE_CHECKING:
    from numpy.typing import NDArray

WEIGHTS = (ROOT / "ugolki" / "nn" / "weights.bin").read_bytes()
BODY = unseal("weights", WEIGHTS, "ugolki")[1]
VALUE, POLICY, OPPONENTS, SOLO = learning.networks_of(BODY)
TURN, SPANS, MISSING, OWN_SOLO, LEAD = 400, 404, 415, 416, 480
"""First inputs of some groups, as in network.h."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a few games of self-play."""
    path = tmp_path_factory.mktemp("samples")
    with SampleStore(path, "ugolki", {}) as kept:
        for number in range(3):
            played = selfplay.play(
                SelfplayUnit(number=number, game="ugolki", seed=1, games=2, nodes=40)
            )
            kept.add(played)
    return path


@pytest.fixture(scope="module")
def samples(folder: Path) -> table_samples.TableSamples:
    return table_samples.load([folder])


def position_of(record: NDArray[np.uint8]) -> Position:
    """Return the position of a sample."""
    cells = [0] * (SIZE * SIZE)
    for number, cell in enumerate(record[4:28]):
        if cell != training.NOWHERE:
            cells[cell] = number // PIECES + 1
    return Position.from_cells(cells, int(record[0]), int(record[1]) // SEATS)


def solo(placements: list[tuple[int, ...]]) -> NDArray[np.float32]:
    """Return the solo distances of placements that the solo network predicts."""
    return learning.solo_moves(SOLO, np.array(placements, np.uint8))


def placement(position: Position, seat: int) -> tuple[int, ...]:
    """Return the cells of a seat's pieces in its view, in ascending order."""
    own = [
        seen(seat, cell % SIZE, cell // SIZE)
        for cell, label in enumerate(position.cells)
        if label == seat + 1
    ]
    return tuple(sorted(SIZE * row + column for column, row in own))


# Solo distances


def test_neighbours_are_the_moves_of_a_lone_player() -> None:
    random = Random(1)
    for _ in range(50):
        cells = sorted(random.sample(range(SIZE * SIZE), PIECES))
        position = Position.from_cells([1 if cell in cells else 0 for cell in range(SIZE * SIZE)])
        after = {placement(position.play(move), 0) for move in position.pseudolegal()}
        found = features.neighbours(cells)
        assert after == set(found)
        for other in random.sample(found, 3):
            assert tuple(cells) in features.neighbours(other), "moves can be taken back"


def test_the_solo_network_predicts_the_shortest_path() -> None:
    """Compare with the exact distances on a shortest path: 19, 18, .. 0."""
    known = json.loads((ROOT / "tests" / "data" / "ugolki" / "solo_optimal.json").read_text())[
        "empty"
    ]
    position = Position.from_cells([label if label == 1 else 0 for label in Position.start().cells])
    way = [placement(position, 0)]
    for move in known["sequence"]:
        position = Position.from_cells(position.play(tuple(move)).cells)
        way.append(placement(position, 0))
    errors = abs(solo(way) - np.arange(known["moves"], -1, -1))
    assert errors.mean() < 0.8
    assert errors.max() < 2


# Inputs


def inputs_of(position: Position, view: int) -> list[int]:
    """Return the inputs as network.h describes them, without the two of the race."""
    expected = []
    for cell, label in enumerate(position.cells):
        if label:
            column, row = seen(view, cell % SIZE, cell // SIZE)
            expected.append(100 * ((label - 1 - view) % SEATS) + SIZE * row + column)
    expected += [MISSING] * (SEATS * PIECES - len(expected))
    rounds = (position.moves * SEATS - position.ply + 3) // 4
    spans = (2, 3, 4, 5, 6, 8, 12, 16, 24, 32)
    return [
        *sorted(expected),
        TURN + (position.ply - view) % SEATS,
        SPANS + sum(rounds >= span for span in spans),
    ]


def test_inputs_of_seats(samples: table_samples.TableSamples) -> None:
    chosen = np.arange(len(samples))
    inputs = np.empty((4 * len(samples), features.ACTIVE), np.uint16)
    playing = np.empty((len(samples), 4), np.uint8)
    count = features.seats_of(SOLO, samples.records, chosen, playing, inputs)
    assert count == playing.sum()
    row = 0
    for number in range(len(samples)):
        position = position_of(samples.records[number])
        here = [seat for seat in range(SEATS) if playing[number, seat]]
        assert here == [seat for seat in range(SEATS) if position.scores()[seat] is not None]
        moves = dict(zip(here, solo([placement(position, seat) for seat in here]), strict=True))
        for seat in here:
            found = inputs[row].tolist()
            assert [*sorted(found[:24]), *found[24:26]] == inputs_of(position, seat)
            lead = moves[seat] - min(other for name, other in moves.items() if name != seat)
            assert found[26] == pytest.approx(OWN_SOLO + 2 * max(0, moves[seat]), abs=0.5)
            assert found[27] == pytest.approx(LEAD + 16 + min(16, max(-16, 2 * lead)), abs=0.5)
            row += 1


def test_inputs_of_moves(samples: table_samples.TableSamples) -> None:
    chosen = np.arange(0, len(samples), 7)
    inputs = np.empty((80 * len(chosen), features.ACTIVE), np.uint16)
    sizes, visits = np.empty(len(chosen), np.int32), np.empty(len(inputs), np.float32)
    count = features.moves_of(SOLO, samples.records, chosen, sizes, visits, inputs)
    assert count == sizes.sum()
    row = 0
    for number, size in zip(chosen, sizes, strict=True):
        position = position_of(samples.records[number])
        after = sorted(
            inputs_of(position.play(move), position.to_move) for move in position.legal()
        )
        found = [[*sorted(one[:24]), *one[24:26]] for one in inputs[row : row + size].tolist()]
        assert sorted(found) == after
        assert 200 < visits[row : row + size].sum() <= 265
        row += int(size)
    few = features.moves_of(SOLO, samples.records, chosen, sizes, visits[:50], inputs[:50])
    assert few == sizes.sum() <= 50
    assert 0 in sizes


# Outputs


def test_integers_compute_what_the_floats_do(samples: table_samples.TableSamples) -> None:
    inputs = np.empty((4 * 100, features.ACTIVE), np.uint16)
    count = features.seats_of(
        SOLO, samples.records, np.arange(100), np.empty((100, 4), np.uint8), inputs
    )
    for body in (VALUE, POLICY, OPPONENTS):
        numbers = np.frombuffer(body, "<i2").astype(np.float32)
        parameters = np.concatenate(
            [
                numbers[: -features.HIDDEN] / features.ONE,
                numbers[-features.HIDDEN :] / features.OUTPUT_ONE,
                [0],
            ]
        ).astype(np.float32)
        expected, found = np.empty(count, np.float32), np.empty(count, np.float32)
        sparse_net.run(
            parameters, None, features.HIDDEN, inputs[:count], np.zeros(count, np.float32), expected
        )
        features.logits(body, inputs[:count], found)
        assert found == pytest.approx(expected, abs=0.02)
        assert np.ptp(found) > 1
        again, same = learning.quantised(parameters)
        assert again == body
        assert np.array_equal(same, parameters)


PROGRAM = r"""
#include <stdio.h>
#include "ugolki/nn/network.h"

static uint32_t state = 1;
static int16_t number(int most) { state = state * 1664525u + 1013904223u; return (int16_t)((int)(state >> 8) % (2 * most + 1) - most); }

int main(void) {
    static Network n;
    uint16_t inputs[NETWORK_ACTIVE];
    int16_t sums[NETWORK_HIDDEN], moved[NETWORK_HIDDEN];
    int round, i;
    for (i = 0; i < NETWORK_INPUTS * NETWORK_HIDDEN; i++) n.rows[0][i] = number(i % 3 ? 60 : NETWORK_MAX_ROW);
    for (i = 0; i < NETWORK_HIDDEN; i++) n.bias[i] = number(NETWORK_MAX_ROW), n.output[i] = number(NETWORK_MAX_OUTPUT);
    for (round = 0; round < 1000; round++) {
        for (i = 0; i < NETWORK_ACTIVE; i++) inputs[i] = (uint16_t)((unsigned)number(20000) % NETWORK_INPUTS);
        network_sum(n.rows, n.bias, inputs, NETWORK_ACTIVE, sums);
        network_move(sums, n.rows[inputs[0]], n.rows[inputs[1]], moved);
        printf("%d %d %d\n", sums[round % 64], network_logit(&n, sums), network_logit(&n, moved));
    }
    return 0;
}
"""


def test_every_machine_computes_the_same(tmp_path: Path) -> None:
    """Compare SSE2 intrinsics with plain C at two optimisation levels."""
    (tmp_path / "program.c").write_text(PROGRAM)
    said = []
    for number, flags in enumerate(([], ["-DNETWORK_SSE2=0", "-O1"], ["-DNETWORK_SSE2=0", "-O3"])):
        program = tmp_path / f"program{number}"
        subprocess.run(
            ["cc", *flags, f"-I{ROOT}", str(tmp_path / "program.c"), "-o", str(program)], check=True
        )
        said.append(
            subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
        )
    assert said[0] == said[1] == said[2]
    assert len(set(said[0].splitlines())) > 900


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "no file of weights"),
        (WEIGHTS[:-1], "damaged"),
        (seal("weights", {"game": "ataxx"}, BODY), "is for 'ataxx'"),
        (seal("weights", {"game": "ugolki"}, BODY[:-2]), "bytes, not"),
        (seal("weights", {"game": "ugolki"}, b"\xff\x7f" + BODY[2:]), "too great"),
    ],
)
def test_bad_weights_are_rejected(data: bytes, complaint: str) -> None:
    with pytest.raises(TextError, match=complaint):
        Engine(weights=data)
    with pytest.raises(TextError, match="a network takes"):
        features.logits(SOLO, np.empty((0, features.ACTIVE), np.uint16), np.empty(0, np.float32))
    with pytest.raises(TextError, match="a solo network takes"):
        learning.solo_moves(SOLO[:-2], np.empty((0, PIECES), np.uint8))


def test_weights_of_another_size_are_rejected() -> None:
    with pytest.raises(TextError, match="take 210818 bytes, not 144898"):
        learning.networks_of(BODY[:144_898])


def test_the_package_records_the_origin_of_its_weights() -> None:
    fields = unseal("weights", WEIGHTS, "ugolki")[0]
    assert fields["command"].startswith("python -m ugolki.train fit")
    assert fields["solo-command"].startswith("python -m ugolki.train solo")
    assert fields["opponents-command"].startswith("python -m ugolki.train predict")
    assert len(WEIGHTS) < 1 << 20


# Samples


def test_a_unit_is_reproducible_and_its_samples_follow_the_game() -> None:
    unit = SelfplayUnit(number=3, game="ugolki", seed=5, games=2, nodes=60)
    played = selfplay.play(unit)
    assert selfplay.play(unit) == played
    records = np.frombuffer(played.samples, np.uint8).reshape(-1, training.RECORD.size)
    assert len(records) == played.result.positions
    engine = Engine()
    for record in records[::9]:
        position = position_of(record)
        engine.choose(position, Limits(nodes=60))
        packed = training.packed(
            position, engine.expectation() or (), engine.visits(), (0, 0, 0, 0), 0
        )
        assert packed[4:36] == record[4:36].tobytes()
        assert packed[40:] == record[40:].tobytes()
    path = records[records[:, 2] & OFF_PATH == 0]
    assert (path[:, 36:40].sum(1) == 12).all()
    assert (records[records[:, 2] & OFF_PATH > 0, 36:40] == 0).all()
    assert (path[:, 2] & FIRST > 0).sum() == 2


def test_targets_are_lambda_returns(samples: table_samples.TableSamples) -> None:
    path = ~samples.off_path
    assert np.array_equal(table_samples.targets_of(samples, 1)[path], samples.results[path])
    assert np.allclose(table_samples.targets_of(samples, 0), samples.shares)
    targets = table_samples.targets_of(samples, 0.8)
    for place in range(len(samples)):
        following = samples.results[place] if samples.last[place] else targets[place + 1]
        expected = (
            samples.shares[place]
            if samples.off_path[place]
            else 0.2 * samples.shares[place] + 0.8 * following
        )
        assert targets[place] == pytest.approx(expected, abs=1e-5)


def test_the_confidence_of_the_search_is_measured() -> None:
    random = np.random.default_rng(2)
    shares = random.dirichlet([1, 1, 1, 1], 40_000)
    winners = (shares.cumsum(1) > random.random((40_000, 1))).argmax(1)
    results = np.eye(4, dtype=np.float32)[winners]
    for exponent in (0.5, 2.0):
        scaled = table_samples.sharpened(shares, exponent).astype(np.float32)
        assert table_samples.sharpness_of(scaled, results) == pytest.approx(1 / exponent, rel=0.05)


# Training


def test_selfplay_training_and_use(folder: Path, tmp_path: Path) -> None:
    """Generate samples, train, and load the weights into an engine."""

    def run(*arguments: Any) -> str:
        done = CliRunner().invoke(command, [str(argument) for argument in arguments])
        assert done.exit_code == 0, done.output
        return done.output

    done = CliRunner().invoke(
        quartet_selfplay,
        [
            "ugolki",
            "--games",
            "64",
            "--nodes",
            "5",
            "--jobs",
            "1",
            "--out",
            str(tmp_path / "games"),
        ],
    )
    assert done.exit_code == 0, done.output
    assert f"positions of 64 games in {tmp_path / 'games'}" in done.output
    (tmp_path / "solo.bin").write_bytes(
        seal(
            "solo",
            {"game": "ugolki", "data": "none", "command": "python -m ugolki.train solo"},
            SOLO,
        )
    )
    recipe = ("--epochs", 40, "--policy-epochs", 40, "--rate", 0.02)
    said = run(
        "fit",
        folder,
        tmp_path / "games",
        "--solo",
        tmp_path / "solo.bin",
        "--out",
        tmp_path / "w.bin",
        *recipe,
    )
    for name in ("value", "policy"):
        losses = [
            float(loss)
            for loss in re.findall(rf"^{name}, epoch \d+: loss ([\d.]+)", said, re.MULTILINE)
        ]
        assert len(losses) == 40
        assert losses[-1] < 0.8 * losses[0]
    weights = (tmp_path / "w.bin").read_bytes()
    learned, packaged, again = Engine(weights=weights), Engine(), Engine(weights=WEIGHTS)
    for engine in (learned, packaged, again):
        assert engine.choose(Position.start(), Limits(nodes=50)).nodes == 50
    assert learned.expectation() != packaged.expectation() == again.expectation()
    fields = unseal("weights", weights, "ugolki")[0]
    assert fields["solo-data"] == "none"
    said = run(
        "fit",
        folder,
        "--begin",
        tmp_path / "w.bin",
        "--out",
        tmp_path / "on.bin",
        *("--epochs", 4, "--policy-epochs", 4, "--rate", 0.02),
    )
    begun, body = unseal("weights", (tmp_path / "on.bin").read_bytes(), "ugolki")
    assert (begun["solo-data"], begun["begun-command"]) == ("none", fields["command"])
    before = learning.networks_of(unseal("weights", weights, "ugolki")[1])
    after = learning.networks_of(body)
    assert [one == other for one, other in zip(before, after, strict=True)] == [
        False,
        False,
        True,
        True,
    ]
    for chosen in ([], ["--solo", tmp_path / "solo.bin", "--begin", tmp_path / "w.bin"]):
        options = ["fit", folder, *chosen, "--out", tmp_path / "no.bin"]
        done = CliRunner().invoke(command, [str(option) for option in options])
        assert "either --solo" in str(done.exception)


def test_the_solo_network_learns(samples: table_samples.TableSamples) -> None:
    placements = learning.placements_of(samples, 1)
    assert (np.diff(placements.astype(int), axis=1) > 0).all()
    assert placements.max() < SIZE * SIZE
    moves = learning.solo_moves(SOLO, placements)
    net = learning.Net(features.CELLS, 6, 1, 0.01, 15 * (len(placements) // 256), 1)
    everything, losses = np.arange(len(placements)), []
    of = learning.solo_loss(placements, moves)
    learning.trained(net, of, everything, 256, 15, 1, lambda _, loss: losses.append(loss))
    assert losses[-1] < 0.1 * losses[0]
    found = learning.solo_moves(learning.quantised_solo(net.parameters), placements)
    assert abs(found - moves).mean() < 1


def test_errors_of_the_training(tmp_path: Path) -> None:
    with pytest.raises(QuartetError, match="two files"):
        table_samples.load([tmp_path])
    for number in (0, 1):
        (tmp_path / f"{number}.samples").write_bytes(seal("samples", {"game": "ugolki"}, b"odd"))
    with pytest.raises(TextError, match="3 bytes"):
        table_samples.load([tmp_path])
    (tmp_path / "0.samples").write_bytes(seal("samples", {"game": "nim"}, b"odd"))
    with pytest.raises(TextError, match=r"0\.samples: .* is for 'nim'"):
        table_samples.load([tmp_path])
    done = CliRunner().invoke(
        quartet_train, ["ugolki", str(tmp_path), "--out", str(tmp_path / "w.bin")]
    )
    assert "python -m ugolki.train" in str(done.exception)
    words = ("solo", str(tmp_path), "--out", str(tmp_path / "w.bin"), "--rate", "nan")
    assert "nan is not a finite number" in failure(command, *words)
    nowhere = tmp_path / "no" / "w.bin"
    for tool, *arguments in (
        (command, "fit", tmp_path, "--solo", tmp_path / "s.bin"),
        (command, "solo", tmp_path),
        (quartet_train, "ataxx", tmp_path),
    ):
        done = CliRunner().invoke(tool, [*map(str, arguments), "--out", str(nowhere)])
        assert f"cannot write {nowhere}: there is no folder" in str(done.exception)
    with pytest.raises(ValueError, match="placements"):
        features.table_begin(np.empty(10, np.uint8))
