"""`python -m ataxx.make_openings`: makes the book of balanced openings, ataxx/openings.txt.

An opening is so many random plies from the start, of which the engine, with a fixed number of
nodes, finds that neither side is far ahead. No two are the same by turning and reflecting the
board. The book says at its head how it was made.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from rich.console import Console
from rich.progress import track

from ataxx.fen import SIZE
from ataxx.openings import BOOK
from ataxx.players import NAMES, player
from ataxx.rules import Position
from core.engine import FORGET, can
from core.limits import Limits


def symmetries() -> Iterator[list[int]]:
    """For each of the eight ways to lay the board on itself, which cell comes to lie on each."""
    board = [[row * SIZE + column for column in range(SIZE)] for row in range(SIZE)]
    for _ in range(2):
        for _ in range(4):
            board = [list(row) for row in zip(*board[::-1], strict=True)]
            yield [cell for row in board for cell in row]
        board = [row[::-1] for row in board]


SYMMETRIES = list(symmetries())


def canonical(position: Position) -> tuple[int, ...]:
    """The cells of a position, the same for all that are laid on it by a symmetry."""
    return min(tuple(position.cells[cell] for cell in order) for order in SYMMETRIES)


def openings(
    plies: int, nodes: int, most: int, seed: int, name: str
) -> Iterator[tuple[Position, int]]:
    """Openings without end, or until nearly all that are drawn are known, with their scores for the
    side to move."""
    random = Random(seed)
    engine: Any = player(name, seed)
    known: set[tuple[int, ...]] = set()
    repeated = 0
    while repeated < 1000:
        position = Position.start()
        while position.ply < plies and not position.over:
            position = position.play(random.choice(position.legal()))
        if position.over or canonical(position) in known:
            repeated += 1
            continue
        repeated = 0
        known.add(canonical(position))
        if can(engine, FORGET):
            engine.forget()  # what was searched before must not matter
        score = engine.choose(position, Limits(nodes=nodes)).score
        if abs(score) <= most:
            yield position, score


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m ataxx.make_openings", description="Make the book of balanced openings."
    )
    parser.add_argument(
        "--plies", type=int, default=4, help="of each opening (default: %(default)s)"
    )
    parser.add_argument(
        "--count", type=int, default=2000, help="of openings (default: %(default)s)"
    )
    parser.add_argument(
        "--nodes",
        type=int,
        default=20000,
        help="of the search that weighs each (default: %(default)s)",
    )
    parser.add_argument(
        "--most",
        type=int,
        default=60,
        help="score of a balanced one, for either side (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    parser.add_argument(
        "--player", default=NAMES[0], choices=NAMES, help="who weighs (default: %(default)s)"
    )
    parser.add_argument(
        "--out", type=Path, default=BOOK, metavar="FILE", help="default: %(default)s"
    )
    chosen = parser.parse_args(arguments)
    command = " ".join(
        f"--{name} {getattr(chosen, name)}"
        for name in ("plies", "count", "nodes", "most", "seed", "player")
    )
    lines = [f"# python -m ataxx.make_openings {command}"]
    found = islice(
        openings(chosen.plies, chosen.nodes, chosen.most, chosen.seed, chosen.player), chosen.count
    )
    shown = track(
        found,
        "openings",
        chosen.count,
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
    )
    lines += [position.text() for position, _ in shown]
    if len(lines) <= chosen.count:
        print(f"only {len(lines) - 1} openings are balanced enough", file=sys.stderr)
    chosen.out.write_text("".join(line + "\n" for line in lines), encoding="ascii", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
