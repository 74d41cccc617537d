"""`python -m applegame.train FILE`: fit the evaluation's weights to the results of self-play.

The same options give the same FILE, a C header. The games are stored in FILE.games, one per line.
An interrupted run resumes from there.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import click

from applegame.train.games import games
from applegame.train.learning import header, table
from core.commands.program import execute
from core.nn.learning import require_place


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--games",
    "count",
    type=click.IntRange(2),
    default=4_000,
    show_default=True,
    help="Number of games; every tenth is held out.",
)
@click.option(
    "--nodes", type=click.IntRange(1), default=400, show_default=True, help="Nodes per search."
)
@click.option(
    "--explore",
    type=click.FloatRange(0, 1),
    default=0.05,
    show_default=True,
    help="Fraction of random moves.",
)
@click.option(
    "--penalty",
    type=click.FloatRange(0, min_open=True),
    default=1.0,
    show_default=True,
    help="Factor of the penalty on squared weights (L2).",
)
@click.option("--seed", default=1, show_default=True, help="Seed of the boards and random moves.")
def command(file: Path, count: int, nodes: int, explore: float, penalty: float, seed: int) -> None:
    """Fit the evaluation's weights to self-play and write them to FILE.

    `bot:weights=FILE` uses them. The default weights, applegame/nn/weights.h, are compiled in.
    """
    require_place(file)
    kept = file.with_name(file.name + ".games")
    found = games(kept, {"seed": seed, "nodes": nodes, "explore": explore}, count)
    rows = table(found, penalty)
    options = (
        f"--games {count} --nodes {nodes} --explore {explore:g} --penalty {penalty:g} --seed {seed}"
    )
    data = (
        f"{sum(map(len, found))} positions of {count} games, CRC-32 "
        f"{zlib.crc32(json.dumps(found).encode()):08x}"
    )
    file.write_text(header(rows, f"python -m applegame.train {options}", data), encoding="ascii")


if __name__ == "__main__":
    execute(command)
