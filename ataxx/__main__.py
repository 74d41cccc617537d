"""`python -m ataxx [--player NAME] [--seed N] [--nodes N]`: play Ataxx with its judge on stdin and
stdout.

`python -m ataxx --uai` speaks UAI, the protocol of other Ataxx programs, instead.
"""

from __future__ import annotations

import os
import sys

from ataxx import protocol
from ataxx.players import NAMES, player
from core.agent.cli import equip, parse_arguments, start_from_environment
from core.agent.files import FAILED, complain
from core.agent.lines import Agent, converse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from core.rules import Position


def fast() -> type[Position]:
    from ataxx.rules import Position  # noqa: PLC0415  (may not be compiled)

    return Position


def slow() -> type[Position]:
    from ataxx.reference import Position  # noqa: PLC0415  (only without the fast rules)

    return Position


def main(arguments: list[str]) -> int:
    if "--uai" in arguments:
        return speak_uai(arguments)
    choice = parse_arguments("ataxx", arguments, NAMES)
    rules, searcher = equip(choice, player, fast, slow)
    agent = Agent(
        protocol,
        rules,
        searcher,
        init=False,
        start=start_from_environment(rules),
        nodes=choice.nodes,
    )
    return converse(agent, sys.stdin.buffer, sys.stdout.buffer)


def speak_uai(arguments: list[str]) -> int:
    """Speak UAI; return the exit status."""
    try:
        from ataxx import uai  # noqa: PLC0415  (slows the judge's agent down)
    except ImportError as error:
        complain(
            f"{error.name or error} is missing: build the compiled modules first, with `python -m "
            "pip install -e .` in the checkout"
        )
        return FAILED
    return uai.main(arguments)


if __name__ == "__main__":
    # Every answer has been flushed. Skip the interpreter's cleanup, which could only fail.
    os._exit(main(sys.argv[1:]))
