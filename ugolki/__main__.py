"""`python -m ugolki [FOLDER]`: the contest agent. It reads input.txt, writes output.txt and exits;
see `--help`."""

from __future__ import annotations

import os
import sys

from core.agent.files import BAD_INPUT, FAILED, ExchangeFiles, complain, exchange, positive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from core.engine import Searcher

TARGET = 0.33 if hasattr(sys, "frozen") else 0.40
"""Seconds from the start of the process to its end; the judge allows 0.5.

An executable also unpacks itself and removes its files at the end. The time for that on the contest
machine is unknown.
"""


def seconds(text: str) -> float:
    """Return a time in seconds. Raises ValueError."""
    value = float(text.replace(",", "."))  # many languages write a decimal comma
    if not 0 <= value < float("inf"):  # true for nan
        raise ValueError(text)
    return value


def switch(text: str) -> bool:
    """Return False for 0 and True for 1. Raises ValueError."""
    return bool(("0", "1").index(text))


class AgentSettings:
    """Settings from the command line or, by default, the environment.

    Attributes:
        folder: Folder of input.txt and output.txt.
        player: Built-in player.
        complaint: An unreadable variable of the environment, or None.
        target: Seconds from the start of the process to its end.
        early: Write output.txt at once, and improve it later.
        memory: Use stall.txt.
        nodes: Node limit, or None for a timed search.
        seed: Seed of players with random choices, or None.
        threads: Only checked here: the engine reads QUARTET_THREADS itself.
    """

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
        self.early = self.memory = True
        self.nodes: int | None = None
        self.seed: int | None = None
        self.threads: int | None = None
        kinds: tuple[tuple[str, Callable[[str], object], str], ...] = (
            ("target", seconds, "not a number of seconds"),
            ("early", switch, "neither 0 nor 1"),
            ("memory", switch, "neither 0 nor 1"),
            ("nodes", positive, "not a number from 1 on"),
            ("seed", int, "not a number"),
            ("threads", positive, "not a number from 1 on"),
        )
        for name, kind, otherwise in kinds:
            text = environment.get("QUARTET_" + name.upper())
            if text:
                try:
                    setattr(self, name, kind(text))
                except ValueError:  # report it, and play: a refusal would cost the turn
                    self.complaint = (
                        f"the setting {name} (QUARTET_{name.upper()}) is {text[:40]!r}, {otherwise}"
                    )


def parse_arguments(arguments: Sequence[str], settings: AgentSettings) -> None:
    """Override the environment by command-line options. Exit with status 2 on unknown ones."""
    import argparse  # noqa: PLC0415  (it costs milliseconds, and judges give no options)

    from core.agent.cli import program_name  # noqa: PLC0415

    parser = argparse.ArgumentParser(
        prog=program_name("ugolki"),
        description="Play one move of Ugolki: read input.txt in FOLDER, write output.txt there.",
        epilog="Exit status: 0: a move was written; 2: the input was bad (a move is still written "
        "if one exists); 1: internal error.",
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
        type=seconds,
        default=settings.target,
        metavar="SECONDS",
        help="wall-clock time of the whole process, from its start (default: %(default)s; "
        "QUARTET_TARGET)",
    )
    parser.add_argument(
        "--no-early",
        dest="early",
        action="store_false",
        default=settings.early,
        help="write output.txt only at the end; by default it is written at once and improved "
        "during the search (QUARTET_EARLY=0)",
    )
    parser.add_argument(
        "--no-memory",
        dest="memory",
        action="store_false",
        default=settings.memory,
        help="do not use stall.txt, the longest pause of this machine, in FOLDER "
        "(QUARTET_MEMORY=0)",
    )
    parser.add_argument(
        "--player",
        default="bot",
        metavar="NAME",
        help="built-in player, such as greedy or brs:5, or options, as in bot:threads=1 "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--nodes",
        type=positive,
        default=settings.nodes,
        metavar="N",
        help="search N nodes instead of until the time limit; the move is reproducible "
        "(QUARTET_NODES)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=settings.seed,
        metavar="N",
        help="seed of players with random choices (QUARTET_SEED)",
    )
    parser.parse_args(arguments, namespace=settings)


def searching(settings: AgentSettings) -> Callable[[bytes, Callable[[str], None]], str | None]:
    """Return the search function for `core.agent.files.exchange`.

    Raises:
        ImportError: The extensions are not built.
        QuartetError: The player is unknown.
    """
    # These imports take time; the caller has deleted the old answer before.
    from core.agent import stalls  # noqa: PLC0415
    from core.limits import Limits, SearchInfo  # noqa: PLC0415
    from core.native.clock import now  # noqa: PLC0415
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
        # If the game continues beyond MOVES, the judge's limit is higher.
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
            info = engine.choose(position, limits, report)
        report(info)
        if engine is not None and settings.memory and limits.deadline is not None:
            # A stall after the search counts too.
            stalls.keep(settings.folder, known, max(engine.stall, now() - limits.deadline))
        if "QUARTET_INFO" in os.environ:
            complain(info.text())
        return None

    return search


def main(arguments: Sequence[str]) -> int:
    settings = AgentSettings(os.environ)
    if len(arguments) == 1 and not arguments[0].startswith("-"):
        settings.folder = arguments[0]
    elif arguments:
        parse_arguments(arguments, settings)
    files = ExchangeFiles(settings.folder, "input.txt", "output.txt", early=settings.early)
    try:
        files.forget()
        search = searching(settings)
    except ImportError as error:
        remedy = (
            "this file is corrupt"
            if hasattr(sys, "frozen")
            else "build the compiled modules first, with `python -m pip install -e .`"
        )
        complain(f"{error.name or error} is missing: {remedy}")
        return FAILED
    except (OSError, LookupError, ValueError) as error:  # an unknown name, a bad option
        complain(str(error))
        return BAD_INPUT
    status = exchange(files, search)
    if settings.complaint is not None:  # after the move: a wrong setting must not cost the turn
        complain(settings.complaint)
        status = status or BAD_INPUT
    return status


if __name__ == "__main__":
    # The answer is on the disk. Skip the interpreter's cleanup, which costs time.
    os._exit(main(sys.argv[1:]))
