"""Training of a game's evaluation network from samples of self-play (`quartet.training.dataset`).

While training, weights of inputs with the same meaning at different places (`SHARED`) are the sum
of a common part and a part of their own.
"""

from __future__ import annotations

import hashlib
import io
import math
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.errors import QuartetError, TextError
from core.nn import learning, sparse_net
from core.nn.contract import Training
from core.nn.learning import SLICES
from quartet.arena.files import write_whole
from quartet.training.dataset import Samples, lambda_returns

if TYPE_CHECKING:
    from core.nn.contract import Network

MAX_WEIGHT = 127 / 64
"""Bound of all weights; the integers at run time need it."""
DECIDED = 0.012
"""Positions with an expected result below this, or above 1 - DECIDED, are not learned from: a
search sees their result itself. Not tuned."""
ROUNDED = 0.25
"""Part of the epochs, the last ones, that compute the loss with the weights as the file rounds them
(quantisation-aware training; docs/experiments/029)."""
FITTED = 200_000
"""Samples to which the output biases are fitted after training, at most. Not tuned."""


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
        unit: Points of the engine's score that the network writes for a logit of 1; 0: as many as
            the game's format of weights. A search's margins are tuned for one unit.
        off_path: Share of the off-path samples that are learned from, drawn by the seed.
    """

    hidden: int = 64
    epochs: int = 30
    batch: int = 16384
    rate: float = 0.002
    decay: float = 0.01
    td_lambda: float = 0.93
    seed: int = 1
    unit: int = 0
    off_path: float = 1.0


class Trainer:
    """The training of a network.

    Attributes:
        hyper: Its hyperparameters.
        parameters: All weights, in the order of `core.nn.sparse_net`.
        epoch: Finished epochs.
    """

    def __init__(
        self,
        game: Training,
        samples: Samples,
        hyper: Hyperparameters,
        threads: int = 1,
        begin: bytes | None = None,
    ) -> None:
        """Initialise the network.

        Args:
            game: The game's module.
            samples: The samples.
            hyper: The hyperparameters.
            threads: Number of threads.
            begin: A file of weights to continue from; None: random first weights.

        Raises:
            QuartetError: The network has no such size, or `begin` has another one.
            TextError: `begin` is no file of weights of this game.
        """
        if hyper.hidden % sparse_net.BLOCK or not 0 < hyper.hidden <= sparse_net.MAX_HIDDEN:
            raise QuartetError(
                f"the number of hidden units is a multiple of {sparse_net.BLOCK}, at most "
                f"{sparse_net.MAX_HIDDEN}"
            )
        self._game, self._samples, self.hyper = game, samples, hyper
        self._targets = lambda_returns(samples, hyper.td_lambda)
        drawn = np.random.default_rng(hyper.seed).random(len(samples)) < hyper.off_path
        learned = (abs(samples.expected - 0.5) < 0.5 - DECIDED) & (~samples.off_path | drawn)
        self._training = np.flatnonzero(learned & ~samples.held_out)
        self._validation = np.flatnonzero(learned & samples.held_out)
        self.epoch = 0
        hidden, rows = hyper.hidden, game.INPUTS * hyper.hidden
        self._rows, self._groups = rows, game.SHARED * hidden
        random = np.random.default_rng([hyper.seed, 0])
        others = hidden + game.BUCKETS * (hidden + 1)
        # Rows (their own parts, then the common ones), bias, outputs; with both AdamW moments.
        self._state = np.zeros((3, rows + self._groups + others), np.float32)
        self._own, self._common, self._rest = np.split(self._state[0], [rows, rows + self._groups])
        spread = 1 / np.sqrt(game.ACTIVE)
        self._common[:] = random.uniform(-spread, spread, self._groups)
        self._outputs(self._state[0])[:, :-1] = random.uniform(-1, 1, hidden) / np.sqrt(hidden)
        self.parameters = np.empty(rows + others, np.float32)
        self._unit = (hyper.unit or game.POINTS) / game.POINTS
        self._begin = ""
        if begin is not None:
            self._begin = hashlib.sha256(begin).hexdigest()[:16]
            self._continue_from(game.floats(begin))
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
        if self.epoch == self.hyper.epochs:
            self._fit_output_biases()
        return loss / seen

    def rounded(self) -> NDArray[np.float32]:
        """Return the parameters as the file of weights rounds them."""
        return self._joined(self._game.quantised(*self.network())[2])

    def _fit_output_biases(self) -> None:
        """Fit the output biases to the rounded weights, whose errors shift all outputs of a bucket
        alike (docs/experiments/030)."""
        some = self._training[:: -(-len(self._training) // FITTED)].copy()
        symmetries = np.zeros(len(some), np.uint8)
        _, buckets = self._features(some, symmetries)
        rounded = self.rounded()
        for bucket in np.unique(buckets):
            fitted = self._fitted_bias(rounded, some[buckets == bucket], bucket)
            self._outputs(self._state[0])[bucket, -1] = fitted
        self._merge()

    def _fitted_bias(
        self, parameters: NDArray[np.float32], chosen: NDArray[np.int64], bucket: int
    ) -> float:
        """Return the output bias of a bucket with the least loss on these samples of it."""
        symmetries = np.zeros(len(chosen), np.uint8)
        output = self._outputs(parameters)[bucket]
        start = float(output[-1])

        def loss(odds: float) -> float:  # golden_section looks for a positive number
            output[-1] = start + math.log(odds)
            return self._run(parameters, chosen, symmetries, None)

        return start + math.log(learning.golden_section(loss, 0.5, 2, 20))

    def validate(self) -> float:
        """Return the mean loss of the rounded parameters on the held-out samples."""
        symmetries = np.zeros(len(self._validation), np.uint8)
        return self._run(self.rounded(), self._validation, symmetries, None) / len(symmetries)

    def network(self) -> Network:
        """Return the network as floats.

        The network's output, times the game's POINTS, is the score: hyper.unit times the logit.
        """
        hidden = self.hyper.hidden
        rows, bias = np.split(self.parameters[: self._rows + hidden], [self._rows])
        outputs = self._outputs(self.parameters) * np.float32(self._unit)
        return rows.reshape(-1, hidden), bias, outputs[:, :-1], outputs[:, -1]

    def state(self) -> dict[str, Any]:
        """Return the content of a checkpoint."""
        return {
            "state": self._state,
            "epoch": self.epoch,
            "recipe": repr(asdict(self.hyper) | {"buckets": self._game.BUCKETS}),
            "data": self._samples.digest + self._begin,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from a checkpoint. Raises QuartetError if it is of another training."""
        mine = self.state()
        # version 1.0 called it trace
        recipe = str(state["recipe"]).replace("'trace'", "'td_lambda'")
        later = {"unit": 0, "off_path": 1.0, "buckets": 1}  # nor did it have these
        for name, value in later.items():
            if f"'{name}'" not in recipe:
                recipe = recipe.replace("}", f", '{name}': {value}}}")
        state = {**state, "recipe": recipe}
        for name, what in (("recipe", "hyperparameters"), ("data", "samples or first weights")):
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
            inputs, buckets = self._features(chosen[part], symmetries[part])
            gradient = None
            if gradients is not None:
                gradient = gradients[number]
                gradient[:] = 0
            try:
                return sparse_net.run(
                    parameters,
                    gradient,
                    self.hyper.hidden,
                    inputs,
                    self._targets[chosen[part]],
                    buckets=buckets,
                    bucket_count=self._game.BUCKETS,
                )
            except ValueError as error:  # although its checksum is right
                raise TextError(f"a sample holds no position: {error}") from error

        return sum(self._pool.map(slice_of, range(SLICES)))

    def _step(self, chosen: NDArray[np.int64], symmetries: NDArray[np.uint8], number: int) -> float:
        rounded = self.epoch + 1 > (1 - ROUNDED) * self.hyper.epochs
        used = self.rounded() if rounded else self.parameters
        loss = self._run(used, chosen, symmetries, self._gradients)
        gradient = self._gradients[0]
        for other in self._gradients[1:]:
            gradient += other
        gradient /= len(chosen)
        common = gradient[: self._rows].reshape(-1, self._groups).sum(0)
        cuts = [number * self._rows // SLICES for number in range(SLICES + 1)]
        rows = self._rows + self._groups
        # A row is the sum of two parts: each gets half of the bound.
        parts = [
            *((slice(*cut), gradient[slice(*cut)], MAX_WEIGHT / 2) for cut in pairwise(cuts)),
            (slice(self._rows, rows), common, MAX_WEIGHT / 2),
            (slice(rows, None), gradient[self._rows :], MAX_WEIGHT),
        ]
        rate = learning.rate_at(self.hyper.rate, number, self.hyper.epochs * self.steps)
        decay = 1 - rate * self.hyper.decay
        rate *= learning.correction(number)

        def step(part: tuple[slice, NDArray[np.float32], float]) -> None:
            place, slope, most = part
            parameters, first, second = (state[place] for state in self._state)
            sparse_net.step(parameters, slope, first, second, rate, decay, most)

        list(self._pool.map(step, parts))
        self._merge()
        return loss

    def _features(
        self, chosen: NDArray[np.int64], symmetries: NDArray[np.uint8]
    ) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
        """Return the active inputs and the buckets of some samples."""
        inputs = np.empty((len(chosen), self._game.ACTIVE), np.uint16)
        buckets = np.empty(len(chosen), np.uint8)
        self._game.features(self._samples.positions, chosen, symmetries, inputs, buckets)
        return inputs, buckets

    def _outputs(self, parameters: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return a view of the outputs [buckets][hidden + 1]: the weights, then the bias."""
        size = self.hyper.hidden + 1
        return parameters[-self._game.BUCKETS * size :].reshape(-1, size)

    def _joined(self, network: Network) -> NDArray[np.float32]:
        """Return a network, in the form of `Trainer.network`, as parameters."""
        rows, bias, output, output_bias = network
        outputs = np.column_stack([output, output_bias]) / np.float32(self._unit)
        return np.concatenate([rows.ravel(), bias, outputs.ravel()])

    def _continue_from(self, network: Network) -> None:
        """Begin with a network in the form of `Trainer.network`. The mean of the inputs with the
        same meaning is their common part."""
        rows, bias, output, output_bias = network
        hidden = self.hyper.hidden
        if len(bias) != hidden:
            raise QuartetError(
                f"the weights to continue from have {len(bias)} hidden units, not {hidden}: choose "
                f"--hidden {len(bias)}"
            )
        parts = rows.reshape(-1, self._game.SHARED, hidden)
        common = parts.mean(0).clip(-MAX_WEIGHT / 2, MAX_WEIGHT / 2)
        own = (parts - common).clip(-MAX_WEIGHT / 2, MAX_WEIGHT / 2)
        rest = self._joined((common, bias, output, output_bias))
        self._state[0] = np.concatenate([own.ravel(), rest])

    def _merge(self) -> None:
        """Set the parameters to the sums of their parts."""
        rows = self.parameters[: self._rows].reshape(-1, self._groups)
        np.add(self._own.reshape(-1, self._groups), self._common, out=rows)
        self.parameters[self._rows :] = self._rest


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
        raise TextError(f"{file} is not a checkpoint; remove it to start again") from error
