"""Training of Ugolki's networks on samples of games; ugolki/nn/network.h describes the networks.

The solo network learns solo distances from the exact table (solo.h). The others end in a softmax
(`core.nn.sparse_net.run_softmax`):

- Value network: over the seats. Its targets are lambda-returns (`core.nn.learning`) of win shares.
- Policy network: over the moves. Its targets are the search's visits.
- Opponents' network: over the moves. Its targets are the moves that other players made.
"""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from core.errors import TextError
from core.nn import sparse_net
from core.nn.learning import SLICES, correction, rate_at
from ugolki.geometry import SEATS, SIZE, seen
from ugolki.train import features
from ugolki.train.selfplay import NOWHERE
from ugolki.train.table_samples import TableSamples

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Loss = Callable[[NDArray[np.float32], NDArray[np.float32] | None, NDArray[np.int64]], float]
    """Maps parameters, a gradient array or None, and sample numbers to the summed loss.

    It adds the gradient to the array."""

ROWS_A_POSITION = 40
"""Room for moves, as a mean per position."""
DECAY = 0.01
"""Weight decay per step, as a multiple of the learning rate."""
MIDDLE = 8
"""Solo distance, in moves, at which the solo network is most exact."""
MOVED = 3
"""Placements with a moved piece, for each placement of the samples."""
CHUNK = 1 << 22
"""Placements per task of a thread."""


class Net:
    """A network in training.

    Attributes:
        parameters: Rows, biases, output weights and output bias, in one array.
    """

    def __init__(
        self, inputs: int, active: int, seed: int, rate: float, steps: int, threads: int
    ) -> None:
        hidden, rows = features.HIDDEN, inputs * features.HIDDEN
        random = np.random.default_rng(seed)
        self._state = np.zeros((3, rows + 2 * hidden + 1), np.float32)
        self.parameters = self._state[0]
        self.parameters[:rows] = random.uniform(-1, 1, rows) / np.sqrt(active)
        self.parameters[rows + hidden : -1] = random.uniform(-1, 1, hidden) / np.sqrt(hidden)
        self._output = rows + hidden
        self._rate, self._steps, self._done = rate, steps, 0
        self._pool = ThreadPoolExecutor(threads)
        self._gradients = [np.zeros_like(self.parameters) for _ in range(SLICES)]

    def loss(
        self, of: Loss, chosen: NDArray[np.int64], parameters: NDArray[np.float32] | None = None
    ) -> float:
        """Return the mean loss on some samples, of this network or of other parameters."""
        mine = self.parameters if parameters is None else parameters
        parts = [chosen[first : first + 4096] for first in range(0, len(chosen), 4096)]
        return sum(self._pool.map(lambda part: of(mine, None, part), parts)) / len(chosen)

    def step(self, of: Loss, chosen: NDArray[np.int64]) -> float:
        """Make one step of AdamW on some samples. Return their mean loss before it."""

        def slice_of(number: int) -> float:
            self._gradients[number][:] = 0
            part = chosen[number * len(chosen) // SLICES : (number + 1) * len(chosen) // SLICES]
            return of(self.parameters, self._gradients[number], part)

        loss = sum(self._pool.map(slice_of, range(SLICES)))
        gradient = self._gradients[0]
        for other in self._gradients[1:]:
            gradient += other
        gradient /= len(chosen)
        rate = rate_at(self._rate, self._done, self._steps)
        for part, bound in (
            (slice(0, self._output), features.MAX_ROW),
            (slice(self._output, None), features.MAX_OUTPUT),
        ):
            parameters, first, second = (state[part] for state in self._state)
            sparse_net.step(
                parameters,
                gradient[part],
                first,
                second,
                rate * correction(self._done),
                1 - rate * DECAY,
                bound,
            )
        self._done += 1
        return loss / len(chosen)


def trained(
    net: Net,
    of: Loss,
    training: NDArray[np.int64],
    batch: int,
    epochs: int,
    seed: int,
    progress: Callable[[int, float], None],
) -> None:
    """Train a network.

    Args:
        net: The network.
        of: Its loss.
        training: Numbers of the training samples.
        batch: Samples per step.
        epochs: Passes over the samples.
        seed: Seed of the order.
        progress: Called after each epoch with its number, from 1, and the mean loss.
    """
    steps = len(training) // batch
    for epoch in range(epochs):
        order = training[np.random.default_rng([seed, epoch]).permutation(len(training))]
        loss = (
            sum(net.step(of, order[step * batch : (step + 1) * batch]) for step in range(steps))
            / steps
        )
        progress(epoch + 1, loss)


def fitted(
    samples: TableSamples,
    of: Loss,
    batch: int,
    epochs: int,
    rate: float,
    seed: int,
    threads: int,
    say: Callable[[str], None],
    begin: bytes | None = None,
) -> bytes:
    """Train a value or policy network on the samples that are not held out.

    Args:
        samples: The samples.
        of: Loss of the network.
        batch: Samples per step.
        epochs: Passes over the samples.
        rate: Highest learning rate.
        seed: Seed of initial weights and order.
        threads: Number of threads.
        say: Called with lines of progress.
        begin: Integers of the network to start from; None: random weights.

    Returns:
        The integers of the network.
    """
    training, held_out = np.flatnonzero(~samples.held_out), np.flatnonzero(samples.held_out)
    batch = min(batch, len(training))
    net = Net(
        features.INPUTS, features.ACTIVE, seed, rate, epochs * (len(training) // batch), threads
    )
    if begin is not None:
        net.parameters[:] = floats(begin)

    def progress(epoch: int, loss: float) -> None:
        say(f"epoch {epoch}: loss {loss:.5f}, held out {net.loss(of, held_out):.5f}")

    trained(net, of, training, batch, epochs, seed, progress)
    body, rounded = quantised(net.parameters)
    say(f"with rounded weights, held out: {net.loss(of, held_out, rounded):.5f}")
    return body


def value_loss(samples: TableSamples, targets: NDArray[np.float32], solo: bytes) -> Loss:
    """Return the loss of the value network.

    Args:
        samples: The samples.
        targets: Their targets, of `targets_of`.
        solo: Integers of the solo network, which gives some of the inputs.
    """

    def loss(
        parameters: NDArray[np.float32],
        gradient: NDArray[np.float32] | None,
        chosen: NDArray[np.int64],
    ) -> float:
        inputs = np.empty((4 * len(chosen), features.ACTIVE), np.uint16)
        playing = np.empty((len(chosen), 4), np.uint8)
        count = features.seats_of(solo, samples.records, chosen, playing, inputs)
        mask = playing > 0
        sizes = mask.sum(1, dtype=np.int32)
        return sparse_net.run_softmax(
            parameters, gradient, features.HIDDEN, inputs[:count], targets[chosen][mask], sizes
        )

    return loss


def policy_loss(samples: TableSamples, solo: bytes) -> Loss:
    """Return the loss of the policy network or the opponents' network.

    Args:
        samples: The samples.
        solo: Integers of the solo network, which gives some of the inputs.
    """

    def loss(
        parameters: NDArray[np.float32],
        gradient: NDArray[np.float32] | None,
        chosen: NDArray[np.int64],
    ) -> float:
        inputs = np.empty((ROWS_A_POSITION * len(chosen), features.ACTIVE), np.uint16)
        visits = np.empty(len(inputs), np.float32)
        sizes = np.empty(len(chosen), np.int32)
        count = features.moves_of(solo, samples.records, chosen, sizes, visits, inputs)
        sizes = sizes[sizes > 0]
        groups = np.repeat(np.arange(len(sizes)), sizes)
        totals = np.bincount(groups, visits[:count], len(sizes)).astype(np.float32)
        targets = visits[:count] / np.maximum(totals, 1)[groups]
        return sparse_net.run_softmax(
            parameters, gradient, features.HIDDEN, inputs[:count], targets, sizes
        )

    return loss


def solo_loss(placements: NDArray[np.uint8], moves: NDArray[np.float32]) -> Loss:
    """Return the loss of the solo network: squared errors that weigh less far from MIDDLE.

    The network's output is (moves - MIDDLE) / MIDDLE.
    """
    targets = 1 / (1 + np.exp(1 - moves / MIDDLE))

    def loss(
        parameters: NDArray[np.float32],
        gradient: NDArray[np.float32] | None,
        chosen: NDArray[np.int64],
    ) -> float:
        return sparse_net.run(
            parameters,
            gradient,
            features.HIDDEN,
            placements[chosen].astype(np.uint16),
            targets[chosen],
        )

    return loss


def quantised(parameters: NDArray[np.float32]) -> tuple[bytes, NDArray[np.float32]]:
    """Return the integers of a value or policy network as in the file of weights, and the
    parameters that they stand for."""
    hidden = features.HIDDEN
    first = (parameters[: -hidden - 1] * features.ONE).round()
    output = (parameters[-hidden - 1 : -1] * features.OUTPUT_ONE).round()
    body = first.astype("<i2").tobytes() + output.astype("<i2").tobytes()
    return body, floats(body)


def floats(body: bytes) -> NDArray[np.float32]:
    """Return the parameters of a value or policy network from its integers."""
    numbers = np.frombuffer(body, "<i2").astype(np.float32)
    first, output = numbers[: -features.HIDDEN], numbers[-features.HIDDEN :]
    return np.concatenate([first / features.ONE, output / features.OUTPUT_ONE, [0]]).astype(
        np.float32
    )


def networks_of(body: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    """Split a file of weights: (value, policy, opponents', solo network).

    Raises:
        TextError: It has the wrong size.
    """
    size = 2 * (features.INPUTS + 2) * features.HIDDEN
    whole = 3 * size + 2 * (features.CELLS + 2) * features.HIDDEN + 2
    if len(body) != whole:
        raise TextError(f"the weights of Ugolki take {whole} bytes, not {len(body)}")
    return body[:size], body[size : 2 * size], body[2 * size : 3 * size], body[3 * size :]


def quantised_solo(parameters: NDArray[np.float32]) -> bytes:
    """Return the integers of a solo network."""
    hidden = features.HIDDEN
    first = (parameters[: -hidden - 1] * features.ONE).round()
    output = (parameters[-hidden - 1 : -1] * MIDDLE * features.SOLO_ONE).round()
    bias = round((1 + float(parameters[-1])) * MIDDLE * features.SOLO_STEPS_A_MOVE)
    return (
        first.astype("<i2").tobytes()
        + output.astype("<i2").tobytes()
        + bias.to_bytes(2, "little", signed=True)
    )


def solo_moves(body: bytes, placements: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return the solo distances that the solo network with these integers predicts, in moves."""
    moves = np.empty(len(placements), np.float32)
    features.solo_moves(body, placements, moves)
    return moves


def solo_table(threads: int, progress: Callable[[int], None]) -> NDArray[np.uint8]:
    """Return the solo distance of each placement, in moves, by its number (solo.h): 1.2 GB.

    Args:
        threads: Number of threads.
        progress: Called with each distance when it is complete.
    """
    distances = np.empty(features.PLACEMENTS, np.uint8)
    features.table_begin(distances)
    firsts = range(0, features.PLACEMENTS, CHUNK)
    with ThreadPoolExecutor(threads) as pool:
        for distance in itertools.count():

            def level(first: int, distance: int = distance) -> bool:
                return features.table_level(
                    distances, first, min(first + CHUNK, features.PLACEMENTS), distance
                )

            if not any(list(pool.map(level, firsts))):
                break
            progress(distance + 1)
    return distances


def placements_of(samples: TableSamples, seed: int) -> NDArray[np.uint8]:
    """Return the distinct placements of the samples, in the owners' views, and variants of them.

    A variant moves one piece by up to two columns and rows. MOVED variants of each placement are
    drawn; impossible ones are dropped.
    """
    cells = samples.records[:, 4:28].reshape(-1, SEATS, 6)
    found = np.unique(
        np.sort(own_views()[np.arange(SEATS)[:, None], cells][(cells != NOWHERE).all(2)], 1), axis=0
    )
    random = np.random.default_rng(seed)
    parts = [found]
    for _ in range(MOVED):
        other, here, piece = found.copy(), np.arange(len(found)), random.integers(0, 6, len(found))
        column = np.clip(
            other[here, piece] % SIZE + random.integers(-2, 3, len(found)), 0, SIZE - 1
        )
        row = np.clip(other[here, piece] // SIZE + random.integers(-2, 3, len(found)), 0, SIZE - 1)
        other[here, piece] = SIZE * row + column
        other.sort(1)
        parts.append(other[(np.diff(other.astype(np.int16), axis=1) > 0).all(1)])
    return np.unique(np.concatenate(parts), axis=0)


def own_views() -> NDArray[np.uint8]:
    """Return the number of each cell in each seat's view, shape (4, 256); NOWHERE is mapped to
    itself."""
    views = np.full((SEATS, NOWHERE + 1), NOWHERE, np.uint8)
    for seat, cell in itertools.product(range(SEATS), range(SIZE * SIZE)):
        column, row = seen(seat, cell % SIZE, cell // SIZE)
        views[seat, cell] = SIZE * row + column
    return views
