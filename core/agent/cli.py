"""The command line of an agent that speaks lines, and what it plays with: plain Python that starts
fast."""

from __future__ import annotations

import os

from core.agent.files import BAD_INPUT, FAILED, complain
from core.errors import TextError, UnknownNameError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    from core.engine import Searcher
    from core.rules import Position

    PositionT = TypeVar("PositionT", bound=Position)

SPARE = "greedy"
"""Who plays where an engine cannot: every game of lines has a player of that name, which needs
nothing compiled."""


def told_start(rules: type[PositionT]) -> PositionT | None:
    """The start that a judge of ours tells through QUARTET_POSITION, where the protocol has no
    words for one; None for the usual start."""
    text = os.environ.get("QUARTET_POSITION")
    if not text:
        return None
    try:
        return rules.parse(text)
    except TextError as error:  # a contest is no place to refuse to play
        complain(f"QUARTET_POSITION: {error}")
        return None


class Choice:
    """What the caller of an agent chose, on the command line or else in the environment.

    Attributes:
        player: a built-in player, with its options; asked: whether the caller named it.
        seed: for players that choose at random; nodes: of every search, None to search by the
            clock.
    """

    __slots__ = ("asked", "nodes", "player", "seed")

    def __init__(self, player: str) -> None:
        self.player = player
        self.asked = False
        self.seed = _number("QUARTET_SEED")
        self.nodes = _number("QUARTET_NODES")


def _number(name: str) -> int | None:
    """What the environment says; a contest is no place to refuse to play over it."""
    text = os.environ.get(name)
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        complain(f"{name} is {text[:40]!r}, not a number")
        return None


def parse_arguments(game: str, words: Sequence[str], players: Sequence[str]) -> Choice:
    """What an agent's command line says; the first of `players` is the default. Exits with status 2
    on unknown options."""
    choice = Choice(players[0])
    if not any(word.startswith("-") for word in words):  # some judges add a word of their own
        return choice  # argparse costs milliseconds
    import argparse  # noqa: PLC0415

    parser = argparse.ArgumentParser(
        prog=f"python -m {game}",
        description=f"Play {game} with the judge on standard input and output.",
    )
    parser.add_argument("word", nargs="*", help="ignored: some judges add a word of their own")
    parser.add_argument(
        "--player",
        metavar="NAME",
        help=f"{', '.join(players)} (default: {players[0]}), with options as in NAME:OPTION=VALUE",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=choice.seed,
        metavar="N",
        help="for players that choose at random (QUARTET_SEED)",
    )
    parser.add_argument(
        "--nodes",
        type=int,
        default=choice.nodes,
        metavar="N",
        help="search N nodes instead of by the clock: the same move every time (QUARTET_NODES)",
    )
    chosen = parser.parse_args(words)
    choice.asked = chosen.player is not None
    choice.player = chosen.player or players[0]
    choice.seed, choice.nodes = chosen.seed, chosen.nodes
    return choice


def equip(
    choice: Choice,
    player: Callable[[str, int | None], Searcher[Any]],
    fast: Callable[[], type[Position]],
    slow: Callable[[], type[Position]],
) -> tuple[type[Position], Searcher[Any]]:
    """The rules and the player that an agent with an engine plays by.

    `player` is the game's function of that name. `fast` imports the game's compiled rules and gives
    their Position, `slow` the reference rules. Where something compiled is missing, or does not fit
    this machine, and the caller named no player, a game is not to be lost for that: it is SPARE on
    the slow rules, and a line that says so. Exits with status 1 where the player that was named
    cannot play, and with 2 where there is none of that name or an option is wrong.
    """
    try:
        return fast(), player(choice.player, choice.seed)
    except (UnknownNameError, TextError) as error:
        complain(str(error))
        raise SystemExit(BAD_INPUT) from error
    except ImportError as error:
        missing = f"{error.name or error} is missing"
        if choice.asked:
            complain(
                f"{missing}: build the compiled modules first, with `python -m pip install -e .` "
                "in the checkout"
            )
            raise SystemExit(FAILED) from error
        complain(
            f"{missing}, so {SPARE} plays; `python -m pip install -e .` in the checkout would "
            "build it"
        )
        return slow(), player(SPARE, choice.seed)
