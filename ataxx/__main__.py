"""`python -m ataxx [--player NAME] [--seed N]`: a program that plays Ataxx with its judge on standard input and output.

`python -m ataxx --uai` speaks the field's own protocol instead.
"""

from __future__ import annotations

import os
import sys

from ataxx import protocol
from ataxx.players import NAMES, player
from ataxx.reference import Position
from core.lines import Agent, converse, parse_arguments, told_start
from core.transport import FAILED, complain


def main(arguments: list[str]) -> int:
    if "--uai" in arguments:
        return speak_uai(arguments)
    name, seed = parse_arguments("ataxx", arguments, NAMES)
    agent = Agent(protocol, Position, player(name, seed), init=False, start=told_start(Position))
    return converse(agent, sys.stdin.buffer, sys.stdout.buffer)


def speak_uai(arguments: list[str]) -> int:
    """The field's protocol; gives the exit status."""
    try:
        from ataxx import uai  # noqa: PLC0415  (the judge's agent must not wait for it)
    except ImportError as error:
        complain(f"{error.name or error} is missing: build the compiled modules first, with `python -m pip install -e .` in the checkout")
        return FAILED
    return uai.main(arguments)


if __name__ == "__main__":
    # Every answer has been flushed: what an interpreter does on its way out could only fail.
    os._exit(main(sys.argv[1:]))
