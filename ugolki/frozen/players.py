"""The frozen players of Ugolki by name: opponents to measure against, which must never change.

Each is self-contained but for the rules. They are imported when they are asked for, and not packed.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from core.engine import Searcher
    from ugolki.rules import Position

MOST_PLIES, MOST_ITERATIONS, MOST_WIDTH = 20, 1_000_000, 1000


def player(name: str, seed: int | None = None) -> Searcher[Position] | None:
    """The frozen player of that name; None where there is none. `seed` is of the noise of those
    that have one. Raises ImportError where it is not compiled."""
    if name.startswith("pool:"):
        from ugolki.frozen.pool import players as pool  # noqa: PLC0415

        return pool.player(name, seed)
    if name == "bot2611":
        from ugolki.frozen.bot2611.engine import Bot2611  # noqa: PLC0415

        return Bot2611()
    if name == "ucb":
        from ugolki.frozen.ucb.engine import Ucb  # noqa: PLC0415

        return Ucb()
    kind, _, digits = name.partition(":")
    in_milliseconds = kind == "ucb" and digits.endswith("ms")
    digits = digits.removesuffix("ms") if in_milliseconds else digits
    number = int(digits) if digits.isdecimal() and digits.isascii() else 0
    if kind == "brs" and 1 <= number <= MOST_PLIES:
        from ugolki.frozen.best_reply import BestReply  # noqa: PLC0415

        return BestReply(number)
    if kind == "uct" and 1 <= number <= MOST_ITERATIONS:
        from ugolki.frozen.uct import Uct  # noqa: PLC0415

        return Uct(number)
    if kind == "ucb" and 1 <= number <= MOST_ITERATIONS:
        from ugolki.frozen.ucb.engine import Ucb  # noqa: PLC0415

        return Ucb(milliseconds=number) if in_milliseconds else Ucb(iterations=number)
    if kind == "beam" and 1 <= number <= MOST_WIDTH:
        from ugolki.frozen.beam import Beam  # noqa: PLC0415

        return Beam(number)
    return None
