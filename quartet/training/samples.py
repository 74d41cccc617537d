"""Samples of self-play: positions with the search's score and the game's result, in a result store.

    plan.json               the plan
    000000.samples          the samples of unit 0, a sealed file (core/nn/sealed.py), written whole;
                            its fields name seed, games and nodes
    lock                    held by the process that plays

A game's samples are in the order of play; off-path samples follow. Format of a sample, all numbers
little-endian and for the side to move:

    position    as the game encodes it, the same number of bytes for all
    score       int16, the search's score in the engine's unit
    ply         uint16
    result      int8, 1 won, 0 drawn, -1 lost; 0 if OFF_PATH
    flags       uint8, PLAYED: the game was played to its end or solved, not adjudicated
                       FIRST: the first sample of its game
                       OFF_PATH: off-path: one or two random plies led there; searched, not played

A game with its own format (`core.nn.contract.OwnSamples`) describes it in its package.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from core.errors import QuartetError, TextError
from core.nn.sealed import seal, unseal
from quartet.arena.files import write_whole
from quartet.arena.store import ResultStore

TAIL = struct.Struct("<hHbB")
"""Score, ply, result and flags, after the position."""


class Batch(msgspec.Struct, frozen=True):
    """What a unit of self-play made.

    Attributes:
        number: The unit.
        seed: Seed of the run.
        games: Its games.
        nodes: Nodes per search.
        positions: Its samples.
    """

    number: int
    seed: int
    games: int
    nodes: int
    positions: int


class MadeSamples(msgspec.Struct, frozen=True):
    """What a worker returns for a unit of self-play."""

    result: Batch
    samples: bytes


class SampleStore(ResultStore[Batch]):
    """The open folder of a run of self-play: a result store with a sealed file per unit."""

    def __init__(self, folder: Path, game: str, plan: Mapping[str, object]) -> None:
        """Create the folder, or open it again to resume. Raises as `ResultStore` does."""
        self._game = game
        super().__init__(folder, plan, Batch)

    def _open(self, at_close: Any) -> list[Batch]:  # noqa: ARG002  (no file stays open)
        return [batch_of(read(file, self._game)[0], file) for file in files(self.folder)]

    def add(self, made: MadeSamples) -> None:
        """Keep the samples of a unit. Raises QuartetError if they cannot be written."""
        batch = made.result
        fields = {name: str(value) for name, value in msgspec.structs.asdict(batch).items()}
        data = seal("samples", {"game": self._game, **fields}, made.samples)
        with self.writing():
            write_whole(self.folder / f"{batch.number:06}.samples", data)
        self.done[batch.number] = batch


def files(folder: Path) -> list[Path]:
    """Return the files of samples in a folder, in order."""
    return sorted(folder.glob("*.samples"))


def read(file: Path, game: str) -> tuple[dict[str, str], bytes]:
    """Return the fields and the samples of a file.

    Raises:
        TextError: It is damaged, or of another game.
        QuartetError: It cannot be read.
    """
    try:
        return unseal("samples", file.read_bytes(), game)
    except OSError as error:
        raise QuartetError(f"cannot read {file}: {error.strerror}") from error
    except TextError as error:
        raise TextError(f"{file}: {error}") from error


def batch_of(fields: dict[str, str], file: Path) -> Batch:
    """Return the batch that a file's fields describe. Raises TextError."""
    try:
        return msgspec.convert(fields, Batch, strict=False)
    except msgspec.ValidationError as error:
        raise TextError(f"{file}: {error}") from error
