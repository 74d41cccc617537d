"""`python -m ugolki [FOLDER]`: the contest's agent. It reads input.txt, writes output.txt and ends;
`--help` tells the rest."""

from __future__ import annotations

import os
import sys

from core.agent.files import BAD_INPUT, FAILED, FileExchange, complain, exchange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from core.engine import Searcher

TARGET = 0.33 if hasattr(sys, "frozen") else 0.40
"""Seconds from the start of the process to its end: the judge allows 0.5.

An executable unpacks itself and cleans up behind itself, and nobody has measured yet how long that
takes on a contest's machine.
"""


class Settings:
    """What the caller chose, on the command line or else in the environment."""

    __slots__ = (
        "complaint",
        "early",
        "folder",
        "memory",
        "nodes",
        "player",
        "seed",
        "target",
        "threads",
    )

    def __init__(self, environment: os._Environ[str]) -> None:
        self.folder = "."
        self.player = "bot"
        self.complaint: str | None = None
        self.target = TARGET
        self.early = environment.get("QUARTET_EARLY", "1") != "0"
        self.memory = environment.get("QUARTET_MEMORY", "1") != "0"
        self.nodes: int | None = None
        self.seed: int | None = None
        self.threads: int | None = None  # the engine looks for itself; here it is checked
        for name, kind in (
            ("target", float),
            ("nodes", int),
            ("seed", int),
            ("threads", int),
        ):
            text = environment.get("QUARTET_" + name.upper())
            if text:
                try:
                    # as people write it in many languages
                    setattr(self, name, kind(text.replace(",", ".")))
                except ValueError:  # a contest is no place to refuse to play
                    self.complaint = f"QUARTET_{name.upper()} is {text!r}, not a number"


def parse_arguments(arguments: Sequence[str], settings: Settings) -> None:
    """Options override the environment. Exits with status 2 on unknown ones."""
    import argparse  # noqa: PLC0415  (it costs milliseconds, and judges give no options)

    parser = argparse.ArgumentParser(
        prog="python -m ugolki",
        description="Play one move of Ugolki: read input.txt in FOLDER, write output.txt there.",
        epilog="Exit status: 0 a move was written; 2 the input was bad (a move is written all the "
        "same where there is one); 1 internal error.",
    )
    parser.add_argument(
        "folder",
        nargs="?",
        default=".",
        metavar="FOLDER",
        help="the strategy's folder (default: the working directory)",
    )
    parser.add_argument(
        "--target",
        type=float,
        default=settings.target,
        metavar="SECONDS",
        help="wall clock of the whole process, from its start by the system (default %(default)s; "
        "QUARTET_TARGET)",
    )
    parser.add_argument(
        "--no-early",
        dest="early",
        action="store_false",
        default=settings.early,
        help="write output.txt once, at the end, instead of at once and better later "
        "(QUARTET_EARLY=0)",
    )
    parser.add_argument(
        "--no-memory",
        dest="memory",
        action="store_false",
        default=settings.memory,
        help="keep no memory.txt in FOLDER, by which the bot learns from move to move how the "
        "others play, and no stall.txt, by which it leaves more time to a machine that holds it up "
        "(QUARTET_MEMORY=0)",
    )
    parser.add_argument(
        "--player",
        default="bot",
        metavar="NAME",
        help="another built-in player, e.g. greedy or brs:5, or options, as in bot:model=off "
        "(default: bot)",
    )
    parser.add_argument(
        "--nodes",
        type=int,
        default=settings.nodes,
        metavar="N",
        help="search N nodes instead of by the clock: without a memory, the same move every time "
        "(QUARTET_NODES)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=settings.seed,
        metavar="N",
        help="for players that choose at random (QUARTET_SEED)",
    )
    parser.parse_args(arguments, namespace=settings)


def searching(settings: Settings) -> Callable[[bytes, Callable[[str], None]], str | None]:
    """What `core.agent.files.exchange` asks. Raises ImportError when the extensions are not built,
    QuartetError for an unknown player."""
    # Everything here comes after the old answer has gone.
    from core.agent import stalls  # noqa: PLC0415
    from core.limits import Limits, SearchInfo  # noqa: PLC0415
    from core.timeman import process_limits  # noqa: PLC0415
    from ugolki import protocol  # noqa: PLC0415
    from ugolki.engine import Engine  # noqa: PLC0415
    from ugolki.geometry import SEATS  # noqa: PLC0415
    from ugolki.rules import Position  # noqa: PLC0415

    chosen: Searcher[Position]
    if settings.player == "bot":
        chosen = Engine()
    else:
        from ugolki.players import player  # noqa: PLC0415

        chosen = player(settings.player, settings.seed)
    engine = chosen if isinstance(chosen, Engine) else None

    def search(question: bytes, answer: Callable[[str], None]) -> str | None:
        reading = protocol.read_input(question)
        if reading.complaint is not None:
            from ugolki.emergency import best_move  # noqa: PLC0415

            move = best_move(reading)
            if move is None:
                return f"{reading.complaint}; no legal move"
            answer(protocol.format_answer(move, 0))
            return reading.complaint
        # Somebody set the limit of moves higher than ours, if the game goes on beyond it.
        position = Position.from_cells(
            reading.cells, SEATS * reading.turn, max(protocol.MOVES, reading.turn + 1)
        )
        if not position.pseudolegal():
            return "no legal move"

        def report(info: SearchInfo) -> None:
            answer(protocol.format_answer(info.move, 0))

        by_clock = settings.nodes is None
        known = stalls.recall(settings.folder) if by_clock and settings.memory else 0.0
        limits = (
            process_limits(settings.target, known) if by_clock else Limits(nodes=settings.nodes)
        )
        if engine is None:
            info = chosen.choose(position, limits)
        else:
            if settings.memory:
                engine.opponents.load(settings.folder, position)
            info = engine.choose(position, limits, report)
        report(info)
        if engine is not None and settings.memory:
            if by_clock:
                stalls.keep(settings.folder, known, engine.stall)
            if not position.over:
                engine.opponents.save(settings.folder, position.play(info.move))
        if "QUARTET_INFO" in os.environ:
            complain(info.text())
        return settings.complaint

    return search


def main(arguments: Sequence[str]) -> int:
    settings = Settings(os.environ)
    if len(arguments) == 1 and not arguments[0].startswith("-"):
        settings.folder = arguments[0]
    elif arguments:
        parse_arguments(arguments, settings)
    files = FileExchange(settings.folder, "input.txt", "output.txt", early=settings.early)
    try:
        files.forget()
        search = searching(settings)
    except ImportError as error:
        to_do = (
            "this file is damaged"
            if hasattr(sys, "frozen")
            else "build the compiled modules first, with `python -m pip install -e .`"
        )
        complain(f"{error.name or error} is missing: {to_do}")
        return FAILED
    except (OSError, LookupError, ValueError) as error:  # an unknown name, a bad option
        complain(str(error))
        return BAD_INPUT
    return exchange(files, search)


if __name__ == "__main__":
    # The answer is on the disk: what an interpreter does on its way out only costs time.
    os._exit(main(sys.argv[1:]))
