"""`quartet train`: an evaluation network from samples of self-play."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from core.errors import QuartetError
from core.extras import how_to_install
from core.nn.sealed import seal
from quartet import registry
from quartet.arena.cores import usable_cores
from quartet.arena.files import write_whole

if TYPE_CHECKING:
    from core.nn.contract import Training
    from quartet.training.trainer import Samples, Trainer

LOSSES = ".losses.jsonl"
"""Behind the name of the weights: the file of the losses, a line for every epoch."""


@click.command(short_help="Train an evaluation network on samples of self-play.")
@click.argument("game")
@click.argument(
    "data", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, file_okay=False)
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="File of the weights.",
)
@click.option(
    "--hidden", default=64, show_default=True, help="Cells of the hidden layer, a multiple of 64."
)
@click.option(
    "--epochs",
    type=click.IntRange(min=1),
    default=30,
    show_default=True,
    help="Times that all samples are seen.",
)
@click.option(
    "--batch",
    type=click.IntRange(min=1),
    default=16384,
    show_default=True,
    help="Samples of a step.",
)
@click.option(
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    default=0.002,
    show_default=True,
    help="The highest learning rate.",
)
@click.option(
    "--decay", type=click.FloatRange(min=0), default=0.01, show_default=True, help="Weight decay."
)
@click.option(
    "--lambda",
    "trace",
    type=click.FloatRange(0, 1),
    default=0.93,
    show_default=True,
    help="Of the lambda-returns that are learned; 0: the search's score, 1: the game's result.",
)
@click.option(
    "--seed",
    default=1,
    show_default=True,
    help="Of the first weights, the order and the symmetries.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="Threads, 2 at most; they change nothing but the time.",
)
def command(game: str, data: tuple[Path, ...], out: Path, jobs: int | None, **options: Any) -> None:
    """Train the evaluation network of GAME on the folders of samples that `quartet selfplay` made,
    and write its weights.

    One unit of self-play in 50 is held back: the loss on it is printed after every epoch, in
    floats, and in the end as the integers of the file have it. After every epoch the state is kept
    beside the weights, in OUT.checkpoint; the same command goes on from there. The losses stay in
    OUT.losses.jsonl, which `quartet runs OUT.losses.jsonl --plot FILE` draws.

    \b
    quartet train ataxx runs/first --out ataxx/nn/weights.bin --hidden 64 --epochs 30
    """
    try:
        from core.nn import learning  # noqa: PLC0415
        from quartet.training import trainer as training  # noqa: PLC0415  (an extra)
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        raise QuartetError(f"training needs numpy: {how_to_install('numpy', 'scipy')}") from None
    module = registry.load(game, "train.selfplay")
    if hasattr(module, "play_games"):
        raise QuartetError(
            f"{game} has a training of its own: python -m {registry.GAMES[game]}.train --help"
        )
    learning.require_place(out)
    part = cast("Training", module)
    with bar("samples") as progress:
        task = progress.add_task("")
        samples = training.load(
            game,
            data,
            part.POSITION_BYTES,
            lambda done, total: progress.update(task, completed=done, total=total),
        )
    hyper = training.Hyperparameters(**options)
    trainer = training.Trainer(part, samples, hyper, jobs or len(usable_cores()))
    checkpoint = out.with_name(out.name + ".checkpoint")
    if checkpoint.exists():
        trainer.restore(training.read_checkpoint(checkpoint))
        print(f"on from {checkpoint}, after {trainer.epoch} epochs", file=sys.stderr)
    units = " ".join(f"{unit:.0f}" for unit in samples.units)
    print(
        f"{len(samples)} samples, {int(samples.held_back.sum())} held back; unit of the scores, by "
        f"folder: {units}"
    )
    curve = out.with_name(out.name + LOSSES)
    if trainer.epoch == 0:
        curve.unlink(missing_ok=True)
    with bar("steps") as progress:
        task = progress.add_task(
            "", total=hyper.epochs * trainer.steps, completed=trainer.epoch * trainer.steps
        )
        while trainer.epoch < hyper.epochs:
            loss = trainer.run_epoch(lambda: progress.advance(task))
            held_back = trainer.validate()
            print(f"epoch {trainer.epoch}: loss {loss:.6f}, held back {held_back:.6f}", flush=True)
            keep_loss(curve, trainer.epoch, loss, held_back)
            training.write_checkpoint(checkpoint, trainer)
    write_weights(game, part, trainer, out, samples)
    checkpoint.unlink()


def keep_loss(file: Path, epoch: int, loss: float, held_back: float) -> None:
    """Append the losses of an epoch to the file that `quartet runs FILE --plot` draws; an epoch
    that is trained again after a kill replaces its line."""
    lines = file.read_bytes().splitlines()[: epoch - 1] if file.exists() else []
    line = {"epoch": epoch, "loss": round(loss, 8), "held_back": round(held_back, 8)}
    write_whole(file, b"".join(kept + b"\n" for kept in (*lines, msgspec.json.encode(line))))


def write_weights(game: str, part: Training, trainer: Trainer, out: Path, samples: Samples) -> None:
    """Write the file of weights, and print how much worse its integers are than the floats."""
    shape, body, rounded = part.quantised(*trainer.network())
    print(f"with rounded weights, held back: {trainer.validate(rounded):.6f}")
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


def bar(what: str) -> Progress:
    """A bar on standard error, where that is a terminal."""
    columns = [
        TextColumn(what),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    ]
    return Progress(
        *columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()
    )
