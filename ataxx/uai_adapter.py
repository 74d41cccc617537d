"""`python -m ataxx.uai_adapter [OPTION...] COMMAND`: lets a UAI engine play for a judge that speaks
ALPHANO's lines.

Judge and arena start it for a program named `uai:COMMAND`. The judge sees what the engine does
wrong: the adapter forwards illegal moves, ends when the engine ends, and waits for a silent one.
RULES.md lists what the engine is sent.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import threading
import time
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from ataxx import protocol
from ataxx.rules import Position
from ataxx.uai_client import EngineError, EngineProcess, UaiClient, listen
from ataxx.uai_text import parse_uai
from core.agent.cli import start_from_environment
from core.agent.files import BAD_INPUT, FAILED, GOOD, complain
from core.errors import QuartetError, TextError
from core.messages import READY_ANSWER, Finish, Opponent, Ready, YourTurn
from core.signals import exit_on_signal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO

    from ataxx.uai_client import Heard

MARGIN_MS = 10
"""Milliseconds subtracted from the clock sent to the engine: the time of adapter and pipes, and the
judge's rounding to milliseconds."""
OPTION = re.compile(r"""--(margin|option|go)[ =]("[^"]*"|'[^']*'|\S+)\s+""")
USAGE = 'uai_adapter: [--margin MS] [--option NAME=VALUE]... [--go "nodes N"] COMMAND'


class AdapterOptions(NamedTuple):
    """The command line.

    Attributes:
        command: The engine: a file or a line for the system's shell.
        margin: Milliseconds subtracted from the clock sent to the engine.
        options: Names and values for `setoption`.
        go: Limits of every search; None for the clocks.
    """

    command: str
    margin: int
    options: tuple[tuple[str, str], ...]
    go: str | None


def parse_arguments(arguments: Sequence[str]) -> AdapterOptions:
    """Parse one argument that is a whole line, as the arena gives it, or several words.

    Raises TextError.
    """
    line = (arguments[0] if len(arguments) == 1 else shlex.join(arguments)).strip()
    margin, options, go = MARGIN_MS, [], None
    while found := OPTION.match(line):
        name, value = found[1], found[2].strip("'\"")
        line = line[found.end() :]
        if name == "margin":
            if not value.isdecimal():
                raise TextError(f"--margin takes milliseconds, not {value!r}")
            margin = int(value)
        elif name == "go":
            go = value
        else:
            key, equals, setting = value.partition("=")
            if not equals:
                raise TextError(f"--option takes NAME=VALUE, not {value!r}")
            options.append((key, setting))
    if not line or line.startswith("-"):
        raise TextError(USAGE)
    return AdapterOptions(line, margin, tuple(options), go)


class JudgeGoneError(Exception):
    """The judge has ended the game or closed its pipe."""


class Adapter:
    """The translator between a judge and an engine, both heard through one queue."""

    def __init__(
        self, engine: EngineProcess, options: AdapterOptions, heard: Heard, sink: BinaryIO
    ) -> None:
        self._engine = engine
        self._client = UaiClient(engine, heard, on_other=self._overhear)
        self._options = options
        self._heard = heard
        self._sink = sink
        self._pending: list[str] = []
        self._is_started = False
        self._start = start_from_environment(Position) or Position.start()
        self._position = self._start
        self._seat = 0

    def run(self) -> None:
        """Serve the judge until it leaves.

        Raises:
            EngineError: The engine has ended.
            QuartetError: The judge's line cannot be read or is against the rules.
        """
        with suppress(JudgeGoneError):
            while True:
                is_engine, line = (
                    (False, self._pending.pop(0)) if self._pending else self._heard.get()
                )
                if line is None:
                    if is_engine:
                        raise EngineError(self._engine.status())
                    return
                if not is_engine and line:
                    self._follow(line)

    def _overhear(self, line: str | None) -> None:
        """Take a line of the judge while the engine is asked."""
        if line is None or line == "FINISH":
            raise JudgeGoneError
        self._pending.append(line)

    def _follow(self, line: str) -> None:
        """Do what the judge's line asks for."""
        match protocol.parse_message(line, self._seat):
            case Ready(seat=seat):
                self._seat = seat
                self._position = self._start
                if not self._is_started:
                    self._client.start(self._options.options)
                    self._is_started = True
                self._client.new_game()
                self._answer(READY_ANSWER)
            case YourTurn(mine=mine, theirs=theirs):
                self._move(mine, theirs)
            case Opponent(move=move):
                self._position = self._position.play(move)
            case Finish():
                raise JudgeGoneError

    def _move(self, mine: int, theirs: int) -> None:
        """Play a forced pass, or ask the engine for a move."""
        position = self._position
        if position.legal() == [protocol.PASS]:
            self._answer(protocol.format_answer(protocol.PASS, self._seat))
            self._position = position.play(protocol.PASS)
            return
        board, side, _, number = position.text().split()
        left = max(1, mine - self._options.margin)
        first, second = (left, theirs) if self._seat == 0 else (theirs, left)
        started = time.perf_counter()
        # Halfmoves are always 0: other judges end a game at 100 of them, this one does not.
        words = self._client.search(
            f"{board} {side} 0 {number}",
            self._options.go or f"btime {first} wtime {second} binc 0 winc 0",
        )
        seconds = time.perf_counter() - started
        answer = " ".join(words)
        try:
            move = parse_uai(words[1] if len(words) > 1 else "", position)
            answer = protocol.format_answer(move, self._seat)
            self._position = position.play(move)
        except QuartetError:
            complain(f"the engine says {answer[:80]!r}, which is not legal in {position.text()}")
        # Before the answer, so that the judge has it when the turn ends.
        depth = self._client.info.get("depth", "")
        if "QUARTET_INFO" in os.environ and depth.isdecimal():
            nodes = self._client.number("nodes")
            complain(f"info depth {depth} nodes {nodes} seconds {seconds:.6f}")
        self._answer(answer)  # even if it is illegal: the judge decides

    def _answer(self, line: str) -> None:
        try:
            self._sink.write(line.encode("ascii", "replace") + b"\n")
            self._sink.flush()
        except OSError as error:
            raise JudgeGoneError from error


def main(arguments: Sequence[str]) -> int:
    """Run the adapter and return the exit status: BAD_INPUT for bad arguments, FAILED if the engine
    fails."""
    exit_on_signal("SIGTERM")
    heard: Heard = SimpleQueue()
    try:
        options = parse_arguments(arguments)
        engine = EngineProcess(options.command, heard)
    except QuartetError as error:
        complain(str(error))
        return FAILED if isinstance(error, EngineError) else BAD_INPUT
    try:
        threading.Thread(target=listen, args=(sys.stdin.buffer, heard, False), daemon=True).start()
        Adapter(engine, options, heard, sys.stdout.buffer).run()
    except QuartetError as error:
        complain(str(error))
        return FAILED
    except KeyboardInterrupt:
        pass
    finally:
        engine.close()
    return GOOD


if __name__ == "__main__":
    try:
        status = main(sys.argv[1:])
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else FAILED
    os._exit(status)  # a thread still reads from the judge
