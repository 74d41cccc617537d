"""The toolkit: judge, arena, training, benchmarks, web page and the command line `quartet`.

From Python:

    import quartet

    ataxx = quartet.game("ataxx")
    position = ataxx.start()
    found = ataxx.engine().choose(position, quartet.Limits(nodes=10_000))
    print(ataxx.write(found.move, position), found.score)

`import quartet` loads lazily. No agent imports this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.limits import Limits, SearchInfo
    from quartet.api import Game

__all__ = ["Limits", "SearchInfo", "game", "games"]


def game(name: str) -> Game:
    """Return the game called `name`.

    Raises:
        core.errors.UnknownNameError: There is no such game.
    """
    from quartet.api import Game  # noqa: PLC0415  (lazy)

    return Game(name)


def games() -> list[str]:
    """Return the names of all games."""
    from quartet.registry import GAMES  # noqa: PLC0415  (lazy)

    return list(GAMES)


def __getattr__(name: str) -> Any:
    """Import `Limits` or `SearchInfo` at its first use."""
    if name not in {"Limits", "SearchInfo"}:
        raise AttributeError(f"module 'quartet' has no attribute {name!r}")
    from core import limits  # noqa: PLC0415  (lazy)

    return getattr(limits, name)
