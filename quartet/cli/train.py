"""`quartet train`: an evaluation network from samples of self-play."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
import msgspec

from core.errors import QuartetError, TextError
from core.extras import install_hint
from core.nn.contract import OwnSamples, Training
from core.nn.sealed import seal
from quartet import registry
from quartet.arena.cores import usable_cores
from quartet.arena.files import locked, write_whole
from quartet.cli import outputs
from quartet.cli.paths import PathType
from quartet.cli.progress import Progress

if TYPE_CHECKING:
    from quartet.training.dataset import Samples
    from quartet.training.trainer import Trainer

LOSSES = ".losses.jsonl"
"""Suffix of the file of losses, a line per epoch."""


@click.command(short_help="Train an evaluation network on samples of self-play.")
@click.argument("game")
@click.argument("data", nargs=-1, required=True, type=PathType(exists=True, file_okay=False))
@click.option(
    "--out",
    type=PathType(dir_okay=False),
    required=True,
    help="File of the weights.",
)
@click.option("--hidden", default=64, show_default=True, help="Hidden units, a multiple of 64.")
@click.option(
    "--epochs",
    type=click.IntRange(min=1),
    default=30,
    show_default=True,
    help="Passes through all samples.",
)
@click.option(
    "--batch",
    type=click.IntRange(min=1),
    default=16384,
    show_default=True,
    help="Samples per step.",
)
@click.option(
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    default=0.002,
    show_default=True,
    help="Highest learning rate.",
)
@click.option(
    "--decay", type=click.FloatRange(min=0), default=0.01, show_default=True, help="Weight decay."
)
@click.option(
    "--lambda",
    "td_lambda",
    type=click.FloatRange(0, 1),
    default=0.93,
    show_default=True,
    help="Lambda of the targets; 0: the search's score, 1: the game's result.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Seed of first weights, order and symmetries.",
)
@click.option(
    "--begin",
    type=PathType(exists=True, dir_okay=False),
    help="Continue from these weights, instead of random ones.",
)
@click.option(
    "--unit",
    type=click.IntRange(min=1),
    help="Points of the engine's score for a logit of 1, the odds of e : 1. The margins of a search "
    "are tuned for one unit.  [default: that of the game's weights]",
)
@click.option(
    "--off-path",
    type=click.FloatRange(0, 1),
    default=1.0,
    show_default=True,
    help="Share of the off-path samples that are learned from.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="Threads, at most 2; they change only the time.",
)
def command(
    game: str,
    data: tuple[Path, ...],
    out: Path,
    begin: Path | None,
    unit: int | None,
    jobs: int | None,
    **options: Any,
) -> None:
    """Train the evaluation network of GAME on the folders of samples that `quartet selfplay` made,
    and write its weights.

    One unit of self-play in 50 is held out. Its loss, with the weights as the file rounds them, is
    printed after every epoch. The last quarter of the epochs trains with such weights. The state
    after every epoch is in OUT.checkpoint; the same command resumes from it. The losses remain in
    OUT.losses.jsonl, which `quartet runs OUT.losses.jsonl --plot FILE` draws.

    \b
    quartet train ataxx runs/first --out ataxx/nn/weights.bin --hidden 64 --epochs 30
    """
    try:
        from core.nn import learning  # noqa: PLC0415
        from quartet.training import dataset  # noqa: PLC0415  (an extra)
        from quartet.training import trainer as training  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        raise QuartetError(f"training needs numpy: {install_hint('numpy', 'scipy')}") from None
    module: Training | OwnSamples | None = None
    if registry.has(game, "train.selfplay"):
        module = cast("Training | OwnSamples", registry.load(game, "train.selfplay"))
    if module is None or module.OWN_SAMPLES:
        package = registry.GAMES[game]
        raise QuartetError(
            f"{game} has a separate training command: python -m {package}.train --help"
            if registry.has(game, "train.__main__")
            else f"{game} has no training: write {package}/train/selfplay.py (contract: "
            "core/nn/contract.py)"
        )
    learning.require_place(out)
    outputs.require("--out", out, begins=b"quartet weights")
    with Progress("files of samples", None) as progress:
        samples = dataset.load(game, data, module.POSITION_BYTES, progress.update)
    hyper = training.Hyperparameters(unit=unit or 0, **options)
    first = None if begin is None else begin.read_bytes()
    try:
        trainer = training.Trainer(module, samples, hyper, jobs or len(usable_cores()), first)
    except TextError as error:
        raise TextError(f"{begin}: {error}") from error
    with _only_process(out):
        _train(game, module, trainer, samples, out)


@contextmanager
def _only_process(out: Path) -> Iterator[None]:
    """Hold the lock of a file that is trained.

    Raises QuartetError if another process holds it, or if something cannot be written.
    """
    place = out.with_name(out.name + ".lock")
    lock = locked(place)
    if lock is None:
        raise QuartetError(f"another process trains {out}")
    with lock:
        try:
            yield
        except OSError as error:
            raise QuartetError(f"cannot train {out}: {error.strerror or error}") from error
        finally:
            with suppress(OSError):  # on Windows, as it is open
                place.unlink()


def _train(game: str, part: Training, trainer: Trainer, samples: Samples, out: Path) -> None:
    """Train to the last epoch, resuming from a checkpoint, and write the weights."""
    from quartet.training.trainer import (  # noqa: PLC0415  (an extra)
        read_checkpoint,
        write_checkpoint,
    )

    hyper = trainer.hyper
    checkpoint = out.with_name(out.name + ".checkpoint")
    if checkpoint.exists():
        trainer.restore(read_checkpoint(checkpoint))
        print(f"resuming from {checkpoint} after {trainer.epoch} epochs", file=sys.stderr)
    units = " ".join(f"{unit:.0f}" for unit in samples.units)
    print(
        f"{len(samples)} samples, {int(samples.held_out.sum())} held out; unit of the scores, by "
        f"folder: {units}"
    )
    curve = out.with_name(out.name + LOSSES)
    if trainer.epoch == 0:
        curve.unlink(missing_ok=True)
    total = hyper.epochs * trainer.steps
    steps = count(trainer.epoch * trainer.steps + 1)
    with Progress("steps", total, trainer.epoch * trainer.steps) as progress:
        while trainer.epoch < hyper.epochs:
            loss = trainer.run_epoch(lambda: progress.update(next(steps)))
            held_out = trainer.validate()
            print(f"epoch {trainer.epoch}: loss {loss:.6f}, held out {held_out:.6f}", flush=True)
            keep_loss(curve, trainer.epoch, loss, held_out)
            write_checkpoint(checkpoint, trainer)
    write_weights(game, part, trainer, out, samples)
    checkpoint.unlink()


def keep_loss(file: Path, epoch: int, loss: float, held_out: float) -> None:
    """Append the losses of an epoch to the file that `quartet runs FILE --plot` draws.

    An epoch that is trained again after a kill replaces its line.
    """
    lines = file.read_bytes().splitlines()[: epoch - 1] if file.exists() else []
    line = {"epoch": epoch, "loss": round(loss, 8), "held_back": round(held_out, 8)}
    write_whole(file, b"".join(kept + b"\n" for kept in (*lines, msgspec.json.encode(line))))


def write_weights(game: str, part: Training, trainer: Trainer, out: Path, samples: Samples) -> None:
    """Write the file of weights, and print its size."""
    shape, body, _ = part.quantised(*trainer.network())
    hyper = trainer.hyper
    fields = {
        "game": game,
        **shape,
        "seed": str(hyper.seed),
        "data": f"{samples.digest} ({len(samples)} samples)",
        "command": shlex.join(["quartet", *sys.argv[1:]]),
    }
    write_whole(out, seal("weights", fields, body))
    print(f"{out}: {out.stat().st_size} bytes")
