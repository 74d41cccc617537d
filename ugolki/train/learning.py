"""Training of Ugolki's networks on samples of games; network.h says what they are.

The solo network learns how many moves a seat needs alone, from the exact table (solo.h). The others
are choosers (`core.nn.sparse_net.choose`). The value network tells the seats apart: its targets are
the lambda-returns (`core.nn.learning`) of their shares of the win. The policy network tells the
moves apart: its targets are the search's visits. So does the opponents' network, whose targets are
the moves that other programs play.
"""

from __future__ import annotations

import hashlib
import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import QuartetError, TextError
from core.nn import sparse_net
from core.nn.contract import ASIDE, FIRST
from core.nn.learning import HELD_BACK, SLICES, correction, lambda_returns, least_at, rate_at
from core.nn.sealed import unseal
from ugolki.geometry import SEATS, SIZE, seen
from ugolki.train import features
from ugolki.train.selfplay import NOWHERE, RECORD

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Loss = Callable[[NDArray[np.float32], NDArray[np.float32] | None, NDArray[np.int64]], float]
    """Of parameters on chosen samples, summed; the gradient is added to an array, or to none."""

ROWS_A_POSITION = 40
"""Moves of a position for which there is room, on average."""
DECAY = 0.01
"""Of the weights, times the rate."""
MIDDLE = 8
"""Moves from home at which the solo network is to be most exact."""
MOVED = 3
"""Placements with a piece moved, for each that has occurred."""
CHUNK = 1 << 22
"""Placements that a thread works at in one go."""


@dataclass(frozen=True)
class Samples:
    """Samples in memory.

    Attributes:
        records: bytes, a row each; shares, results: of each seat; last: whether no later one of its
            game follows; aside: whether it is not of a game's path. held_back: for validation;
            sharpness: of the search's shares, by folder, see sharpness_of; digest: of all files, in
                order.
    """

    records: NDArray[np.uint8]
    shares: NDArray[np.float32]
    results: NDArray[np.float32]
    last: NDArray[np.bool_]
    aside: NDArray[np.bool_]
    held_back: NDArray[np.bool_]
    sharpness: list[float]
    digest: str

    def __len__(self) -> int:
        return len(self.records)


def load(folders: Sequence[Path]) -> Samples:
    """All samples of the folders. Raises QuartetError where there are too few, TextError where a
    file is damaged."""
    parts, last, held_back, bounds = [], [], [], [0]
    digest = hashlib.sha256()
    for folder in folders:
        found = sorted(folder.glob("*.samples"))
        if len(found) < 2:
            raise QuartetError(
                f"training takes two files of samples at least; in {folder} there are {len(found)}"
            )
        for number, path in enumerate(found):
            body = samples_in(path)
            if len(body) % RECORD.size:
                raise TextError(
                    f"{path} holds {len(body)} bytes, which is no number of samples of "
                    f"{RECORD.size}"
                )
            digest.update(hashlib.sha256(body).digest())
            records = np.frombuffer(body, np.uint8).reshape(-1, RECORD.size)
            parts.append(records)
            last.append(np.append(records[1:, 2] & FIRST > 0, np.True_)[: len(records)])
            held_back.append(np.full(len(records), number % HELD_BACK == 0))
        bounds.append(sum(map(len, parts)))
    records = np.concatenate(parts)
    shares = np.ascontiguousarray(records[:, 28:36]).view("<u2").astype(np.float32)
    results = records[:, 36:40].astype(np.float32)
    results /= np.maximum(results.sum(1, keepdims=True), 1)
    aside = records[:, 2] & ASIDE > 0
    sharpness = []
    for first, end in itertools.pairwise(bounds):
        part = slice(first, end)
        played = ~aside[part]
        sharpness.append(sharpness_of(shares[part][played], results[part][played]))
        shares[part] = sharpened(shares[part], sharpness[-1])
    return Samples(
        records,
        shares,
        results,
        np.concatenate(last),
        aside,
        np.concatenate(held_back),
        sharpness,
        digest.hexdigest()[:16],
    )


def samples_in(file: Path) -> bytes:
    """The samples of a file. Raises TextError where it is damaged or another game's, QuartetError
    where it cannot be read."""
    try:
        return unseal("samples", file.read_bytes(), "ugolki")[1]
    except OSError as error:
        raise QuartetError(f"cannot read {file}: {error.strerror}") from error
    except TextError as error:
        raise TextError(f"{file}: {error}") from error


def sharpened(shares: NDArray[Any], exponent: float) -> NDArray[Any]:
    """Shares to that power, adding up to 1 again."""
    powers: NDArray[Any] = shares**exponent
    powers /= powers.sum(1, keepdims=True)
    return powers


def sharpness_of(shares: NDArray[np.float32], results: NDArray[np.float32]) -> float:
    """The exponent with which the shares predict the results with the least cross entropy; below 1
    the search was too sure of itself."""
    step = max(1, len(shares) // 100_000)
    some, wins = shares[::step].astype(np.float64), results[::step]

    def loss(exponent: float) -> float:
        expected = np.maximum(sharpened(some, exponent), 1e-6)
        return float(-(wins * np.log(expected)).sum(1).mean())

    return least_at(loss, 0.1, 4, 20)


def targets_of(samples: Samples, trace: float) -> NDArray[np.float32]:
    """What the value network learns of the samples, for each seat: lambda-returns on a game's path,
    beside it what the search expected."""
    targets = lambda_returns(samples.shares, samples.results, samples.last, trace)
    targets[samples.aside] = samples.shares[samples.aside]
    return targets


class Net:
    """A network in the making.

    Attributes:
        parameters: rows, bias, output, output bias, one after the other.
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
        """The mean loss on these samples, of this network or of another."""
        mine = self.parameters if parameters is None else parameters
        parts = [chosen[first : first + 4096] for first in range(0, len(chosen), 4096)]
        return sum(self._pool.map(lambda part: of(mine, None, part), parts)) / len(chosen)

    def step(self, of: Loss, chosen: NDArray[np.int64]) -> float:
        """One step of AdamW on these samples; their mean loss before it."""

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
        for part, most in (
            (slice(0, self._output), features.MOST_ROW),
            (slice(self._output, None), features.MOST_OUTPUT),
        ):
            parameters, first, second = (state[part] for state in self._state)
            sparse_net.step(
                parameters,
                gradient[part],
                first,
                second,
                rate * correction(self._done),
                1 - rate * DECAY,
                most,
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
    """Go through the training samples so many times; `progress` is called after each time, with its
    number and the mean loss."""
    steps = len(training) // batch
    for epoch in range(epochs):
        order = training[np.random.default_rng([seed, epoch]).permutation(len(training))]
        loss = (
            sum(net.step(of, order[step * batch : (step + 1) * batch]) for step in range(steps))
            / steps
        )
        progress(epoch + 1, loss)


def fitted(
    samples: Samples,
    of: Loss,
    batch: int,
    epochs: int,
    rate: float,
    seed: int,
    threads: int,
    say: Callable[[str], None],
    begin: bytes | None = None,
) -> bytes:
    """The integers of a value or policy network, trained on the samples that are not held back,
    from those of another on where there is one; `say` gets lines of progress."""
    training, held_back = np.flatnonzero(~samples.held_back), np.flatnonzero(samples.held_back)
    batch = min(batch, len(training))
    net = Net(
        features.INPUTS, features.ACTIVE, seed, rate, epochs * (len(training) // batch), threads
    )
    if begin is not None:
        net.parameters[:] = floats(begin)

    def progress(epoch: int, loss: float) -> None:
        say(f"epoch {epoch}: loss {loss:.5f}, held back {net.loss(of, held_back):.5f}")

    trained(net, of, training, batch, epochs, seed, progress)
    body, rounded = quantised(net.parameters)
    say(f"with rounded weights, held back: {net.loss(of, held_back, rounded):.5f}")
    return body


def value_loss(samples: Samples, targets: NDArray[np.float32], solo: bytes) -> Loss:
    """The loss of the value network on samples with these targets, beside the solo network with
    these integers."""

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
        return sparse_net.choose(
            parameters, gradient, features.HIDDEN, inputs[:count], targets[chosen][mask], sizes
        )

    return loss


def policy_loss(samples: Samples, solo: bytes) -> Loss:
    """The loss of the policy network, beside the solo network with these integers."""

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
        return sparse_net.choose(
            parameters, gradient, features.HIDDEN, inputs[:count], targets, sizes
        )

    return loss


def solo_loss(placements: NDArray[np.uint8], moves: NDArray[np.float32]) -> Loss:
    """The loss of the solo network, whose output is (moves - MIDDLE) / MIDDLE: squares, the further
    from MIDDLE the less they count."""
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
    """The integers of a value or policy network as they stand in the file of weights, and as floats
    again."""
    hidden = features.HIDDEN
    first = (parameters[: -hidden - 1] * features.ONE).round()
    output = (parameters[-hidden - 1 : -1] * features.OUTPUT_ONE).round()
    body = first.astype("<i2").tobytes() + output.astype("<i2").tobytes()
    return body, floats(body)


def floats(body: bytes) -> NDArray[np.float32]:
    """The parameters of a value or policy network with these integers."""
    numbers = np.frombuffer(body, "<i2").astype(np.float32)
    first, output = numbers[: -features.HIDDEN], numbers[-features.HIDDEN :]
    return np.concatenate([first / features.ONE, output / features.OUTPUT_ONE, [0]]).astype(
        np.float32
    )


def networks_of(body: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    """The value, policy, opponents' and solo network of a file of weights. Raises TextError where it
    has another size."""
    size = 2 * (features.INPUTS + 2) * features.HIDDEN
    whole = 3 * size + 2 * (features.CELLS + 2) * features.HIDDEN + 2
    if len(body) != whole:
        raise TextError(f"the weights of Ugolki take {whole} bytes, not {len(body)}")
    return body[:size], body[size : 2 * size], body[2 * size : 3 * size], body[3 * size :]


def quantised_solo(parameters: NDArray[np.float32]) -> bytes:
    """The integers of a solo network."""
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
    """What the solo network with these integers says of placements."""
    moves = np.empty(len(placements), np.float32)
    features.solo_moves(body, placements, moves)
    return moves


def solo_table(threads: int, progress: Callable[[int], None]) -> NDArray[np.uint8]:
    """How many moves each placement needs, by its number: 1.2 GB. `progress` is called with each
    distance that is done."""
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


def placements_of(samples: Samples, seed: int) -> NDArray[np.uint8]:
    """Placements that have occurred, as their owners see them, and MOVED times as many with a piece
    moved by up to two cells each way."""
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
    """The number of each cell as each seat sees it; NOWHERE stays what it is."""
    views = np.full((SEATS, NOWHERE + 1), NOWHERE, np.uint8)
    for seat, cell in itertools.product(range(SEATS), range(SIZE * SIZE)):
        column, row = seen(seat, cell % SIZE, cell // SIZE)
        views[seat, cell] = SIZE * row + column
    return views
