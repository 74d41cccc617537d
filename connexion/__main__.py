"""`python -m connexion [--player NAME] [--seed N] [--nodes N]`: play Connexion with its judge on
stdin and stdout."""

from __future__ import annotations

import os
import sys

from connexion import protocol
from connexion.players import NAMES, player
from core.agent.cli import equip, parse_arguments
from core.agent.lines import Agent, converse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from core.rules import Position


def fast() -> type[Position]:
    from connexion.rules import Position  # noqa: PLC0415  (may not be compiled)

    return Position


def slow() -> type[Position]:
    # Only without the fast rules.
    from connexion.reference import Position  # noqa: PLC0415

    return Position


def main(arguments: list[str]) -> int:
    choice = parse_arguments("connexion", arguments, NAMES)
    rules: Any
    rules, searcher = equip(choice, player, fast, slow)
    agent = Agent(protocol, rules, searcher, reveal=rules.reveal, nodes=choice.nodes)
    return converse(agent, sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    # Every answer has been flushed. Skip the interpreter's cleanup, which could only fail.
    os._exit(main(sys.argv[1:]))
