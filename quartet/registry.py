"""The list of games. A new game is a package and one line here."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, cast

from core.engine import parse_player
from core.errors import NotBuiltError, QuartetError, UnknownNameError

if TYPE_CHECKING:
    from core.engine import Searcher

GAMES = {
    "ataxx": "ataxx",
    "applegame": "applegame",
    "connexion": "connexion",
    "ugolki": "ugolki",
}
"""Game name -> package."""

PACKAGES = ("core", *GAMES.values(), "quartet")
"""The packages that are compiled and installed."""

ROOT = Path(__file__).resolve().parents[1]
"""Folder of the project's packages: the checkout, or the place of installation."""

HOW_TO_BUILD = "build the compiled modules first: python -m pip install -e . (in the checkout)"


def check(game: str) -> None:
    """Raise UnknownNameError if there is no such game, or no such package."""
    if game not in GAMES:
        raise UnknownNameError(f"no game is called {game!r}; there are: {', '.join(GAMES)}")
    if find_spec(GAMES[game]) is None:
        raise UnknownNameError(f"GAMES names the package {GAMES[game]}, which does not exist")


def has(game: str, part: str) -> bool:
    """Return True if a game has a part ("rules", "train.samples"), compiled or not.

    Raises:
        UnknownNameError: There is no such game.
    """
    check(game)
    return any(
        files(GAMES[game]).joinpath(part.replace(".", "/") + ending).is_file()
        for ending in (".py", ".pyi")
    )


def load(game: str, part: str) -> ModuleType:
    """Return a module of a game.

    Args:
        game: Name of the game.
        part: reference, rules, engine, protocol, players, train.samples, ...

    Raises:
        UnknownNameError: There is no such game.
        NotBuiltError: The game's compiled modules are missing, or it has no such part.
        QuartetError: INFO of `reference` does not fit.
    """
    check(game)
    name = f"{GAMES[game]}.{part}"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and name.startswith(error.name) and not has(game, part):
            raise NotBuiltError(f"{game} has no {part} yet") from error
        raise not_built(error) from error
    if part == "reference":
        _check_info(game, module)
    return module


def _check_info(game: str, reference: ModuleType) -> None:
    """Raise QuartetError if a game's INFO has another name, or not exactly one protocol."""
    info = reference.INFO
    if info.name != game:
        raise QuartetError(
            f"{reference.__name__}: INFO.name is {info.name!r}, but GAMES calls the game {game!r}"
        )
    if (info.lines is None) == (info.exchange is None):
        raise QuartetError(f"{reference.__name__}: INFO needs either `lines` or `exchange`")


def not_built(error: ModuleNotFoundError) -> ImportError:
    """Return NotBuiltError for a missing module of the project, else the error itself."""
    if error.name is not None and error.name.partition(".")[0] in {"core", *GAMES.values()}:
        return NotBuiltError(f"{error.name} is missing; {HOW_TO_BUILD}")
    return error


def find_player(game: str, name: str) -> Searcher[Any] | None:
    """Return the built-in player of that name with its default options, None if there is none.

    Args:
        game: Name of the game.
        name: NAME or NAME:OPTION=VALUE,...; the options are not checked.

    Raises:
        UnknownNameError: There is no such game.
        TextError: What follows the name of a player are no options.
    """
    if not has(game, "players"):
        return None
    bare, _ = parse_player(name)
    try:
        return cast("Searcher[Any]", load(game, "players").player(bare))
    except UnknownNameError:
        return None


def is_player(game: str, name: str) -> bool:
    """Return True if the game has a built-in player of that name. Raises as `find_player`."""
    return find_player(game, name) is not None


class Pool(Protocol):
    """A game's `frozen/pool/players.py`: standing opponents, in a training set and a test set.

    Attributes:
        HALVES: Set -> names of its players.
        TEST_HALF: Name of the test set, which is used neither for training nor for tuning.
    """

    HALVES: Mapping[str, Sequence[str]]
    TEST_HALF: str

    def kinds(self, name: str) -> Mapping[str, str]:
        """Return properties of a player ("search": "beam"); none for players not of the pool."""
        ...


def pool(game: str) -> Pool | None:
    """Return the pool of a game, None if it has none. Raises UnknownNameError, NotBuiltError."""
    part = "frozen.pool.players"
    return cast("Pool", load(game, part)) if has(game, part) else None


def is_held_out(game: str, name: str) -> bool:
    """Return True if a player is in the test set of a game's pool. Raises UnknownNameError."""
    found = pool(game)
    return found is not None and name in found.HALVES[found.TEST_HALF]


def training_set(game: str) -> list[str]:
    """Return the players of a game's pool that training may use, [] if the game has no pool."""
    found = pool(game)
    if found is None:
        return []
    halves = found.HALVES.items()
    return [name for half, names in halves if half != found.TEST_HALF for name in names]


def require_training(game: str, names: Iterable[str]) -> None:
    """Raise QuartetError if a player is in the test set, which must not choose any parameter."""
    for name in names:
        if is_held_out(game, name):
            raise QuartetError(
                f"{name} is in the test set: nothing is trained or tuned on it "
                "(quartet gauntlet --pool test measures a finished change)"
            )
