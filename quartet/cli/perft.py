"""`quartet perft`: count move sequences, the standard test of move generators."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence

import click
from rich.console import Console
from rich.progress import track

from core.rules import Move, Position
from quartet import registry
from quartet.cli import game_options
from quartet.judge import game as games

MAX_DEPTH = 100
"""Deeper counts would never end."""
STEP = 4
"""Plies of one count in compiled code, which signals cannot interrupt: at most some seconds."""


@click.command(short_help="Count move sequences, to test rules (perft).")
@click.argument("game")
@click.argument("depth", type=click.IntRange(0, MAX_DEPTH))
@game_options.position
@game_options.variants
@click.option(
    "--reference",
    is_flag=True,
    help="Count by the reference rules instead of the fast ones.",
)
@click.option("--divide", is_flag=True, help="Print the count for each first move, too.")
@click.option("--json", "as_json", is_flag=True, help="Print only JSON.")
def command(
    game: str,
    depth: int,
    position: str | None,
    variants: Sequence[str],
    reference: bool,
    divide: bool,
    as_json: bool,
) -> None:
    """Count the move sequences of DEPTH plies in GAME.

    The last line of standard output is the count; time and speed go to standard error. A POSITION
    has the form given in the game's RULES.md, or is a file.

    \b
    quartet perft ugolki 3
    quartet perft ataxx 2 --divide --position "x5o/7/7/7/7/7/o5x o 0 1"
    """
    rules: type[Position] = registry.load(game, "reference" if reference else "rules").Position
    options = game_options.read_variants(game, variants)
    start = game_options.read_start(games.load(game), position, options)
    root: Position = start.position(rules)
    started = time.perf_counter()
    counts = _divide(root, depth) if depth > 0 else {}
    count = sum(counts.values()) if depth > 0 else 1
    seconds = time.perf_counter() - started
    write = registry.load(game, "scene").write
    written = {write(move, root): number for move, number in counts.items()}
    if as_json:
        print(
            json.dumps(
                {
                    "game": game,
                    "depth": depth,
                    "count": count,
                    "seconds": round(seconds, 6),
                    "moves": written if divide else None,
                }
            )
        )
        return
    if divide:
        for text, number in written.items():
            print(f"{text}: {number}")
    print(count)
    sys.stdout.flush()
    print(f"{seconds:.3f} s, {count / max(seconds, 1e-9):,.0f} sequences/s", file=sys.stderr)


def _divide(position: Position, depth: int) -> dict[Move, int]:
    """Return the count for each first move, with a progress bar; `depth` is at least 1."""
    if depth == 1:
        return dict.fromkeys(position.legal(), 1)
    bar = track(
        position.legal(),
        "counting",
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    return {move: _count(position.play(move), depth - 1) for move in bar}


def _count(position: Position, depth: int) -> int:
    """Return the count below a position, in steps that Ctrl-C can interrupt."""
    if depth <= STEP:
        return position.perft(depth)
    return sum(_count(position.play(move), depth - 1) for move in position.legal())
