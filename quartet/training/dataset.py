"""Samples in memory, and the targets of training.

The target of a position is its lambda-return (`core.nn.learning`) of two figures: the search's
expected result, sigmoid(score / unit), and the game's result, 1, 0.5 or 0. So a position learns
what the search found some plies later. The target of an off-path position is the search's expected
result.

The engine's unit is measured on the samples of each folder: with it, sigmoid(score / unit) predicts
the results best. So samples of engines with other units, or overconfident ones, can be mixed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import QuartetError, TextError
from core.nn import learning
from core.nn.contract import FIRST, OFF_PATH
from core.nn.learning import HELD_OUT
from quartet.training.samples import TAIL, files, read


@dataclass(frozen=True)
class Samples:
    """Samples in memory.

    Attributes:
        positions: Encoded positions, a row each.
        expected: Expected results of the search for the side to move, 0 .. 1.
        results: Results for the side to move, -1, 0 or 1.
        plies: Plies.
        last: The sample is the last one of its game.
        off_path: The sample is off-path.
        held_out: The sample is for validation.
        units: Unit of the scores of each folder.
        digest: Digest of all files, in order.
    """

    positions: NDArray[np.uint8]
    expected: NDArray[np.float32]
    results: NDArray[np.int8]
    plies: NDArray[np.uint16]
    last: NDArray[np.bool_]
    off_path: NDArray[np.bool_]
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
        QuartetError: There are too few samples, or two files have the same ones: the held-out
            samples of one would be learned from in the other.
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
    last, off_path, held_out = (np.empty(size, np.bool_) for _ in range(3))
    units = []
    count = done = 0
    digest, seen = hashlib.sha256(), dict[bytes, Path]()
    for folder, paths in zip(folders, found, strict=True):
        first = count
        for path in paths:
            body = read(path, game)[1]
            if len(body) % kind.itemsize:
                raise TextError(
                    f"{path} holds {len(body)} bytes, not a multiple of a sample's {kind.itemsize}"
                )
            part_digest = hashlib.sha256(body).digest()
            digest.update(part_digest)
            if body and part_digest in seen:
                raise QuartetError(
                    f"{path} has the same samples as {seen[part_digest]}; name each folder once"
                )
            seen[part_digest] = path
            samples = np.frombuffer(body, kind)
            part = slice(count, count + len(samples))
            positions[part], expected[part] = samples["position"], samples["score"]
            plies[part], results[part] = samples["ply"], samples["result"]
            last[part] = last_of_games(samples["flags"], path)
            off_path[part] = samples["flags"] & OFF_PATH > 0
            held_out[part] = done % HELD_OUT == 0
            count += len(samples)
            done += 1
            progress(done, total)
        whole = slice(first, count)
        played = ~off_path[whole]
        if not played.any():
            raise QuartetError(f"no sample in {folder} is of a game")
        units.append(unit_of_scores(expected[whole][played], results[whole][played]))
        expected[whole] = sigmoid(expected[whole] / np.float32(units[-1]))
    cut = slice(count)
    return Samples(
        *(positions[cut], expected[cut], results[cut], plies[cut], last[cut], off_path[cut]),
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
    targets[samples.off_path] = expected[samples.off_path]
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
