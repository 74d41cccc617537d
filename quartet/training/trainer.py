"""Training of a game's evaluation network from samples of self-play.

The target of a position is its lambda-return (`core.nn.learning`) of two figures: the search's
expected result, sigmoid(score / unit), and the game's result, 1, 0.5 or 0. So a position learns
what the search found some plies later. The target of an off-path position is the search's expected
result.

The engine's unit is measured on the samples of each folder: with it, sigmoid(score / unit) predicts
the results best. So samples of engines with other units, or overconfident ones, can be mixed.

While training, weights of inputs with the same meaning at different places (`SHARED`) are the sum
of a common part and a part of their own.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import QuartetError, TextError
from core.nn import learning, sparse_net
from core.nn.contract import ASIDE, FIRST, Training
from core.nn.learning import HELD_OUT, SLICES
from quartet.arena.files import write_whole
from quartet.training.samples import TAIL, files, read

MAX_WEIGHT = 127 / 64
"""Bound of all weights; the integers at run time need it."""
DECIDED = 0.012
"""Positions with an expected result below this, or above 1 - DECIDED, are not learned from: a
search sees their result itself. Not tuned."""


@dataclass(frozen=True)
class Hyperparameters:
    """All that a network depends on, apart from the samples.

    Attributes:
        hidden: Hidden units.
        epochs: Passes through all samples.
        batch: Samples per step.
        rate: Highest learning rate of AdamW.
        decay: Weight decay, times the rate.
        td_lambda: Lambda of the targets; 0: score alone, 1: result alone.
        seed: Seed of first weights, order and symmetries.
    """

    hidden: int = 64
    epochs: int = 30
    batch: int = 16384
    rate: float = 0.002
    decay: float = 0.01
    td_lambda: float = 0.93
    seed: int = 1


@dataclass(frozen=True)
class Samples:
    """Samples in memory.

    Attributes:
        positions: Encoded positions, a row each.
        expected: Expected results of the search for the side to move, 0 .. 1.
        results: Results for the side to move, -1, 0 or 1.
        plies: Plies.
        last: The sample is the last one of its game.
        aside: The sample is off-path.
        held_out: The sample is for validation.
        units: Unit of the scores of each folder.
        digest: Digest of all files, in order.
    """

    positions: NDArray[np.uint8]
    expected: NDArray[np.float32]
    results: NDArray[np.int8]
    plies: NDArray[np.uint16]
    last: NDArray[np.bool_]
    aside: NDArray[np.bool_]
    held_out: NDArray[np.bool_]
    units: list[float]
    digest: str

    def __len__(self) -> int:
        return len(self.results)


def load(
    game: str,
    folders: Sequence[Path],
    position_bytes: int,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Samples:
    """Read all samples of some folders.

    Args:
        game: The game's name.
        folders: The folders.
        position_bytes: Bytes of a position.
        progress: Called with the number of files that are read, and of all files.

    Raises:
        QuartetError: There are too few samples.
        TextError: A file is damaged.
    """
    found = [files(folder) for folder in folders]
    total = sum(map(len, found))
    for folder, paths in zip(folders, found, strict=True):
        if len(paths) < 2:
            raise QuartetError(
                f"training takes two files of samples at least; {folder} has {len(paths)}"
            )
    kind = np.dtype(
        [
            ("position", "u1", (position_bytes,)),
            ("score", "<i2"),
            ("ply", "<u2"),
            ("result", "i1"),
            ("flags", "u1"),
        ]
    )
    assert kind.itemsize == position_bytes + TAIL.size  # noqa: S101
    size = sum(path.stat().st_size for paths in found for path in paths) // kind.itemsize
    positions = np.empty((size, position_bytes), np.uint8)
    expected = np.empty(size, np.float32)
    results, plies = np.empty(size, np.int8), np.empty(size, np.uint16)
    last, aside, held_out = (np.empty(size, np.bool_) for _ in range(3))
    units = []
    count = done = 0
    digest = hashlib.sha256()
    for folder, paths in zip(folders, found, strict=True):
        first = count
        for path in paths:
            body = read(path, game)[1]
            if len(body) % kind.itemsize:
                raise TextError(
                    f"{path} holds {len(body)} bytes, not a multiple of a sample's {kind.itemsize}"
                )
            digest.update(hashlib.sha256(body).digest())
            samples = np.frombuffer(body, kind)
            part = slice(count, count + len(samples))
            positions[part], expected[part] = samples["position"], samples["score"]
            plies[part], results[part] = samples["ply"], samples["result"]
            last[part] = last_of_games(samples["flags"], path)
            aside[part] = samples["flags"] & ASIDE > 0
            held_out[part] = done % HELD_OUT == 0
            count += len(samples)
            done += 1
            progress(done, total)
        whole = slice(first, count)
        played = ~aside[whole]
        if not played.any():
            raise QuartetError(f"no sample in {folder} is of a game")
        units.append(unit_of_scores(expected[whole][played], results[whole][played]))
        expected[whole] = sigmoid(expected[whole] / np.float32(units[-1]))
    cut = slice(count)
    return Samples(
        *(positions[cut], expected[cut], results[cut], plies[cut], last[cut], aside[cut]),
        *(held_out[cut], units, digest.hexdigest()[:16]),
    )


def last_of_games(flags: NDArray[np.uint8], path: Path) -> NDArray[np.bool_]:
    """Return which samples of a file are the last ones of their games.

    Raises TextError if the file does not mark where games begin.
    """
    first = (flags & FIRST) > 0
    if len(first) and not first[0]:
        raise TextError(f"{path} does not say where its games begin; an older version made it")
    return np.append(first[1:], np.True_)[: len(first)]


def lambda_returns(samples: Samples, td_lambda: float) -> NDArray[np.float32]:
    """Return the targets of the samples, each for its side to move, 0 .. 1."""
    odd = (samples.plies & 1).astype(np.bool_)
    # From here on for the first seat.
    expected = np.where(odd, 1 - samples.expected, samples.expected)
    results = (samples.results.astype(np.float32) + 1) / 2
    targets = learning.lambda_returns(
        expected, np.where(odd, 1 - results, results), samples.last, td_lambda
    )
    targets[samples.aside] = expected[samples.aside]
    return np.where(odd, 1 - targets, targets).astype(np.float32)


def unit_of_scores(scores: NDArray[Any], results: NDArray[np.int8]) -> float:
    """Return the unit with which sigmoid(score / unit) predicts the results with the least squared
    error."""
    step = max(1, len(scores) // 200_000)
    some, wins = scores[::step].astype(np.float64), (results[::step] + 1) / 2
    return learning.golden_section(
        lambda unit: float(np.mean((sigmoid(some / unit) - wins) ** 2)), 10, 10_000, 30
    )


def sigmoid(x: NDArray[Any]) -> NDArray[Any]:
    value: NDArray[Any] = 1 / (1 + np.exp(-x))
    return value


class Trainer:
    """The training of a network.

    Attributes:
        hyper: Its hyperparameters.
        parameters: Rows, bias, output and output bias, concatenated.
        epoch: Finished epochs.
    """

    def __init__(
        self, game: Training, samples: Samples, hyper: Hyperparameters, threads: int = 1
    ) -> None:
        """Initialise the network. Raises QuartetError if it has no such size."""
        if hyper.hidden % sparse_net.BLOCK or not 0 < hyper.hidden <= sparse_net.MAX_HIDDEN:
            raise QuartetError(
                f"the number of hidden units is a multiple of {sparse_net.BLOCK}, at most "
                f"{sparse_net.MAX_HIDDEN}"
            )
        self._game, self._samples, self.hyper = game, samples, hyper
        self._targets = lambda_returns(samples, hyper.td_lambda)
        learned = game.open_positions(samples.positions) & (
            abs(samples.expected - 0.5) < 0.5 - DECIDED
        )
        self._training = np.flatnonzero(learned & ~samples.held_out)
        self._validation = np.flatnonzero(learned & samples.held_out)
        self.epoch = 0
        hidden, rows = hyper.hidden, game.INPUTS * hyper.hidden
        self._rows, self._groups = rows, game.SHARED * hidden
        random = np.random.default_rng([hyper.seed, 0])
        # Rows (their own parts, then the common ones), bias, output, output bias; with both AdamW
        # moments.
        self._state = np.zeros((3, rows + self._groups + 2 * hidden + 1), np.float32)
        spread = 1 / np.sqrt(game.ACTIVE)
        common = self._state[0, rows : rows + self._groups]
        common[:] = random.uniform(-spread, spread, self._groups)
        weights = self._state[0, rows + self._groups + hidden : -1]
        weights[:] = random.uniform(-1, 1, hidden) / np.sqrt(hidden)
        self.parameters = np.empty(rows + 2 * hidden + 1, np.float32)
        self._merge()
        self._pool = ThreadPoolExecutor(threads)
        self._gradients = [np.zeros_like(self.parameters) for _ in range(SLICES)]

    @property
    def steps(self) -> int:
        """Steps of an epoch."""
        return max(1, len(self._training) // self.hyper.batch)

    def run_epoch(self, progress: Callable[[], None] = lambda: None) -> float:
        """Train on all samples once, and return the mean loss; call `progress` after every step."""
        random = np.random.default_rng([self.hyper.seed, 1 + self.epoch])
        order = self._training[random.permutation(len(self._training))]
        loss, seen = 0.0, 0
        for step in range(self.steps):
            chosen = order[step * self.hyper.batch : (step + 1) * self.hyper.batch]
            symmetries = random.integers(0, self._game.SYMMETRIES, len(chosen), dtype=np.uint8)
            loss += self._step(chosen, symmetries, self.epoch * self.steps + step)
            seen += len(chosen)
            progress()
        self.epoch += 1
        return loss / seen

    def validate(self, parameters: NDArray[np.float32] | None = None) -> float:
        """Return the mean loss on the held-out samples.

        Args:
            parameters: Another network of the same shape, None for this one.
        """
        mine = self.parameters if parameters is None else parameters
        return self._run(
            mine, self._validation, np.zeros(len(self._validation), np.uint8), None
        ) / len(self._validation)

    def network(
        self,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32], float]:
        """Return rows, bias, output and output bias."""
        hidden = self.hyper.hidden
        rows, bias, output = np.split(self.parameters[:-1], [self._rows, self._rows + hidden])
        return rows.reshape(-1, hidden), bias, output, float(self.parameters[-1])

    def state(self) -> dict[str, Any]:
        """Return the content of a checkpoint."""
        return {
            "state": self._state,
            "epoch": self.epoch,
            "recipe": repr(asdict(self.hyper)),
            "data": self._samples.digest,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from a checkpoint. Raises QuartetError if it is of another training."""
        mine = self.state()
        # version 1.0 called it trace
        state = {**state, "recipe": str(state["recipe"]).replace("'trace'", "'td_lambda'")}
        for name, what in (("recipe", "hyperparameters"), ("data", "samples")):
            if str(state[name]) != str(mine[name]):
                raise QuartetError(
                    f"the checkpoint is of another training (not the same {what}); remove it to "
                    "start again"
                )
        self._state[:] = state["state"]
        self.epoch = int(state["epoch"])
        self._merge()

    def _run(
        self,
        parameters: NDArray[np.float32],
        chosen: NDArray[np.int64],
        symmetries: NDArray[np.uint8],
        gradients: list[NDArray[np.float32]] | None,
    ) -> float:
        """Return the summed loss of the chosen samples; `gradients` receive those of the slices."""

        def slice_of(number: int) -> float:
            part = slice(number * len(chosen) // SLICES, (number + 1) * len(chosen) // SLICES)
            inputs = np.empty((len(chosen[part]), self._game.ACTIVE), np.uint16)
            self._game.features(self._samples.positions, chosen[part], symmetries[part], inputs)
            gradient = None
            if gradients is not None:
                gradient = gradients[number]
                gradient[:] = 0
            try:
                return sparse_net.run(
                    parameters, gradient, self.hyper.hidden, inputs, self._targets[chosen[part]]
                )
            except ValueError as error:  # although its checksum is right
                raise TextError(f"a sample holds no position: {error}") from error

        return sum(self._pool.map(slice_of, range(SLICES)))

    def _step(self, chosen: NDArray[np.int64], symmetries: NDArray[np.uint8], number: int) -> float:
        loss = self._run(self.parameters, chosen, symmetries, self._gradients)
        gradient = self._gradients[0]
        for other in self._gradients[1:]:
            gradient += other
        gradient /= len(chosen)
        common = gradient[: self._rows].reshape(-1, self._groups).sum(0)
        whole = np.concatenate([gradient[: self._rows], common, gradient[self._rows :]])
        rate = learning.rate_at(self.hyper.rate, number, self.hyper.epochs * self.steps)
        decay = 1 - rate * self.hyper.decay
        rows = self._rows + self._groups
        # A row is the sum of two parts: each gets half of the bound.
        for part, most in ((slice(0, rows), MAX_WEIGHT / 2), (slice(rows, None), MAX_WEIGHT)):
            parameters, first, second = (state[part] for state in self._state)
            sparse_net.step(
                parameters,
                whole[part],
                first,
                second,
                rate * learning.correction(number),
                decay,
                most,
            )
        self._merge()
        return loss

    def _merge(self) -> None:
        own, common, rest = np.split(self._state[0], [self._rows, self._rows + self._groups])
        self.parameters[: self._rows] = (own.reshape(-1, self._groups) + common).ravel()
        self.parameters[self._rows :] = rest


def write_checkpoint(file: Path, trainer: Trainer) -> None:
    """Write the state of a training as a whole file."""
    buffer = io.BytesIO()
    np.savez(buffer, **trainer.state())
    write_whole(file, buffer.getvalue())


def read_checkpoint(file: Path) -> dict[str, Any]:
    """Return what `write_checkpoint` wrote. Raises TextError if the file is not a checkpoint."""
    try:
        with np.load(file) as state:
            return {name: state[name] for name in ("state", "epoch", "recipe", "data")}
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise TextError(f"{file} is not a checkpoint: {error}; remove it to start again") from error
