"""`python -m noughts [--player NAME]`: the agent, one process per move."""

from __future__ import annotations

import os
import sys

from core.agent.files import ExchangeFiles, exchange
from core.limits import Limits
from noughts import protocol
from noughts.rules import Position

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from core.engine import Searcher


def searcher(arguments: list[str]) -> Searcher[Position]:
    if arguments[:1] == ["--player"]:
        from noughts.players import player  # noqa: PLC0415  (slows the start down)

        return player(arguments[1], int(os.environ.get("QUARTET_SEED", "0")))
    from noughts.engine import Engine  # noqa: PLC0415

    return Engine()


def search(question: bytes, answer: Callable[[str], None]) -> str | None:
    position = Position.parse(question.decode())
    move = searcher(sys.argv[1:]).choose(position, Limits()).move
    answer(protocol.format_answer(move, position.to_move))
    return None


if __name__ == "__main__":
    files = ExchangeFiles(".", "input.txt", "output.txt")
    files.forget()
    sys.exit(exchange(files, search))
