"""The games there are. This is the only file that lists them: a new game is its folder and one line
here."""

from __future__ import annotations

import importlib
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from core.engine import parse_player
from core.errors import NotBuiltError, QuartetError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import ModuleType

GAMES = {
    "ataxx": "ataxx",
    "applegame": "applegame",
    "connexion": "connexion",
    "ugolki": "ugolki",
}
"""Game name -> package."""

ROOT = Path(__file__).resolve().parents[1]
"""The folder in which our packages lie: the checkout, or where they are installed."""

HOW_TO_BUILD = "build the compiled modules first: python -m pip install -e . (in the checkout)"


def check(game: str) -> None:
    """Raises UnknownNameError when there is no such game."""
    if game not in GAMES:
        raise UnknownNameError(f"no game is called {game!r}; there are: {', '.join(GAMES)}")


def has(game: str, part: str) -> bool:
    """Whether a game has this part ("rules", "train.samples"), be it compiled or not: one that is
    still being written may lack some.

    Raises UnknownNameError when there is no such game.
    """
    check(game)
    return any(
        files(GAMES[game]).joinpath(part.replace(".", "/") + ending).is_file()
        for ending in (".py", ".pyi")
    )


def load(game: str, part: str) -> ModuleType:
    """The module `part` (reference, rules, engine, protocol, players, train.samples, ...) of a
    game.

    Raises:
        UnknownNameError: there is no such game.
        NotBuiltError: the game's compiled modules are missing, or it has no such part.
    """
    check(game)
    name = f"{GAMES[game]}.{part}"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and name.startswith(error.name) and not has(game, part):
            raise NotBuiltError(f"{game} has no {part} yet") from error
        raise not_built(error) from error


def not_built(error: ModuleNotFoundError) -> ImportError:
    """What to raise for a module that is missing: NotBuiltError where it is a compiled one of ours,
    the error itself elsewhere."""
    if error.name is not None and error.name.partition(".")[0] in {"core", *GAMES.values()}:
        return NotBuiltError(f"{error.name} is missing; {HOW_TO_BUILD}")
    return error


def is_player(game: str, name: str) -> bool:
    """Whether the game has a built-in player of that name; options, as in NAME:OPTION=VALUE, are
    not looked at.

    Raises:
        UnknownNameError: there is no such game.
        TextError: it is a player, and what follows its name are no options.
    """
    if not has(game, "players"):
        return False
    bare, _ = parse_player(name)
    try:
        load(game, "players").player(bare)
    except UnknownNameError:
        return False
    return True


class Pool(Protocol):
    """What a game's `frozen/pool/players.py` offers: the opponents that players are examined
    against.

    Attributes:
        HALVES: Mapping[str, Sequence[str]]; the names of the players, by half.
        TEST_HALF: str; the half that nothing is trained or tuned on.
    """

    HALVES: Mapping[str, Sequence[str]]
    TEST_HALF: str

    def kinds(self, name: str) -> Mapping[str, str]:
        """What a player is like, in words, by what is told ("search": "beam"); nothing of players
        of other places."""
        ...


def pool(game: str) -> Pool | None:
    """The pool of a game, None where it has none. Raises UnknownNameError, NotBuiltError."""
    part = "frozen.pool.players"
    return cast("Pool", load(game, part)) if has(game, part) else None


def is_held_out(game: str, name: str) -> bool:
    """Whether a player is of the half of a game's pool that serves for tests alone. Raises
    UnknownNameError when there is no such game."""
    found = pool(game)
    return found is not None and name in found.HALVES[found.TEST_HALF]


def require_training(game: str, names: Iterable[str]) -> None:
    """Raise QuartetError where somebody is not to be trained or tuned against: what is chosen by
    its games would say nothing of strength any more."""
    for name in names:
        if is_held_out(game, name):
            raise QuartetError(
                f"{name} is of the test half: nothing is trained or tuned on it "
                "(quartet exam measures a finished change)"
            )
