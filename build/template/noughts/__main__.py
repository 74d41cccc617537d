"""`python -m noughts [--player NAME] [--seed N] [--nodes N]`: the agent, one process per move."""

from __future__ import annotations

import sys

from core.agent.cli import equip, parse_arguments
from core.agent.files import BAD_INPUT, ExchangeFiles, complain, exchange
from core.errors import QuartetError
from core.limits import Limits
from noughts import protocol
from noughts.players import NAMES, player

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from core.rules import Position


def fast() -> type[Position]:
    from noughts.rules import Position  # noqa: PLC0415  (may not be compiled)

    return Position


def main(arguments: list[str]) -> int:
    choice = parse_arguments("noughts", arguments, NAMES)
    choice.asked = True  # without compiled modules, exit instead of playing greedy
    files = ExchangeFiles(".", "input.txt", "output.txt")
    try:
        files.forget()  # an old answer must not count
    except OSError as error:
        complain(f"{files.target}: {error.strerror or error}")
        return BAD_INPUT
    rules, searcher = equip(choice, player, fast, fast)

    def search(question: bytes, answer: Callable[[str], None]) -> str | None:
        try:
            position = rules.parse(question.decode("ascii", "replace"))
            move = searcher.choose(position, Limits(nodes=choice.nodes)).move
        except QuartetError as error:  # not a position, or the game is over
            return str(error)
        answer(protocol.format_answer(move, position.to_move))
        return None

    return exchange(files, search)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
