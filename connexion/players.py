"""The built-in players of Connexion, by name. All but `bot` are frozen: opponents to measure
against must not improve with us.

`sample` is the judge's sample AI; RULES.md says how the others play.
"""

from __future__ import annotations

from random import Random

from core.errors import UnknownNameError
from core.players import Greedy, Uniform, lead_after

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from core.rules import Searcher

NAMES = ("bot", "greedy", "random", "sample", "margin", "beam:5:12:6", "beam:5:40:16")
MOST_PLIES = 20
MOST_WIDTH = 320
"""No position has more moves."""


def player(name: str, seed: int | None = None) -> Searcher[Any]:
    """The built-in player of that name; `seed` makes its random choices reproducible. Raises
    UnknownNameError, ImportError."""
    if name == "bot":
        # Compiled; `greedy` and `random` play without.
        from connexion.engine import Engine  # noqa: PLC0415

        return Engine()
    if name == "greedy":
        return Greedy(Random(seed), lead_after)  # as if the game were over
    if name == "random":
        return Uniform(Random(seed))
    if name in {"sample", "margin"}:
        from connexion.frozen.beam import OnePly  # noqa: PLC0415

        return OnePly(margin=name == "margin")
    kind, *numbers = name.split(":")
    if (
        kind == "beam"
        and len(numbers) == 3
        and all(number.isdecimal() and number.isascii() for number in numbers)
    ):
        plies, root, inner = map(int, numbers)
        if 1 <= plies <= MOST_PLIES and 1 <= root <= MOST_WIDTH and 1 <= inner <= MOST_WIDTH:
            from connexion.frozen.beam import Beam  # noqa: PLC0415

            return Beam(plies, root, inner)
    raise UnknownNameError(
        f"Connexion has no built-in player {name!r}; there are: {', '.join(NAMES)} (or other numbers)"
    )
