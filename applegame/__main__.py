"""`python -m applegame [--player NAME] [--seed N] [--nodes N]`: a program that plays the apple game with its judge on stdin and stdout."""

from __future__ import annotations

import os
import sys

from applegame import protocol
from applegame.players import NAMES, player
from applegame.reference import Position
from core.lines import Agent, converse, parse_arguments


def main(arguments: list[str]) -> int:
    choice = parse_arguments("applegame", arguments, NAMES)
    agent = Agent(protocol, Position, player(choice.player, choice.seed), anywhere=protocol.PASS, nodes=choice.nodes)
    return converse(agent, sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    # Every answer has been flushed: what an interpreter does on its way out could only fail.
    os._exit(main(sys.argv[1:]))
