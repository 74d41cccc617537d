"""`python -m ugolki.train`: train the networks of Ugolki on games of self-play.

Generate samples. Train the solo network on the exact table of solo distances (1.3 GB of memory),
then the value and the policy network:

    quartet selfplay ugolki --games 20000 --out runs/one
    python -m ugolki.train solo runs/one --out runs/solo.bin
    python -m ugolki.train fit runs/one --solo runs/solo.bin --out runs/three.bin
    quartet selfplay ugolki --player gumbel --nodes 32 --games 800000 --out runs/many

Continue the training on games with other players:

    quartet selfplay ugolki --player mixed --games 16000 --out runs/mixed
    python -m ugolki.train fit runs/mixed --begin runs/three.bin --out runs/on.bin

Train the opponents' network on the moves of other players, and measure how well it predicts them:

    quartet selfplay ugolki --player opponents --games 8000 --out runs/others
    python -m ugolki.train predict runs/others --weights runs/on.bin --out ugolki/nn/weights.bin
    python -m ugolki.train opponents brs:5 beam:100 uct:1000 greedy

Fit the table of triples of the pool's players to the exact table:

    python -m ugolki.train triples --out ugolki/frozen/pool/triples.bin
"""

from __future__ import annotations

import math
import os
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.commands.program import execute
from core.errors import QuartetError
from core.extras import install_hint
from core.nn.sealed import seal, unseal
from ugolki.frozen.pool.players import HALVES, TEST_HALF

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = click.Path(path_type=Path, exists=True, file_okay=False)
FILE = click.Path(path_type=Path, dir_okay=False)
seed_option = partial(
    click.option, "--seed", type=click.IntRange(min=0), default=1, show_default=True
)
rate_option = partial(
    click.option,
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    show_default=True,
    help="Highest learning rate of the schedule.",
)


def epochs_option(default: int, what: str, name: str = "--epochs") -> Callable[[Any], Any]:
    """Return the option for the number of passes over the samples."""
    return click.option(
        name, type=click.IntRange(min=1), default=default, show_default=True, help=what
    )


@click.group()
def command() -> None:
    """Train the networks on the samples of `quartet selfplay ugolki`."""


@command.command("solo")
@click.argument("data", nargs=-1, required=True, type=DATA)
@click.option("--out", type=FILE, required=True, help="Write the solo network to FILE.")
@epochs_option(15, "Passes over the placements.")
@rate_option(default=0.004)
@seed_option(help="Seed of initial weights and order.")
def solo(data: tuple[Path, ...], out: Path, epochs: int, rate: float, seed: int) -> None:
    """Compute the shortest solo path of every placement, and train the solo network on the
    placements in DATA."""
    np, features, learning, table_samples = tools(out)
    threads = os.cpu_count() or 1
    samples = table_samples.load(data)
    placements = learning.placements_of(samples, seed)
    table = learning.solo_table(
        threads, lambda distance: print(f"{distance} moves", file=sys.stderr, flush=True)
    )
    numbers = np.empty(len(placements), np.uint32)
    features.numbers_of(placements, numbers)
    moves = table[numbers].astype(np.float32)
    order = np.random.default_rng(seed).permutation(len(placements))
    held_out, training = np.split(order, [len(order) // table_samples.HELD_OUT])
    batch = min(4096, len(training))
    net = learning.Net(features.CELLS, 6, seed, rate, epochs * (len(training) // batch), threads)
    of = learning.solo_loss(placements, moves)

    def progress(epoch: int, loss: float) -> None:
        print(f"epoch {epoch}: loss {loss:.6f}", flush=True)

    learning.trained(net, of, training, batch, epochs, seed, progress)
    body = learning.quantised_solo(net.parameters)
    error = np.abs(learning.solo_moves(body, placements[held_out]) - moves[held_out])
    near = moves[held_out] <= learning.MIDDLE
    print(
        f"{len(placements)} placements; mean error on those held out: {error.mean():.3f} moves, "
        f"at most {learning.MIDDLE} moves from home {error[near].mean():.3f}"
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
@click.option("--solo", "solo_file", type=FILE, help="Start from scratch with this solo network.")
@click.option("--begin", type=FILE, help="Continue the training from these weights.")
@click.option("--out", type=FILE, required=True, help="Write the weights to FILE.")
@epochs_option(4, "Passes of the value network over the samples.")
@epochs_option(4, "Passes of the policy network over the samples.", "--policy-epochs")
@rate_option(default=0.004)
@click.option(
    "--lambda",
    "td_lambda",
    type=click.FloatRange(0, 1),
    default=0.95,
    show_default=True,
    help="Lambda of the value targets: 1 is the result, 0 the search.",
)
@seed_option(help="Seed of initial weights and order.")
def fit(
    data: tuple[Path, ...],
    solo_file: Path | None,
    begin: Path | None,
    out: Path,
    epochs: int,
    policy_epochs: int,
    rate: float,
    td_lambda: float,
    seed: int,
) -> None:
    """Train the value and the policy network on the samples in DATA.

    The file of weights also holds the solo network and the opponents' network. With --begin, both
    stay as they are. With --solo, the opponents' network is a copy of the policy network.
    """
    _, features, learning, table_samples = tools(out)
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
        raise QuartetError("pass either --solo, to start from scratch, or --begin, to continue")
    samples = table_samples.load(data)
    sharpness = " ".join(f"{one:.2f}" for one in samples.sharpness)
    print(
        f"{len(samples)} samples; sharpness of the search's win shares, by folder: {sharpness}",
        flush=True,
    )
    value = learning.value_loss(samples, table_samples.targets_of(samples, td_lambda), solo_body)
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
            ("policy", learning.policy_loss(samples, solo_body), 1024, policy_epochs, policy_begin),
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
@click.option("--weights", type=FILE, required=True, help="Weights with the other networks.")
@click.option("--out", type=FILE, required=True, help="Write the weights to FILE.")
@epochs_option(4, "Passes over the samples.")
@rate_option(default=0.001)
@seed_option(help="Seed of the order.")
def predict(
    data: tuple[Path, ...], weights: Path, out: Path, epochs: int, rate: float, seed: int
) -> None:
    """Train the opponents' network on the moves of other players in DATA.

    Training starts from the policy network. The other networks are copied unchanged.
    """
    _, _, learning, table_samples = tools(out)
    fields, body = sealed_in(weights, "weights")
    value, policy, _, solo_body = learning.networks_of(body)
    samples = table_samples.load(data)
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
    help="Games to play, each between four random ones of NAMES.",
)
@seed_option(help="Seed of the openings and the seats.")
def opponents(names: tuple[str, ...], games: int, seed: int) -> None:
    """Print how well the opponents' network predicts the moves of the players NAMES."""
    for name in names:
        if name in HALVES[TEST_HALF]:
            raise QuartetError(f"{name} is in the test set: nothing is fitted to it")
    from ugolki.train import opponents as prediction  # noqa: PLC0415  (compiled)

    with click.progressbar(length=games, file=sys.stderr) as bar:
        found = prediction.choices_of(names, games, seed, lambda: bar.update(1))
    for name, choices in found.items():
        if not choices:
            raise QuartetError(f"{name} has not moved in {games} games: raise --games")
        likeliest = sum(one.shares[one.chosen] == max(one.shares.values()) for one in choices)
        nats = -sum(math.log(one.shares[one.chosen]) for one in choices)
        print(
            f"{name}: {len(choices)} moves, {100 * likeliest / len(choices):.1f} % the likeliest "
            f"one, {nats / len(choices):.3f} nats"
        )


@command.command("accuracy")
@click.argument("names", nargs=-1, required=True)
@click.option(
    "--records", type=DATA, multiple=True, required=True, help="Folder of a run; repeat it."
)
@click.option("--nodes", type=click.IntRange(min=1), default=1000, show_default=True)
@click.option(
    "--every",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Search one turn in N.",
)
def accuracy(names: tuple[str, ...], records: tuple[Path, ...], nodes: int, every: int) -> None:
    """Print how well the win shares of the players NAMES predict the results of recorded games.

    The figure is the cross-entropy in nats, and its difference to the first player with its
    standard error.
    """
    from ugolki.train import accuracy as prediction  # noqa: PLC0415  (compiled)

    def report(name: str, found: prediction.Accuracy) -> None:
        difference = f"{found.difference:+.4f} +- {found.error:.4f}"
        print(f"{name}: {found.loss:.4f} nats, {difference} to the first", flush=True)

    games = prediction.read_games(records)
    print(f"{len(games)} games, {nodes} nodes, one turn in {every}", flush=True)
    prediction.measure(names, games, nodes, every, report)


@command.command("triples")
@click.option("--out", type=FILE, required=True, help="Write the table of triples to FILE.")
@click.option(
    "--games",
    type=click.IntRange(min=1),
    default=600,
    show_default=True,
    help="Games to play for placements.",
)
@click.option(
    "--iterations",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Iterations of the least squares.",
)
@seed_option(help="Seed of games and held-out placements.")
def triples(out: Path, games: int, iterations: int, seed: int) -> None:
    """Fit the pool's table of triples to the exact solo distances; this takes 6 GB of memory."""
    np, _, learning, table_samples = tools(out)
    try:
        from ugolki.train import triples as table_of_triples  # noqa: PLC0415  (an extra)
    except ModuleNotFoundError as error:
        if error.name != "scipy":
            raise
        raise QuartetError(f"this needs scipy: {install_hint('scipy')}") from None
    with click.progressbar(length=games, file=sys.stderr, label="games") as bar:
        placements = table_of_triples.placements_of(games, seed, lambda: bar.update(1))
    table = learning.solo_table(
        os.cpu_count() or 1,
        lambda distance: print(f"{distance} moves", file=sys.stderr, flush=True),
    )
    moves = table_of_triples.moves_home(table, placements)
    del table
    order = np.random.default_rng(seed).permutation(len(placements))
    held_out, training = np.split(order, [len(order) // table_samples.HELD_OUT])
    weights = table_of_triples.quantised(
        table_of_triples.fitted(placements[training], moves[training], iterations)
    )
    errors = np.abs(table_of_triples.estimates(weights, placements[held_out]) - moves[held_out])
    near = moves[held_out] <= learning.MIDDLE
    print(
        f"{len(placements)} placements; "
        f"mean error on those held out: {errors.mean():.3f} moves, "
        f"at most {learning.MIDDLE} moves from home {errors[near].mean():.3f}"
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
    """Return the fields and the body of a file of networks.

    Raises:
        QuartetError: The file cannot be read, or it is not of this kind.
    """
    try:
        return unseal(kind, file.read_bytes(), "ugolki")
    except OSError as error:
        raise QuartetError(f"cannot read {file}: {error.strerror}") from None


def tools(out: Path) -> tuple[Any, Any, Any, Any]:
    """Import numpy and the modules that need it: (numpy, features, learning, table_samples).

    Raises:
        QuartetError: numpy is missing, or `out` cannot be written.
    """
    try:
        import numpy as np  # noqa: PLC0415  (an extra)

        from core.nn.learning import require_place  # noqa: PLC0415
        from ugolki.train import features, learning, table_samples  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        raise QuartetError(f"training needs numpy: {install_hint('numpy', 'scipy')}") from None
    require_place(out)
    return np, features, learning, table_samples


def said() -> str:
    """Return the command line, as the files of weights record it."""
    return shlex.join(["python", "-m", "ugolki.train", *sys.argv[1:]])


if __name__ == "__main__":
    execute(command)
