"""The workshop: judge, arena, training, benches and the command line `quartet`.

From Python:

    import quartet

    ataxx = quartet.game("ataxx")
    position = ataxx.start()
    found = ataxx.engine().choose(position, quartet.Limits(nodes=10_000))
    print(ataxx.write(found.move, position), found.score)

Nothing is imported before it is asked for, and no agent imports this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.limits import Limits, SearchInfo
    from quartet.face import Game

__all__ = ["Limits", "SearchInfo", "game", "games"]


def game(name: str) -> Game:
    """The game called `name`.

    Raises:
        core.errors.UnknownNameError: there is none of that name.
    """
    from quartet.face import Game  # noqa: PLC0415  (lazy)

    return Game(name)


def games() -> list[str]:
    """The names of all games."""
    from quartet.registry import GAMES  # noqa: PLC0415  (lazy)

    return list(GAMES)


def __getattr__(name: str) -> Any:
    """`Limits` and `SearchInfo`, when they are first asked for."""
    if name not in {"Limits", "SearchInfo"}:
        raise AttributeError(f"module 'quartet' has no attribute {name!r}")
    from core import limits  # noqa: PLC0415  (lazy)

    return getattr(limits, name)
