"""The frozen players of Connexion by name: opponents to measure against, which must never change.

Each is self-contained but for the rules. They are imported when they are asked for, and not packed.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from connexion.rules import Position
    from core.engine import Searcher

MOST_PLIES = 20
MOST_WIDTH = 320
"""No position has more moves."""


def player(name: str) -> Searcher[Position] | None:
    """The frozen player of that name; None where there is none. Raises ImportError where it is not
    compiled."""
    if name in {"sample", "margin"}:
        from connexion.frozen.beam import OnePly  # noqa: PLC0415

        return OnePly(margin=name == "margin")
    kind, *words = name.split(":")
    if kind != "beam" or not all(word.isdecimal() and word.isascii() for word in words):
        return None
    from connexion.frozen.beam import Beam, TimedBeam  # noqa: PLC0415

    match [int(word) for word in words]:
        case [plies] if 1 <= plies <= MOST_PLIES:
            return TimedBeam(plies)
        case [plies, root, inner] if (
            1 <= plies <= MOST_PLIES and 1 <= root <= MOST_WIDTH and 1 <= inner <= MOST_WIDTH
        ):
            return Beam(plies, root, inner)
    return None
