"""Self-play of the apple game's engine, for the fit of its evaluation."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random

from rich.console import Console
from rich.progress import track

from applegame.engine import Engine, feature_list
from applegame.rules import Position
from core.errors import TextError
from core.limits import Limits

RANDOM_PLIES = 2
"""Random plies at the start of a game, so that games differ."""
TABLE = 4
"""Megabytes of the engine's transposition table."""


def play(seed: str, nodes: int, explore: float) -> list[list[int]]:
    """Play a game and return its positions.

    Each is a list: the phase, the features for the side to move, and the cells by which that side
    won.
    """
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
    """Return `count` games: those of the file, and new ones, which are appended to it.

    Raises:
        TextError: The file holds games of other options.
    """
    head = json.dumps(options)
    lines = (
        file.read_text(encoding="ascii").splitlines(keepends=True)
        if file.exists()
        else [head + "\n"]
    )
    if lines[0] != head + "\n":
        raise TextError(
            f"{file} holds games of other options: {lines[0].strip()}; choose another FILE"
        )
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
