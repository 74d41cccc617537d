"""`python -m applegame.train FILE`: the evaluation's weights, fitted to who won games of the engine
against itself.

The same options give the same file, a header for the compiler. The games are kept beside it, in
FILE.games, a line each: a run that was interrupted goes on from there.
"""

from __future__ import annotations

import json
import sys
import zlib
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import click
import numpy as np
from rich.console import Console
from rich.progress import track

from applegame.engine import UNIT, WEIGHTS_SHAPE, Engine, feature_list
from applegame.rules import Position
from core.errors import TextError
from core.limits import Limits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RANDOM_PLIES = 2
"""At the start of a game, that none is like another."""
TABLE = 4
"""Megabytes of the engine's table."""
ENOUGH = 100
"""Positions held back without which a phase is not fitted."""
STEPS = 30
"""Of Newton's method, which needs about ten."""


def play(seed: str, nodes: int, explore: float) -> list[list[int]]:
    """The positions of a game: the phase and the features for the side to move, then the cells by
    which that side won."""
    random = Random(seed)
    engine = Engine(hash=TABLE)
    position = Position.start(random.randrange(1 << 40))
    seen: list[tuple[int, list[int]]] = []
    while not position.over:
        if position.ply >= RANDOM_PLIES:
            seen.append((position.to_move, feature_list(position)))
        if position.ply < RANDOM_PLIES or random.random() < explore:
            move = random.choice(position.legal()[1:] or position.legal())
        else:
            move = engine.choose(position, Limits(nodes=nodes)).move
        position = position.play(move)
    first, second = (cells or 0 for cells in position.scores())
    return [[*row, (second - first) if side else (first - second)] for side, row in seen]


def games(file: Path, options: dict[str, float], count: int) -> list[list[list[int]]]:
    """So many games, those in the file and new ones, which are added to it. Raises TextError where
    the file is of other options."""
    head = json.dumps(options)
    lines = (
        file.read_text(encoding="ascii").splitlines(keepends=True)
        if file.exists()
        else [head + "\n"]
    )
    if lines[0] != head + "\n":
        raise TextError(f"{file} has games of other options: {lines[0].strip()}")
    if not lines[-1].endswith("\n"):  # the run was interrupted while it wrote a game
        lines.pop()
    file.write_text("".join(lines), encoding="ascii")
    found = [json.loads(line) for line in lines[1 : count + 1]]
    with file.open("a", encoding="ascii") as out:
        for number in track(
            range(len(found), count),
            "games",
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
        ):
            found.append(
                play(f"{options['seed']} {number}", int(options["nodes"]), options["explore"])
            )
            out.write(json.dumps(found[-1], separators=(",", ":")) + "\n")
            out.flush()
    return found


def fit(features: Floats, won: Floats, penalty: float) -> Floats:
    """Weights of a logistic regression without a constant, by Newton's method; the penalty is on
    their squares, in units of the spread."""
    spread = features.std(axis=0) + 1e-9
    scaled = features / spread
    weights = np.zeros(features.shape[1])
    for _ in range(STEPS):
        expected = 1 / (1 + np.exp(-scaled @ weights))
        slope = scaled.T @ (expected - won) + penalty * weights
        curve = (scaled * (expected * (1 - expected))[:, None]).T @ scaled + penalty * np.eye(
            len(weights)
        )
        weights -= np.linalg.solve(curve, slope)
    fitted: Floats = weights / spread
    return fitted


def loss(features: Floats, won: Floats, weights: Floats) -> float:
    """Cross entropy of the results, in nats a position."""
    return float(np.logaddexp(0, np.where(won > 0, -1, 1) * (features @ weights)).mean())


def table(found: list[list[list[int]]], penalty: float) -> list[list[int]]:
    """The weights of every phase; prints how well they foretell every tenth game, which is held
    back.

    The first phases, which few games come to, may have to do with the weights of the next. Raises
    TextError where none has a game.
    """
    samples = np.array(
        [[number, *row] for number, game in enumerate(found) for row in game if row[-1]],
        dtype=np.float64,
    )
    rows: list[list[int]] = []
    for phase in reversed(range(WEIGHTS_SHAPE[0])):
        part = samples[samples[:, 1] == phase]
        features, won, held = (
            part[:, 2:-1],
            (part[:, -1] > 0).astype(np.float64),
            part[:, 0] % 10 == 0,
        )
        if held.sum() < ENOUGH:
            if not rows:
                raise TextError(
                    f"too few games: only {held.sum()} positions are held back of phase {phase}, not {ENOUGH}"
                )
            rows.append(rows[-1])
            continue
        weights = fit(features[~held], won[~held], penalty)
        click.echo(
            f"phase {phase}: {len(part)} positions, held back {loss(features[held], won[held], weights):.4f} nats",
            err=True,
        )
        rows.append([round(UNIT * weight) for weight in weights])
    return rows[::-1]


def header(rows: list[list[int]], command: str, data: str) -> str:
    """The file of weights."""
    body = "\n".join(f"    {{{', '.join(str(weight) for weight in row)}}}," for row in rows)
    return (
        f"/* Weights of the evaluation, by phase, then by feature; {UNIT} points are a unit of the logistic function.\n"
        f"   Made by: {command}\n   From: {data} */\n"
        "#ifndef QUARTET_APPLEGAME_WEIGHTS_H\n#define QUARTET_APPLEGAME_WEIGHTS_H\n\n"
        f"static const int WEIGHTS[{WEIGHTS_SHAPE[0]}][{WEIGHTS_SHAPE[1]}] = {{\n{body}\n}};\n\n#endif\n"
    )


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--games",
    "count",
    type=click.IntRange(2),
    default=4_000,
    show_default=True,
    help="Every tenth is held back.",
)
@click.option(
    "--nodes", type=click.IntRange(1), default=400, show_default=True, help="Of each search."
)
@click.option(
    "--explore",
    type=click.FloatRange(0, 1),
    default=0.05,
    show_default=True,
    help="Share of random moves.",
)
@click.option(
    "--penalty",
    type=click.FloatRange(0, min_open=True),
    default=1.0,
    show_default=True,
    help="On the weights' squares.",
)
@click.option("--seed", default=1, show_default=True)
def command(file: Path, count: int, nodes: int, explore: float, penalty: float, seed: int) -> None:
    """Fit the evaluation's weights to games of the engine against itself and write them to FILE,
    applegame/nn/weights.h as a rule."""
    kept = file.with_name(file.name + ".games")
    try:
        found = games(kept, {"seed": seed, "nodes": nodes, "explore": explore}, count)
        rows = table(found, penalty)
    except TextError as error:
        raise click.ClickException(str(error)) from None
    options = (
        f"--games {count} --nodes {nodes} --explore {explore:g} --penalty {penalty:g} --seed {seed}"
    )
    data = f"{sum(map(len, found))} positions of {count} games, CRC-32 {zlib.crc32(json.dumps(found).encode()):08x}"
    file.write_text(header(rows, f"python -m applegame.train {options}", data), encoding="ascii")


if __name__ == "__main__":
    command()
