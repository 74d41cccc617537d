"""Samples: positions from self-play with what the search and the game said of them, in a folder
that goes on after a kill.

    plan.json               what is played: a folder is for one run only
    000000.samples          the samples of unit 0, a sealed file (core/nn/sealed.py), written whole;
                            the fields name seed, games and nodes
    lock                    held by the process that plays

A game's samples follow each other in the order of play, then those beside its path. A sample, all
numbers little-endian and for the side to move:

    position    as the game encodes it, the same number of bytes for all
    score       int16, of the search, in the engine's unit
    ply         uint16
    result      int8, 1 won, 0 drawn, -1 lost; 0 where ASIDE
    flags       uint8, PLAYED: the game was played to its end or solved, not adjudicated; FIRST:
                this is its first sample;
                ASIDE: the position is not of a game, random plies led there from one, and it was
                    searched, but not played on

A game with samples of its own (`core.nn.contract.OwnSamples`) says itself what is in one.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Self

import msgspec

from core.errors import QuartetError, TextError
from core.nn.sealed import seal, unseal
from quartet.arena.files import write_whole
from quartet.arena.records import check_plan, hold

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

TAIL = struct.Struct("<hHbB")
"""What follows a position: score, ply, result, flags."""


class Batch(msgspec.Struct, frozen=True):
    """What a unit of self-play has made; the number of the unit, and what it was asked for, come
    first."""

    number: int
    seed: int
    games: int
    nodes: int
    positions: int


class Folder:
    """The open folder of a run of self-play.

    Attributes:
        done: the batches that are there, by number.
    """

    def __init__(self, path: Path, game: str, plan: dict[str, object]) -> None:
        """Make the folder, or open it again. Raises QuartetError where it belongs to another run or
        process, or cannot be written."""
        self._path, self._game = path, game
        self.done: dict[int, Batch] = {}
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock = hold(path)
            try:
                check_plan(path / "plan.json", plan)
                for file in files(path):
                    batch = batch_of(read(file, game)[0], file)
                    self.done[batch.number] = batch
            except BaseException:
                self._lock.close()
                raise
        except OSError as error:
            raise QuartetError(
                f"cannot keep samples in {path}: {error.strerror or error}"
            ) from error

    def add(self, batch: Batch, samples: bytes) -> None:
        """Keep the samples of a unit."""
        fields = {
            "game": self._game,
            **{name: str(value) for name, value in msgspec.structs.asdict(batch).items()},
        }
        try:
            write_whole(self._path / f"{batch.number:06}.samples", seal("samples", fields, samples))
        except OSError as error:
            raise QuartetError(
                f"cannot keep samples in {self._path}: {error.strerror or error}"
            ) from error
        self.done[batch.number] = batch

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.close()


def files(folder: Path) -> list[Path]:
    """The files of samples in a folder, in order."""
    return sorted(folder.glob("*.samples"))


def read(file: Path, game: str) -> tuple[dict[str, str], bytes]:
    """The fields and the samples of a file. Raises TextError where it is damaged or another game's,
    QuartetError where it cannot be read."""
    try:
        return unseal("samples", file.read_bytes(), game)
    except OSError as error:
        raise QuartetError(f"cannot read {file}: {error.strerror}") from error
    except TextError as error:
        raise TextError(f"{file}: {error}") from error


def batch_of(fields: dict[str, str], file: Path) -> Batch:
    """The batch that a file's fields tell of. Raises TextError."""
    try:
        return msgspec.convert(fields, Batch, strict=False)
    except msgspec.ValidationError as error:
        raise TextError(f"{file}: {error}") from error
