"""`python -m applegame [--player NAME] [--seed N] [--nodes N]`: play the apple game with its judge
on stdin and stdout."""

from __future__ import annotations

import os
import sys

from applegame import protocol
from applegame.players import NAMES, SLOWER_NAMES, player
from core.agent.cli import equip, parse_arguments
from core.agent.lines import Agent, converse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from core.rules import Position


def fast() -> type[Position]:
    from applegame.rules import Position  # noqa: PLC0415  (compiled, may be missing)

    return Position


def slow() -> type[Position]:
    # used only if the fast rules are missing
    from applegame.reference import Position  # noqa: PLC0415

    return Position


def main(arguments: list[str]) -> int:
    choice = parse_arguments("applegame", arguments, NAMES + SLOWER_NAMES)
    rules, searcher = equip(choice, player, fast, slow)
    return converse(
        Agent(protocol, rules, searcher, anywhere=protocol.PASS, nodes=choice.nodes),
        sys.stdin.buffer,
        sys.stdout.buffer,
    )


if __name__ == "__main__":
    # Every answer has been flushed: the interpreter's shutdown could only fail.
    os._exit(main(sys.argv[1:]))
