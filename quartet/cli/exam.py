"""`quartet exam`: the former name of `quartet gauntlet --pool` and `--table`, kept during 1.x."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from core.errors import QuartetError
from quartet.cli import gauntlet, run_options
from quartet.cli.run_options import RunOptions


@click.command(short_help="Former name of `gauntlet --pool` and `gauntlet --table`.")
@click.argument("game")
@click.option("--player", default="bot", show_default=True, metavar="COMMAND", help="The player.")
@gauntlet.pool_option
@click.option("--against", metavar="A,B,C", help="As `quartet gauntlet --table`.")
@click.option(
    "--games",
    "count",
    type=click.IntRange(min=1),
    default=96,
    show_default=True,
    help="As `quartet gauntlet --games`.",
)
@run_options.options
def command(
    game: str, player: str, pool: str | None, against: str | None, count: int, **options: Any
) -> None:
    """Run `quartet gauntlet GAME PLAYER --pool ...` or `--table ...` without keeping the rating.

    Folders of earlier runs of `exam` resume with the same command.

    \b
    quartet exam ugolki --pool train --games 96 --in-process
    """
    print(
        "quartet: exam is deprecated; use: quartet gauntlet GAME PLAYER --pool SET or --table A,B,C",
        file=sys.stderr,
    )
    if (pool is None) == (against is None):
        raise QuartetError("pass one of --pool (or --half) and --against")
    settings = RunOptions.read(options)
    facts = gauntlet.play_groups("exam", game, player, count, settings, pool=pool, table=against)
    if settings.as_json:
        print(json.dumps(facts, indent=2))
