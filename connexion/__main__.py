"""`python -m connexion [--player NAME] [--seed N]`: a program that plays Connexion with its judge on standard input and output."""

from __future__ import annotations

import os
import sys

from connexion import protocol
from connexion.players import NAMES, player
from connexion.reference import Position
from core.lines import Agent, converse, parse_arguments


def main(arguments: list[str]) -> int:
    name, seed = parse_arguments("connexion", arguments, NAMES)
    agent = Agent(protocol, Position, player(name, seed), reveal=Position.reveal)
    return converse(agent, sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    # Every answer has been flushed: what an interpreter does on its way out could only fail.
    os._exit(main(sys.argv[1:]))
