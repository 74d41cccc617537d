"""The command line of a line-protocol agent, and its choice of rules and player. Starts fast."""

from __future__ import annotations

import os
import sys

from core.agent.files import BAD_INPUT, FAILED, complain, positive
from core.errors import TextError, UnknownNameError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    from core.engine import Searcher
    from core.rules import Position

    PositionT = TypeVar("PositionT", bound=Position)

FALLBACK_PLAYER = "greedy"
"""The player used if the engine cannot run. Every line-protocol game has it, and it needs no
compiled module."""


def start_from_environment(rules: type[PositionT]) -> PositionT | None:
    """Return the start position of QUARTET_POSITION, or None for the usual one.

    Our own judge sets the variable, because the protocol cannot express a start position.
    """
    text = os.environ.get("QUARTET_POSITION")
    if not text:
        return None
    try:
        return rules.parse(text)
    except TextError as error:  # never refuse to play in a contest
        complain(f"QUARTET_POSITION: {error}")
        return None


class AgentOptions:
    """What the caller chose on the command line, or else in the environment.

    Attributes:
        player: Built-in player, with options.
        asked: True if the caller named the player.
        seed: Seed of players that choose at random.
        nodes: Nodes per search; None searches by the clock.
    """

    __slots__ = ("asked", "nodes", "player", "seed")

    def __init__(self, player: str) -> None:
        self.player = player
        self.asked = False
        self.seed = _number("QUARTET_SEED", int, "not a number")
        self.nodes = _number("QUARTET_NODES", positive, "not a number from 1 on")


def _number(name: str, kind: Callable[[str], int], otherwise: str) -> int | None:
    """Return the number in an environment variable. Complain about anything else and ignore it."""
    text = os.environ.get(name)
    if not text:
        return None
    try:
        return kind(text)
    except ValueError:
        complain(f"{name} is {text[:40]!r}, {otherwise}")
        return None


def program_name(game: str) -> str:
    """Return what the user calls to run the agent: the module, or the file it was packed into."""
    name = os.path.basename(sys.argv[0])  # noqa: PTH119  (pathlib costs milliseconds)
    return f"python -m {game}" if name == "__main__.py" else name


def parse_arguments(game: str, words: Sequence[str], players: Sequence[str]) -> AgentOptions:
    """Parse an agent's command line; the first of `players` is the default.

    Exits with status 2 if an option is unknown.
    """
    choice = AgentOptions(players[0])
    if not any(word.startswith("-") for word in words):  # some judges append a word
        return choice  # argparse costs milliseconds
    import argparse  # noqa: PLC0415

    parser = argparse.ArgumentParser(
        prog=program_name(game),
        description=f"Play {game} with its judge.",
    )
    parser.add_argument("word", nargs="*", help="ignored: some judges append a word")
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
        help="seed of players that choose at random (QUARTET_SEED)",
    )
    parser.add_argument(
        "--nodes",
        type=positive,
        default=choice.nodes,
        metavar="N",
        help="visit N nodes per search instead of using the clock (QUARTET_NODES)",
    )
    chosen = parser.parse_args(words)
    choice.asked = chosen.player is not None
    choice.player = chosen.player or players[0]
    choice.seed, choice.nodes = chosen.seed, chosen.nodes
    return choice


def equip(
    choice: AgentOptions,
    player: Callable[[str, int | None], Searcher[Any]],
    fast: Callable[[], type[Position]],
    slow: Callable[[], type[Position]],
) -> tuple[type[Position], Searcher[Any]]:
    """Return the rules and the player that an agent uses.

    If a compiled module is missing or does not fit this machine, an agent must still play: it uses
    FALLBACK_PLAYER on the reference rules and prints a message. If the caller named the player, it
    exits instead: status 1 if the player cannot run, 2 if the name or an option is wrong.

    Args:
        choice: The caller's choice.
        player: The game's function `player`.
        fast: Imports the game's compiled rules and returns their Position.
        slow: Imports the reference rules and returns their Position.
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
                f"{missing}: run `python -m pip install -e .` in the checkout to compile the "
                "modules"
            )
            raise SystemExit(FAILED) from error
        complain(
            f"{missing}: falling back to {FALLBACK_PLAYER}; run `python -m pip install -e .` in "
            "the checkout to compile the modules"
        )
        return slow(), player(FALLBACK_PLAYER, choice.seed)
