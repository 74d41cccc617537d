"""`python -m connexion [--player NAME] [--seed N]`: a program that plays Connexion with its judge on standard input and output."""

from __future__ import annotations

import os
import sys

from connexion import protocol
from connexion.rules import Position
from core.clock import now
from core.lines import Agent, converse, parse_arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from core.rules import Searcher


def searcher(arguments: list[str]) -> Searcher[Position]:
    """The player that the command line asks for. Exits with status 2 on unknown options and names."""
    if not arguments:  # as judges do; the other players cost start-up time
        from connexion.engine import Engine  # noqa: PLC0415

        return Engine()
    from connexion.players import NAMES, player  # noqa: PLC0415

    return player(*parse_arguments("connexion", arguments, NAMES))


def main(arguments: list[str]) -> int:
    agent = Agent(protocol, Position, searcher(arguments), reveal=Position.reveal, clock=now)
    return converse(agent, sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    # Every answer has been flushed: what an interpreter does on its way out could only fail.
    os._exit(main(sys.argv[1:]))
