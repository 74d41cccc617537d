"""`python -m ataxx [--player NAME] [--seed N] [--nodes N]`: a program that plays Ataxx with its judge on stdin and stdout."""

from __future__ import annotations

import os
import sys

from ataxx import protocol
from ataxx.players import NAMES, player
from core.lines import Agent, converse, equip, parse_arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from core.rules import Position


def fast() -> type[Position]:
    from ataxx.rules import Position  # noqa: PLC0415  (compiled, and may be missing)

    return Position


def slow() -> type[Position]:
    from ataxx.reference import Position  # noqa: PLC0415  (only where the fast rules are missing)

    return Position


def main(arguments: list[str]) -> int:
    choice = parse_arguments("ataxx", arguments, NAMES)
    rules, searcher = equip(choice, player, fast, slow)
    return converse(Agent(protocol, rules, searcher, init=False, nodes=choice.nodes), sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    # Every answer has been flushed: what an interpreter does on its way out could only fail.
    os._exit(main(sys.argv[1:]))
