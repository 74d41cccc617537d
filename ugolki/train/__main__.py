"""`python -m ugolki.train`: the networks of Ugolki, from games of the engine against itself.

Samples; moves home, from the exact table (1.3 GB of memory); the networks; games at tables with
others, and the networks going on from these; what others play, the network that predicts it, and
how well; the pool's table, from the exact table too:

    quartet selfplay ugolki --games 20000 --out runs/one
    python -m ugolki.train solo runs/one --out runs/solo.bin
    python -m ugolki.train fit runs/one --solo runs/solo.bin --out runs/three.bin
    quartet selfplay ugolki --player mixed --games 16000 --out runs/mixed
    python -m ugolki.train fit runs/mixed --begin runs/three.bin --out runs/on.bin
    quartet selfplay ugolki --player opponents --games 8000 --out runs/others
    python -m ugolki.train predict runs/others --weights runs/on.bin --out ugolki/nn/weights.bin
    python -m ugolki.train opponents brs:5 beam:100 uct:1000 greedy
    python -m ugolki.train triples --out ugolki/frozen/pool/triples.bin
"""

from __future__ import annotations

import math
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.errors import QuartetError
from core.extras import how_to_install
from core.nn.sealed import seal, unseal
from ugolki.frozen.pool.players import HALVES, TEST_HALF

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = click.Path(path_type=Path, exists=True, file_okay=False)
FILE = click.Path(path_type=Path, dir_okay=False)


def epochs_option(default: int, what: str, name: str = "--epochs") -> Callable[[Any], Any]:
    """How often a network sees its samples."""
    return click.option(
        name, type=click.IntRange(min=1), default=default, show_default=True, help=what
    )


def rate_option(default: float) -> Callable[[Any], Any]:
    """The highest learning rate of the schedule."""
    return click.option(
        "--rate",
        type=click.FloatRange(min=0, min_open=True),
        default=default,
        show_default=True,
        help="The highest learning rate.",
    )


@click.group()
def command() -> None:
    """Train the networks on samples of self-play, those of `quartet selfplay ugolki`."""


@command.command("solo")
@click.argument("data", nargs=-1, required=True, type=DATA)
@click.option("--out", type=FILE, required=True, help="File of the solo network.")
@epochs_option(15, "Times that all placements are seen.")
@rate_option(0.004)
@click.option("--seed", default=1, show_default=True, help="Of the first weights and the order.")
def solo(data: tuple[Path, ...], out: Path, epochs: int, rate: float, seed: int) -> None:
    """Compute how many moves home there are from every placement, and train the solo network on
    placements from the samples in DATA."""
    np, features, learning = tools(out)
    threads = os.cpu_count() or 1
    samples = learning.load(data)
    placements = learning.placements_of(samples, seed)
    table = learning.solo_table(
        threads, lambda distance: print(f"{distance} moves", file=sys.stderr, flush=True)
    )
    numbers = np.empty(len(placements), np.uint32)
    features.numbers_of(placements, numbers)
    moves = table[numbers].astype(np.float32)
    order = np.random.default_rng(seed).permutation(len(placements))
    held_back, training = np.split(order, [len(order) // learning.HELD_BACK])
    batch = min(4096, len(training))
    net = learning.Net(features.CELLS, 6, seed, rate, epochs * (len(training) // batch), threads)
    of = learning.solo_loss(placements, moves)
    learning.trained(
        net,
        of,
        training,
        batch,
        epochs,
        seed,
        lambda epoch, loss: print(f"epoch {epoch}: loss {loss:.6f}", flush=True),
    )
    body = learning.quantised_solo(net.parameters)
    error = np.abs(learning.solo_moves(body, placements[held_back]) - moves[held_back])
    near = moves[held_back] <= learning.MIDDLE
    print(
        f"{len(placements)} placements; mean error on those held back: {error.mean():.3f} moves, "
        f"nearer home {error[near].mean():.3f}"
    )
    fields = {
        "game": "ugolki",
        "seed": str(seed),
        "data": f"{samples.digest} ({len(placements)} placements)",
        "command": said(),
    }
    out.write_bytes(seal("solo", fields, body))
    print(f"{out}: {out.stat().st_size} bytes")


@command.command("fit")
@click.argument("data", nargs=-1, required=True, type=DATA)
@click.option("--solo", "solo_file", type=FILE, help="File of the solo network.")
@click.option(
    "--begin",
    type=FILE,
    help="File of weights to begin with; its opponents' and solo network stay.",
)
@click.option("--out", type=FILE, required=True, help="File of the weights.")
@epochs_option(4, "Times that the value network sees all samples.")
@epochs_option(4, "Times that the policy network does.", "--policy-epochs")
@rate_option(0.004)
@click.option(
    "--lambda",
    "trace",
    type=click.FloatRange(0, 1),
    default=0.95,
    show_default=True,
    help="Of the lambda-returns.",
)
@click.option("--seed", default=1, show_default=True, help="Of the first weights and the order.")
def fit(
    data: tuple[Path, ...],
    solo_file: Path | None,
    begin: Path | None,
    out: Path,
    epochs: int,
    policy_epochs: int,
    rate: float,
    trace: float,
    seed: int,
) -> None:
    """Train the value and the policy network on the samples in DATA, and write them to one file,
    with the solo network; where they begin anew, the policy network stands for the opponents' one
    as well."""
    _, features, learning = tools(out)
    value_begin = policy_begin = others = None
    if solo_file is not None and begin is None:
        solo_fields, solo_body = sealed_in(solo_file, "solo")
        inherited = {"solo-data": solo_fields["data"], "solo-command": solo_fields["command"]}
    elif begin is not None and solo_file is None:
        begun, body = sealed_in(begin, "weights")
        value_begin, policy_begin, others, solo_body = learning.networks_of(body)
        inherited = {
            **{name: text for name, text in begun.items() if "-" in name},
            "begun-data": begun["data"],
            "begun-command": begun["command"],
        }
    else:
        raise QuartetError("give either --solo, to begin anew, or --begin, to go on from weights")
    samples = learning.load(data)
    sharpness = " ".join(f"{one:.2f}" for one in samples.sharpness)
    print(
        f"{len(samples)} samples; sharpness of the search's shares, by folder: {sharpness}",
        flush=True,
    )
    value = learning.value_loss(samples, learning.targets_of(samples, trace), solo_body)
    threads = os.cpu_count() or 1
    bodies = [
        learning.fitted(
            samples,
            of,
            size,
            times,
            rate,
            seed,
            threads,
            lambda text, name=name: print(f"{name}, {text}", flush=True),
            first,
        )
        for name, of, size, times, first in (
            ("value", value, 4096, epochs, value_begin),
            (
                "policy",
                learning.policy_loss(samples, solo_body),
                1024,
                policy_epochs,
                policy_begin,
            ),
        )
    ]
    fields = {
        "game": "ugolki",
        "hidden": str(features.HIDDEN),
        "seed": str(seed),
        "data": f"{samples.digest} ({len(samples)} samples)",
        "command": said(),
        **inherited,
    }
    out.write_bytes(seal("weights", fields, b"".join([*bodies, others or bodies[1], solo_body])))
    print(f"{out}: {out.stat().st_size} bytes")


@command.command("predict")
@click.argument("data", nargs=-1, required=True, type=DATA)
@click.option(
    "--weights", type=FILE, required=True, help="File of the weights, all but this network's."
)
@click.option("--out", type=FILE, required=True, help="File of the weights.")
@epochs_option(4, "Times that all samples are seen.")
@rate_option(0.001)
@click.option("--seed", default=1, show_default=True, help="Of the order.")
def predict(
    data: tuple[Path, ...], weights: Path, out: Path, epochs: int, rate: float, seed: int
) -> None:
    """Train the opponents' network on the moves that other programs play in DATA, beginning with
    the policy network, and write it to a file of weights, the other networks unchanged."""
    _, _, learning = tools(out)
    fields, body = sealed_in(weights, "weights")
    value, policy, _, solo_body = learning.networks_of(body)
    samples = learning.load(data)
    found = learning.fitted(
        samples,
        learning.policy_loss(samples, solo_body),
        1024,
        epochs,
        rate,
        seed,
        os.cpu_count() or 1,
        lambda text: print(text, flush=True),
        policy,
    )
    fields = {
        **{name: text for name, text in fields.items() if name not in {"bytes", "crc32"}},
        "opponents-data": f"{samples.digest} ({len(samples)} samples)",
        "opponents-command": said(),
    }
    out.write_bytes(seal("weights", fields, b"".join([value, policy, found, solo_body])))
    print(f"{out}: {out.stat().st_size} bytes")


@command.command("opponents")
@click.argument("names", nargs=-1, required=True)
@click.option(
    "--games",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="With any four of the players each.",
)
@click.option("--seed", default=1, show_default=True, help="Of the openings, and of who plays.")
def opponents(names: tuple[str, ...], games: int, seed: int) -> None:
    """Say how well the opponents' network predicts the moves of the players NAMES."""
    for name in names:
        if name in HALVES[TEST_HALF]:
            raise QuartetError(f"{name} is of the test half: nothing is fitted to it")
    from ugolki.train import opponents as prediction  # noqa: PLC0415  (compiled)

    with click.progressbar(length=games, file=sys.stderr) as bar:
        found = prediction.choices_of(names, games, seed, lambda: bar.update(1))
    for name, choices in found.items():
        if not choices:
            raise QuartetError(f"{name} has not moved in {games} games; it takes more of them")
        likeliest = sum(one.shares[one.chosen] == max(one.shares.values()) for one in choices)
        nats = -sum(math.log(one.shares[one.chosen]) for one in choices)
        print(
            f"{name}: {len(choices)} moves, {100 * likeliest / len(choices):.1f} % the likeliest "
            f"one, {nats / len(choices):.3f} nats"
        )


@command.command("triples")
@click.option("--out", type=FILE, required=True, help="File of the table of triples.")
@click.option(
    "--games",
    type=click.IntRange(min=1),
    default=600,
    show_default=True,
    help="That placements are taken from.",
)
@click.option(
    "--iterations",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Of the least squares.",
)
@click.option(
    "--seed", default=1, show_default=True, help="Of the games, and of what is held back."
)
def triples(out: Path, games: int, iterations: int, seed: int) -> None:
    """Fit the pool's table of triples to the exact number of moves home. 6 GB of memory."""
    np, _, learning = tools(out)
    try:
        from ugolki.train import triples as table_of_triples  # noqa: PLC0415  (an extra)
    except ModuleNotFoundError as error:
        if error.name != "scipy":
            raise
        raise QuartetError(f"this needs scipy: {how_to_install('scipy')}") from None
    with click.progressbar(length=games, file=sys.stderr, label="games") as bar:
        placements = table_of_triples.placements_of(games, seed, lambda: bar.update(1))
    table = learning.solo_table(
        os.cpu_count() or 1,
        lambda distance: print(f"{distance} moves", file=sys.stderr, flush=True),
    )
    moves = table_of_triples.moves_home(table, placements)
    del table
    order = np.random.default_rng(seed).permutation(len(placements))
    held_back, training = np.split(order, [len(order) // learning.HELD_BACK])
    weights = table_of_triples.quantised(
        table_of_triples.fitted(placements[training], moves[training], iterations)
    )
    errors = np.abs(table_of_triples.estimates(weights, placements[held_back]) - moves[held_back])
    near = moves[held_back] <= learning.MIDDLE
    print(
        f"{len(placements)} placements; "
        f"mean error on those held back: {errors.mean():.3f} moves, "
        f"nearer home {errors[near].mean():.3f}"
    )
    fields = {
        "game": "ugolki",
        "seed": str(seed),
        "data": f"{len(placements)} placements of {games} games",
        "command": said(),
    }
    out.write_bytes(seal("triples", fields, weights.tobytes()))
    print(f"{out}: {out.stat().st_size} bytes")


def sealed_in(file: Path, kind: str) -> tuple[dict[str, str], bytes]:
    """The fields and the body of a file of networks. Raises QuartetError where it cannot be read or
    is no such file."""
    try:
        return unseal(kind, file.read_bytes(), "ugolki")
    except OSError as error:
        raise QuartetError(f"cannot read {file}: {error.strerror}") from None


def tools(out: Path) -> tuple[Any, Any, Any]:
    """numpy, and what works with it. Raises QuartetError where that is missing, or `out` cannot be
    written."""
    try:
        import numpy as np  # noqa: PLC0415  (an extra)

        from core.nn.learning import require_place  # noqa: PLC0415
        from ugolki.train import features, learning  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        raise QuartetError(f"training needs numpy: {how_to_install('numpy', 'scipy')}") from None
    require_place(out)
    return np, features, learning


def said() -> str:
    """The command, as the files of weights have it."""
    return shlex.join(["python", "-m", "ugolki.train", *sys.argv[1:]])


if __name__ == "__main__":
    try:
        command()
    except QuartetError as error_:
        raise SystemExit(f"quartet: {error_}") from None
