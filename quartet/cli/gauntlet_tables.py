"""The opponents of `quartet gauntlet --table` and `--pool`, by group and block."""

from __future__ import annotations

import math

from core.errors import QuartetError
from quartet import registry
from quartet.arena import gauntlet, schedule
from quartet.arena.gauntlet import OpponentGroup

FIXED = "table"
"""Name of the group of a table that is given."""


def opponents_word(number: int) -> str:
    """Return a number of opponents in words."""
    return f"{number} opponent{'s' * (number > 1)}"


def fixed_table(table: str, count: int, seats: int) -> tuple[list[str], list[OpponentGroup]]:
    """Return the opponents of --table and their blocks. Raises QuartetError."""
    opponents = [name.strip() for name in table.split(",")]
    if len(opponents) != seats - 1 or not all(opponents):
        raise QuartetError(f"a table takes {opponents_word(seats - 1)}, separated by commas")
    names = list(dict.fromkeys(opponents))
    seating = (0, *(1 + names.index(name) for name in opponents))
    return names, [OpponentGroup(FIXED, [seating] * -(-count // schedule.size(seating)))]


def pool_groups(
    is_gauntlet: bool, game: str, chosen: str, count: int, seats: int, seed: int
) -> tuple[list[str], list[OpponentGroup]]:
    """Return the opponents of --pool and their blocks. Raises QuartetError if there is no pool.

    A gauntlet names its groups train and test; `exam`, the former command, odd and even.
    """
    pool = registry.pool(game)
    if pool is None:
        raise QuartetError(f"{game} has no pool of opponents; name some with --against")
    sets = {
        "train": [half for half in pool.HALVES if half != pool.TEST_HALF],
        "test": [pool.TEST_HALF],
        "both": list(pool.HALVES),
    }
    halves = sets.get(chosen, [chosen])
    names = [name for half in halves for name in pool.HALVES[half]]
    blocks = -(-count // math.factorial(seats))
    return names, [
        OpponentGroup(
            half if not is_gauntlet else "test" if half == pool.TEST_HALF else "train",
            gauntlet.draw_tables(
                [1 + names.index(name) for name in pool.HALVES[half]],
                seats,
                blocks,
                f"{seed} {half}",
            ),
        )
        for half in halves
    ]
