"""Play moves with the packed Windows executable of Ugolki under Wine, every second one after a
damaged input. It must answer with a legal move, and report in one line what is wrong with an input.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from core.errors import QuartetError
from quartet.cli import build_tools
from tests.long.fuzz import Mutator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.long.progress import Attempt
    from tests.test_pack_exe import Strategy

POOL = 100
"""Positions to choose from."""
NODES = "100"


def check(strategy: Strategy, data: bytes) -> None:
    """Let the executable answer an input. Raises QuartetError if it breaks its contract."""
    from ugolki.protocol import read_input  # noqa: PLC0415
    from ugolki.rules import Position  # noqa: PLC0415

    output = strategy.folder / "output.txt"
    output.unlink(missing_ok=True)
    done = strategy.run(data=data, QUARTET_NODES=NODES)
    complaints = done.stderr.splitlines()
    if (done.returncode, len(complaints)) not in {(0, 0), (2, 1)} or done.stdout:
        raise QuartetError(
            f"status {done.returncode}, {done.stderr[-300:]!r}: input {data[:200]!r}"
        )
    reading = read_input(data)
    if output.exists():
        move = strategy.answer()
        if reading.complaint is None:
            position = Position.from_cells(reading.cells, 4 * reading.turn, 10**6)
            legal = move in position.pseudolegal()
        else:  # it moves a piece of ours onto an empty cell
            x, y, to_x, to_y = move
            legal = reading.cells[y * 10 + x] == 1 and reading.cells[to_y * 10 + to_x] == 0
        if not legal:
            raise QuartetError(f"{move} is not legal: input {data[:200]!r}")
    elif done.returncode == 0:
        raise QuartetError(f"no answer: input {data[:200]!r}")


@contextmanager
def trial() -> Iterator[Attempt]:
    """Pack the executable. Each attempt is one move."""
    from tests.test_pack_exe import lay, positions  # noqa: PLC0415  (pytest takes time)

    inputs = [position.text().encode() for position in positions(POOL, seed=1)]
    with tempfile.TemporaryDirectory() as folder:
        made = build_tools.load("exe").make("ugolki", Path(folder, "made"), platform="windows")
        strategy = lay(made, Path(folder))

        def attempt(number: int) -> tuple[int, str]:
            random = Random(f"windows {number}")
            mutator = Mutator(inputs, random)
            check(strategy, mutator.draw() if number % 2 else random.choice(inputs))
            return 1, ""

        yield attempt
