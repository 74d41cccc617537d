"""Samples of Ugolki's games in memory, for training: loading, sharpness of win shares, targets."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import QuartetError, TextError
from core.nn.contract import FIRST, OFF_PATH
from core.nn.learning import HELD_OUT, golden_section, lambda_returns
from core.nn.sealed import unseal
from ugolki.train.selfplay import RECORD

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray


@dataclass(frozen=True)
class TableSamples:
    """Samples in memory.

    Attributes:
        records: Shape (samples, RECORD.size), the bytes of each sample.
        shares: Shape (samples, 4), the win shares that the search expected, sharpened.
        results: Shape (samples, 4), the win shares at the end of the game.
        last: True for the last sample of a game.
        off_path: True for an off-path position.
        held_out: True for a sample of the validation set.
        sharpness: Exponents of `sharpness_of`, one per folder.
        digest: Hash of all files in order.
    """

    records: NDArray[np.uint8]
    shares: NDArray[np.float32]
    results: NDArray[np.float32]
    last: NDArray[np.bool_]
    off_path: NDArray[np.bool_]
    held_out: NDArray[np.bool_]
    sharpness: list[float]
    digest: str

    def __len__(self) -> int:
        return len(self.records)


def load(folders: Sequence[Path]) -> TableSamples:
    """Load all samples of the folders.

    Raises:
        QuartetError: A folder has fewer than two files of samples, or a file cannot be read.
        TextError: A file is corrupt, or is of another game.
    """
    parts, last, held_out, bounds = [], [], [], [0]
    digest = hashlib.sha256()
    for folder in folders:
        found = sorted(folder.glob("*.samples"))
        if len(found) < 2:
            raise QuartetError(
                f"training takes at least two files of samples; {folder} has {len(found)}"
            )
        for number, path in enumerate(found):
            body = samples_in(path)
            if len(body) % RECORD.size:
                raise TextError(
                    f"{path} has {len(body)} bytes, which is not a multiple of {RECORD.size}, the "
                    f"size of a sample"
                )
            digest.update(hashlib.sha256(body).digest())
            records = np.frombuffer(body, np.uint8).reshape(-1, RECORD.size)
            parts.append(records)
            last.append(np.append(records[1:, 2] & FIRST > 0, np.True_)[: len(records)])
            held_out.append(np.full(len(records), number % HELD_OUT == 0))
        bounds.append(sum(map(len, parts)))
    records = np.concatenate(parts)
    shares = np.ascontiguousarray(records[:, 28:36]).view("<u2").astype(np.float32)
    results = records[:, 36:40].astype(np.float32)
    results /= np.maximum(results.sum(1, keepdims=True), 1)
    off_path = records[:, 2] & OFF_PATH > 0
    sharpness = []
    for first, end in itertools.pairwise(bounds):
        part = slice(first, end)
        played = ~off_path[part]
        sharpness.append(sharpness_of(shares[part][played], results[part][played]))
        shares[part] = sharpened(shares[part], sharpness[-1])
    return TableSamples(
        records,
        shares,
        results,
        np.concatenate(last),
        off_path,
        np.concatenate(held_out),
        sharpness,
        digest.hexdigest()[:16],
    )


def samples_in(file: Path) -> bytes:
    """Return the samples of a file.

    Raises:
        QuartetError: The file cannot be read.
        TextError: The file is corrupt, or is of another game.
    """
    try:
        return unseal("samples", file.read_bytes(), "ugolki")[1]
    except OSError as error:
        raise QuartetError(f"cannot read {file}: {error.strerror}") from error
    except TextError as error:
        raise TextError(f"{file}: {error}") from error


def sharpened(shares: NDArray[Any], exponent: float) -> NDArray[Any]:
    """Raise win shares to a power, and normalise each row."""
    powers: NDArray[Any] = shares**exponent
    powers /= powers.sum(1, keepdims=True)
    return powers


def sharpness_of(shares: NDArray[np.float32], results: NDArray[np.float32]) -> float:
    """Return the exponent with which the win shares predict the results best, by cross-entropy.

    An exponent below 1 means that the search was overconfident.
    """
    step = max(1, len(shares) // 100_000)
    some, wins = shares[::step].astype(np.float64), results[::step]

    def loss(exponent: float) -> float:
        expected = np.maximum(sharpened(some, exponent), 1e-6)
        return float(-(wins * np.log(expected)).sum(1).mean())

    return golden_section(loss, 0.1, 4, 20)


def targets_of(samples: TableSamples, td_lambda: float) -> NDArray[np.float32]:
    """Return the targets of the value network, shape (samples, 4).

    They are lambda-returns for positions of a game, and the search's win shares for off-path ones.
    """
    targets = lambda_returns(samples.shares, samples.results, samples.last, td_lambda)
    targets[samples.off_path] = samples.shares[samples.off_path]
    return targets
