"""Training has correct gradients, a correct optimiser and reproducible networks, and leads from
self-play to weights."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ataxx.train.selfplay
from ataxx.nn.evaluate import Weights
from core.errors import QuartetError, TextError
from core.nn import sparse_net
from core.nn.sealed import seal
from quartet.arena.files import locked
from quartet.cli.main import cli
from quartet.training import dataset, selfplay
from quartet.training import trainer as training
from quartet.training.dataset import lambda_returns
from quartet.training.samples import Batch, MadeSamples, SampleStore, read
from quartet.training.trainer import Hyperparameters, Trainer
from tests.games import ROOT

Floats = NDArray[np.float32]

INPUTS, ACTIVE, HIDDEN, BUCKETS = 50, 4, 64, 3


def random_net(
    seed: int, buckets: int = 1, samples: int = 40
) -> tuple[Floats, NDArray[np.uint16], Floats]:
    """Return parameters with units that are cut off on either side, inputs and targets."""
    random = np.random.default_rng(seed)
    count = (INPUTS + 1) * HIDDEN + buckets * (HIDDEN + 1)
    parameters = random.normal(0, 0.4, count).astype(np.float32)
    return (
        parameters,
        random.integers(0, INPUTS, (samples, ACTIVE), dtype=np.uint16),
        random.random(samples, np.float32),
    )


def buckets_of(samples: int) -> NDArray[np.uint8]:
    return (np.arange(samples) * 7 % BUCKETS).astype(np.uint8)


def plain_loss(
    parameters: NDArray[np.float64], inputs: NDArray[np.uint16], targets: Floats
) -> tuple[float, NDArray[np.float64]]:
    """Return loss and outputs as sparse_net.h describes them, in numpy."""
    rows, bias, output = np.split(parameters, [INPUTS * HIDDEN, (INPUTS + 1) * HIDDEN])
    hidden = rows.reshape(-1, HIDDEN)[inputs].sum(1) + bias
    heads = output.reshape(-1, HIDDEN + 1)
    chosen = heads[buckets_of(len(inputs)) if len(heads) > 1 else np.zeros(len(inputs), int)]
    outputs = (np.clip(hidden, 0, 1) ** 2 * chosen[:, :-1]).sum(1) + chosen[:, -1]
    return float((((1 / (1 + np.exp(-outputs))) - targets) ** 2).sum()), outputs


def run(
    parameters: Floats,
    gradient: Floats | None,
    inputs: NDArray[np.uint16],
    targets: Floats,
    buckets: int,
    outputs: Floats | None = None,
) -> float:
    chosen = buckets_of(len(inputs)) if buckets > 1 else None
    return sparse_net.run(parameters, gradient, HIDDEN, inputs, targets, outputs, chosen, buckets)


@pytest.mark.parametrize("buckets", [1, BUCKETS])
def test_loss_and_outputs(buckets: int) -> None:
    parameters, inputs, targets = random_net(1, buckets)
    outputs = np.empty(40, np.float32)
    loss = run(parameters, None, inputs, targets, buckets, outputs)
    expected, expected_outputs = plain_loss(parameters.astype(float), inputs, targets)
    assert loss == pytest.approx(expected, rel=1e-5)
    assert outputs == pytest.approx(expected_outputs, abs=1e-4)


@pytest.mark.parametrize("buckets", [1, BUCKETS])
def test_the_gradient_is_that_of_the_loss(buckets: int) -> None:
    parameters, inputs, targets = random_net(2, buckets)
    gradient = np.zeros_like(parameters)
    run(parameters, gradient, inputs, targets, buckets)
    random = Random(2)
    bias, output = INPUTS * HIDDEN, (INPUTS + 1) * HIDDEN
    used = int(inputs[0, 0]) * HIDDEN
    places = [
        len(parameters) - 1,
        *range(bias, bias + 20),
        *range(output, output + 20),
        *range(used, used + 20),
    ]
    for place in [*places, *random.sample(range(len(parameters)), 100)]:
        step = np.zeros(len(parameters))
        step[place] = 1e-6
        above, below = (
            plain_loss(parameters.astype(float) + sign * step, inputs, targets)[0]
            for sign in (1, -1)
        )
        assert gradient[place] == pytest.approx((above - below) / 2e-6, rel=2e-3, abs=2e-5)


SIZES = np.array([4, 1, 30, 5], np.int32)


def plain_choice_loss(
    parameters: NDArray[np.float64], inputs: NDArray[np.uint16], targets: Floats
) -> float:
    """Return the loss of a softmax head as sparse_net.h describes it, in numpy."""
    _, outputs = plain_loss(parameters, inputs, targets)
    loss = 0.0
    for first, size in zip(np.cumsum(SIZES) - SIZES, SIZES, strict=True):
        group = slice(first, first + size)
        expected = np.exp(outputs[group]) / np.exp(outputs[group]).sum()
        wanted = targets[group].astype(float)
        loss += float(
            (wanted[wanted > 0] * np.log(wanted[wanted > 0] / expected[wanted > 0])).sum()
        )
    return loss


def test_a_softmax_head_learns_to_distinguish_a_groups_samples() -> None:
    parameters, inputs, targets = random_net(7)
    targets[targets < 0.3] = 0
    targets[4] = 1
    targets /= np.repeat(np.add.reduceat(targets, np.cumsum(SIZES) - SIZES), SIZES)
    gradient = np.zeros_like(parameters)
    loss = sparse_net.run_softmax(parameters, gradient, HIDDEN, inputs, targets, SIZES)
    assert loss == pytest.approx(
        plain_choice_loss(parameters.astype(float), inputs, targets), rel=1e-5
    )
    assert sparse_net.run_softmax(parameters, None, HIDDEN, inputs, targets, SIZES) == loss
    random = Random(7)
    for place in [
        *range(INPUTS * HIDDEN, (INPUTS + 2) * HIDDEN, 3),
        *random.sample(range(len(parameters)), 100),
    ]:
        step = np.zeros(len(parameters))
        step[place] = 1e-6
        above, below = (
            plain_choice_loss(parameters.astype(float) + sign * step, inputs, targets)
            for sign in (1, -1)
        )
        assert gradient[place] == pytest.approx((above - below) / 2e-6, rel=2e-3, abs=5e-5)
    for sizes, complaint in (
        ([40, 0], "group of 0"),
        ([39], "do not add up"),
        ([257], "group of 257"),
    ):
        with pytest.raises(ValueError, match=complaint):
            sparse_net.run_softmax(
                parameters, None, HIDDEN, inputs, targets, np.array(sizes, np.int32)
            )
    assert sparse_net.run_softmax(parameters, None, HIDDEN, inputs[:0], targets[:0], SIZES[:0]) == 0


@pytest.mark.parametrize("head", ["sigmoid", "sigmoid with buckets", "softmax"])
def test_many_samples_are_the_sum_of_few(head: str) -> None:
    """Run more samples at once than the kernel passes through the network together."""
    count = BUCKETS if head == "sigmoid with buckets" else 1
    parameters, inputs, targets = random_net(3, count, samples=9000)
    sizes, buckets = np.tile(SIZES, 225), buckets_of(9000) % count

    def run(part: slice, groups: slice, gradient: Floats) -> float:
        network = parameters, gradient, HIDDEN, inputs[part], targets[part]
        if head == "softmax":
            return sparse_net.run_softmax(*network, sizes[groups])
        return sparse_net.run(*network, buckets=buckets[part], bucket_count=count)

    whole, parts = np.zeros_like(parameters), np.zeros_like(parameters)
    loss = run(slice(None), slice(None), whole)
    cuts = ((slice(40 * n, 40 * n + 40), slice(4 * n, 4 * n + 4)) for n in range(225))
    assert loss == pytest.approx(sum(run(*cut, parts) for cut in cuts), rel=1e-6)
    assert np.array_equal(parts, whole)


def test_the_optimiser_is_adamw() -> None:
    random = np.random.default_rng(4)
    value, gradient, first = (random.normal(0, 1, 1000).astype(np.float32) for _ in range(3))
    second = random.random(1000, np.float32)
    mean, square = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
    expected = np.clip(value * 0.99 - 0.01 * mean / (np.sqrt(square) + 1e-8), -1.5, 1.5)
    sparse_net.step(value, gradient, first, second, 0.01, 0.99, 1.5)
    assert value == pytest.approx(expected, abs=1e-5)
    assert first == pytest.approx(mean, abs=1e-6)
    assert second == pytest.approx(square, abs=1e-6)


def test_arrays_of_different_lengths_are_rejected() -> None:
    parameters, inputs, targets = random_net(5)
    with pytest.raises(ValueError, match="multiple of 64"):
        sparse_net.run(parameters, None, 65, inputs, targets)
    with pytest.raises(ValueError, match="do not fit a network"):
        sparse_net.run(parameters[:-1], None, HIDDEN, inputs, targets)
    with pytest.raises(ValueError, match="differ in length"):
        sparse_net.run(parameters, parameters[:-1].copy(), HIDDEN, inputs, targets)
    with pytest.raises(ValueError, match="differ in number"):
        sparse_net.run(parameters, None, HIDDEN, inputs, targets[1:])
    with pytest.raises(ValueError, match="input 50 is out of range"):
        sparse_net.run(
            parameters, None, HIDDEN, np.full((1, ACTIVE), INPUTS, np.uint16), targets[:1]
        )
    with pytest.raises(ValueError, match="differ in length"):
        sparse_net.step(parameters, parameters, parameters, parameters[1:], 0.1, 1, 1)
    assert sparse_net.run(parameters, None, HIDDEN, inputs[:0], targets[:0]) == 0
    with pytest.raises(ValueError, match="bucket 2 is out of range: there are 2"):
        run(random_net(3, 2)[0], None, inputs, targets, 2)
    with pytest.raises(ValueError, match="samples and buckets differ"):
        sparse_net.run(parameters, None, HIDDEN, inputs, targets, buckets=buckets_of(39))


GAMES = 40
"""Games per unit of self-play: enough for a small network to learn from, whatever the bot plays."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a little self-play."""
    path = tmp_path_factory.mktemp("samples")
    with SampleStore(path, "ataxx", {}) as folder:
        for number in range(3):
            played = selfplay.play(
                selfplay.SelfplayUnit(number=number, game="ataxx", seed=1, games=GAMES, nodes=20)
            )
            folder.add(played)
    return path


@pytest.fixture(scope="module")
def samples(data: Path) -> dataset.Samples:
    return dataset.load("ataxx", [data], 16)


HYPER = Hyperparameters(epochs=3, batch=256)


def trained(samples: dataset.Samples, hyper: Hyperparameters = HYPER, threads: int = 1) -> Trainer:
    trainer = Trainer(ataxx.train.selfplay, samples, hyper, threads)
    while trainer.epoch < hyper.epochs:
        trainer.run_epoch()
    return trainer


def test_training_lowers_the_loss_on_games_it_has_not_seen(samples: dataset.Samples) -> None:
    before = Trainer(ataxx.train.selfplay, samples, HYPER).validate()
    assert trained(samples).validate() < 0.95 * before


def test_a_seed_makes_the_same_network_on_any_number_of_threads(samples: dataset.Samples) -> None:
    first = trained(samples).parameters
    assert np.array_equal(first, trained(samples, threads=2).parameters)
    assert not np.array_equal(
        first, trained(samples, Hyperparameters(epochs=3, batch=256, seed=2)).parameters
    )


def test_a_checkpoint_resumes_exactly(samples: dataset.Samples, tmp_path: Path) -> None:
    trainer = Trainer(ataxx.train.selfplay, samples, HYPER)
    trainer.run_epoch()
    training.write_checkpoint(tmp_path / "state", trainer)
    other = Trainer(ataxx.train.selfplay, samples, HYPER)
    other.restore(training.read_checkpoint(tmp_path / "state"))
    while other.epoch < HYPER.epochs:
        other.run_epoch()
    assert np.array_equal(other.parameters, trained(samples).parameters)
    with pytest.raises(QuartetError, match="not the same hyperparameters"):
        Trainer(ataxx.train.selfplay, samples, Hyperparameters()).restore(
            training.read_checkpoint(tmp_path / "state")
        )
    (tmp_path / "state").write_bytes(b"nonsense")
    with pytest.raises(TextError, match="not a checkpoint"):
        training.read_checkpoint(tmp_path / "state")


def test_targets_are_lambda_returns(samples: dataset.Samples) -> None:
    results = np.where(samples.off_path, samples.expected, (samples.results + 1) / 2)
    assert lambda_returns(samples, 1) == pytest.approx(results, abs=1e-6)
    assert 0.4 < samples.off_path.mean() < 0.5
    scores = lambda_returns(samples, 0)
    assert scores == pytest.approx(samples.expected, abs=1e-6)
    assert 0 < scores.min() < 0.2
    assert 0.8 < scores.max() < 1
    targets = lambda_returns(samples, 0.75)
    for place in range(len(samples) - 1, -1, -1):
        if samples.off_path[place]:
            following = samples.expected[place]
        elif samples.last[place]:
            following = (samples.results[place] + 1) / 2
        else:
            # the other side was skipped
            passes = (samples.plies[place + 1] - samples.plies[place]) % 2 == 0
            following = targets[place + 1] if passes else 1 - targets[place + 1]
        assert targets[place] == pytest.approx(
            0.25 * samples.expected[place] + 0.75 * following, abs=1e-5
        )
    assert (
        Trainer(ataxx.train.selfplay, samples, Hyperparameters(td_lambda=0.75))._targets.tolist()
        == targets.tolist()
    )


def test_games_are_distinguished(samples: dataset.Samples) -> None:
    assert 2 * GAMES < (samples.last & ~samples.off_path).sum() <= 3 * GAMES, (
        "a game that is solved at once has no samples"
    )
    assert samples.last[samples.off_path].all()
    sign = np.where(samples.plies % 2, -samples.results, samples.results)  # of the first seat
    within = ~samples.last[:-1]
    assert np.array_equal(sign[:-1][within], sign[1:][within])
    assert (np.diff(samples.plies.astype(int))[within] > 0).all()


def test_decided_positions_are_not_learned_from(samples: dataset.Samples) -> None:
    trainer = Trainer(ataxx.train.selfplay, samples, HYPER)
    used = np.concatenate([trainer._training, trainer._validation])
    assert 0.012 < samples.expected[used].min() < samples.expected[used].max() < 0.988
    assert samples.held_out[trainer._validation].all()
    assert not samples.held_out[trainer._training].any()


def test_a_share_of_the_off_path_samples_is_learned_from(samples: dataset.Samples) -> None:
    used = [
        Trainer(ataxx.train.selfplay, samples, replace(HYPER, off_path=share))._training
        for share in (0, 0.5, 1)
    ]
    none, half, whole = (samples.off_path[part].sum() for part in used)
    assert none == 0 < whole
    assert 0.3 * whole < half < 0.7 * whole
    assert {len(part) - samples.off_path[part].sum() for part in used} == {len(used[0])}


def test_the_output_biases_fit_the_rounded_weights(samples: dataset.Samples) -> None:
    """Check that no other bias of the written network has less loss on the samples."""
    trainer = trained(samples)
    chosen, symmetries = trainer._training, np.zeros(len(trainer._training), np.uint8)
    rounded = trainer.rounded()

    def loss(bucket: int, shift: float) -> float:
        moved = rounded.copy()
        trainer._outputs(moved)[bucket, -1] += shift
        return trainer._run(moved, chosen, symmetries, None)

    buckets = np.unique(trainer._features(chosen, symmetries)[1])
    assert len(buckets) > 4
    for bucket in buckets:
        assert loss(bucket, 0) < min(loss(bucket, -0.003), loss(bucket, 0.003))


def test_the_unit_of_the_scores_is_found() -> None:
    random = np.random.default_rng(6)
    scores = random.normal(0, 500, 50_000)
    results = np.where(random.random(50_000) < 1 / (1 + np.exp(-scores / 250)), 1, -1).astype(
        np.int8
    )
    assert dataset.unit_of_scores(scores.astype(np.int16), results) == pytest.approx(250, rel=0.05)


def test_every_folder_has_its_own_unit(data: Path, tmp_path: Path) -> None:
    """Check that engines of two generations may have other units with the same expected results."""
    with SampleStore(tmp_path, "ataxx", {}) as folder:
        for number, file in enumerate(sorted(data.glob("*.samples"))):
            played = np.frombuffer(
                read(file, "ataxx")[1],
                [("position", "u1", (16,)), ("score", "<i2"), ("rest", "u1", (4,))],
            ).copy()
            played["score"] *= 3
            folder.add(MadeSamples(Batch(number, 1, 10, 20, len(played)), played.tobytes()))
    both = dataset.load("ataxx", [data, tmp_path], 16)
    assert both.units[1] == pytest.approx(3 * both.units[0], rel=0.01)
    half = len(both) // 2
    assert both.expected[half:] == pytest.approx(both.expected[:half], abs=1e-3)


def test_integers_compute_what_the_floats_do(samples: dataset.Samples) -> None:
    trainer = trained(samples)
    weights = Weights(weight_file(trainer))
    positions = samples.positions[:200]
    inputs, buckets = trainer._features(np.arange(200), np.zeros(200, np.uint8))
    outputs = np.empty(200, np.float32)
    none = np.zeros(200, np.float32)
    sparse_net.run(trainer.rounded(), None, 64, inputs, none, outputs, buckets, 8)
    for position, output in zip(positions, outputs, strict=True):
        own, other = (
            int.from_bytes(part.tobytes(), "little") for part in (position[:8], position[8:])
        )
        assert weights.value(own, other) == pytest.approx(400 * float(output), abs=1.5)


def test_the_last_epochs_train_rounded_weights(
    samples: dataset.Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that only the last of four epochs sees weights of a file, and changes the others."""
    trainer, seen = Trainer(ataxx.train.selfplay, samples, replace(HYPER, epochs=4)), []
    run = sparse_net.run

    def record(parameters: Floats, *rest: Any, **options: Any) -> float:
        grid = trainer._outputs(parameters)[:, :-1] * 64
        seen.append(bool((grid == grid.round()).all()))
        return run(parameters, *rest, **options)

    monkeypatch.setattr(sparse_net, "run", record)
    for last in (False, False, False, True):
        seen.clear()
        before = trainer.parameters.copy()
        trainer.run_epoch()
        assert set(seen) == {last}
        assert not np.array_equal(before, trainer.parameters)
        assert not np.array_equal(trainer.rounded(), trainer.parameters)


def test_training_continues_from_weights(samples: dataset.Samples) -> None:
    first = weight_file(trained(samples))
    fresh = Trainer(ataxx.train.selfplay, samples, replace(HYPER, seed=2))
    after = Trainer(ataxx.train.selfplay, samples, replace(HYPER, seed=2), begin=first)
    assert after.parameters == pytest.approx(trained(samples).rounded(), abs=1e-6)
    assert after.validate() < fresh.validate()
    state = after.state()
    assert after.run_epoch() < fresh.run_epoch()
    with pytest.raises(QuartetError, match="not the same samples or first weights"):
        fresh.restore(state)
    with pytest.raises(QuartetError, match="have 64 hidden units, not 128: choose --hidden 64"):
        Trainer(ataxx.train.selfplay, samples, replace(HYPER, hidden=128), begin=first)
    with pytest.raises(TextError):
        Trainer(ataxx.train.selfplay, samples, HYPER, begin=first[:-1])


def test_scores_have_the_wanted_unit(samples: dataset.Samples) -> None:
    """Check that a unit of 200 points halves the scores, when training begins and ends."""
    usual = trained(samples)
    other = Trainer(
        ataxx.train.selfplay, samples, replace(HYPER, unit=200), begin=weight_file(usual)
    )
    assert other._outputs(other.parameters) == pytest.approx(
        2 * usual._outputs(usual.parameters), abs=0.02
    )
    half = Trainer(ataxx.train.selfplay, samples, replace(HYPER, unit=200))
    half.restore({**usual.state(), "recipe": half.state()["recipe"]})
    assert half.validate() == pytest.approx(usual.validate(), rel=0.05)
    (small, small_bias), (large, large_bias) = (trainer.network()[2:] for trainer in (half, usual))
    assert small == pytest.approx(large / 2)
    assert small_bias == pytest.approx(large_bias / 2)


def weight_file(trainer: Trainer) -> bytes:
    shape, body, _ = ataxx.train.selfplay.quantised(*trainer.network())
    return seal("weights", {"game": "ataxx", **shape}, body)


def test_bad_samples_are_rejected(data: Path, samples: dataset.Samples, tmp_path: Path) -> None:
    with pytest.raises(QuartetError, match="multiple of 64"):
        Trainer(ataxx.train.selfplay, samples, Hyperparameters(hidden=65))
    with pytest.raises(QuartetError, match="two files"):
        dataset.load("ataxx", [tmp_path], 16)
    for number in (0, 1):
        (tmp_path / f"{number}.samples").write_bytes(seal("samples", {"game": "ataxx"}, b"odd"))
    with pytest.raises(TextError, match="3 bytes"):
        dataset.load("ataxx", [tmp_path], 16)
    for number in (0, 1):
        (tmp_path / f"{number}.samples").write_bytes(seal("samples", {"game": "ataxx"}, bytes(22)))
    with pytest.raises(TextError, match="does not say where its games begin"):
        dataset.load("ataxx", [tmp_path], 16)
    with pytest.raises(TextError, match="for 'ataxx', not for 'nim'"):
        dataset.load("nim", [data], 16)
    with pytest.raises(QuartetError, match="name each folder once"):
        dataset.load("ataxx", [data, data], 16)


def test_from_selfplay_to_weights(tmp_path: Path) -> None:
    def quartet(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "quartet", *arguments],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    games, out, mine = tmp_path / "games", tmp_path / "weights.bin", tmp_path / "notes"
    quartet(
        "selfplay", "ataxx", "--games", "64", "--nodes", "10", "--jobs", "1", "--out", str(games)
    )
    said = quartet(
        "train",
        "ataxx",
        str(games),
        "--out",
        str(out),
        "--epochs",
        "3",
        "--batch",
        "256",
        "--jobs",
        "1",
    )
    losses = [
        float(line.rpartition(" ")[2]) for line in said.splitlines() if line.startswith("epoch")
    ]
    assert len(losses) == 3
    assert losses[2] < losses[0]
    weights = Weights(out.read_bytes())
    assert weights.fields["seed"] == "1"
    assert weights.fields["command"].startswith("quartet train ataxx")
    assert len(weights.fields["data"].split()[0]) == 16
    assert not out.with_name("weights.bin.checkpoint").exists()
    mine.write_text("mine")
    with pytest.raises(QuartetError, match="notes exists and holds something else"):
        cli.main(["train", "ataxx", str(games), "--out", str(mine)], standalone_mode=False)
    assert mine.read_text() == "mine"
    command = ["train", "ataxx", str(games), "--out", str(out), "--epochs", "1"]
    lock = out.with_name("weights.bin.lock")
    assert not lock.exists()
    held = locked(lock)
    assert held is not None
    with held, pytest.raises(QuartetError, match=r"another process trains .*weights\.bin"):
        cli.main(command, standalone_mode=False)
    out.with_name("weights.bin.checkpoint").write_bytes(b"text")
    with pytest.raises(TextError, match="is not a checkpoint; remove it to start again"):
        cli.main(command, standalone_mode=False)


def test_training_names_the_extra_that_is_missing() -> None:
    code = "import sys; sys.modules['numpy'] = None; from quartet.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "train", "ataxx", str(ROOT), "--out", "weights.bin"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert done.stderr.startswith("quartet: training needs numpy: "), done.stderr
    assert done.stderr.count("\n") == 1
