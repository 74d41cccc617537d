"""`python -m ataxx.uai_adapter [OPTION...] COMMAND`: seats a UAI engine before a judge that speaks
ALPHANO's lines.

Judge and arena start it for a program that is named `uai:COMMAND`. What the engine does wrong
reaches the judge: a move that is not legal is handed on, an engine that dies takes the adapter with
    it, one that is silent is waited for. RULES.md says what it is sent.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from ataxx import protocol
from ataxx.rules import Position
from ataxx.uai_text import parse_uai
from core.agent.cli import told_start
from core.agent.files import BAD_INPUT, FAILED, GOOD, complain
from core.agent.lines import LONGEST_LINE
from core.errors import QuartetError, TextError
from core.leaving import leave_on
from core.messages import READY_ANSWER, Finish, Opponent, Ready, Turn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO

MARGIN_MS = 10
"""The engine is told that it has so much less on its clock: what adapter, pipes and the judge's
whole milliseconds may cost."""
USERS_PATH = "QUARTET_USERS_PYTHONPATH"
"""The environment variable in which a judge of ours keeps the user's PYTHONPATH, empty for none."""
SHELL_SYNTAX = set("|&;<>()$`*?#~={}%\\\n")
"""Characters that only the shell can make sense of; a command with one stays as it is."""
QUIT_SECONDS = 0.3
"""For the engine to end after `quit`, before it is killed; the judge gives us a second."""
OPTION = re.compile(r"""--(margin|option|go)[ =]("[^"]*"|'[^']*'|\S+)\s+""")
USAGE = 'uai_adapter: [--margin MS] [--option NAME=VALUE]... [--go "nodes N"] COMMAND'


class Settings(NamedTuple):
    """What the caller wants.

    Attributes:
        command: of the engine, a file or a line for the system's shell.
        margin: milliseconds that are kept back; options: names and values for `setoption`.
        go: what to ask for instead of a move by the clocks.
    """

    command: str
    margin: int
    options: tuple[tuple[str, str], ...]
    go: str | None


def parse_arguments(arguments: Sequence[str]) -> Settings:
    """One argument is a whole line, as the arena gives it, several are its words. Raises
    TextError."""
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
    return Settings(line, margin, tuple(options), go)


class GoneError(Exception):
    """The judge has had enough."""


class EngineError(Exception):
    """The engine cannot go on; the message says why."""


class Engine:
    """The engine's process. Every line that it says goes into `heard`, as (True, line), and in the
    end (True, None)."""

    def __init__(self, command: str, heard: SimpleQueue[tuple[bool, str | None]]) -> None:
        """Start it. Raises OSError."""
        is_file = os.path.isfile(command)  # noqa: PTH113  (a long command is no name)
        words = [os.path.abspath(command)] if is_file else whole_paths(command)  # noqa: PTH100
        # A group of its own: a shell's children are to end with it.
        group = {} if sys.platform == "win32" else {"process_group": 0}
        self._process = subprocess.Popen(
            words,
            shell=not is_file,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=outside(),
            env=own_environment(),
            **group,
        )  # type: ignore[call-overload]
        threading.Thread(
            target=listen, args=(self._process.stdout, heard, True), daemon=True
        ).start()

    def say(self, *lines: str) -> None:
        """Send lines, all at once. Never fails: an engine that does not hear will not answer."""
        with suppress(OSError):
            self._process.stdin.write("".join(line + "\n" for line in lines).encode())
            self._process.stdin.flush()

    def status(self) -> str:
        """How it ended, in words."""
        with suppress(subprocess.TimeoutExpired):
            code = self._process.wait(QUIT_SECONDS)
            return (
                f"the engine ended with exit status {code}"
                if code >= 0
                else f"the engine was killed by signal {-code}"
            )
        return "the engine closed its output"

    def close(self) -> None:
        """End it, by request or by force, with what it has started."""
        self.say("stop", "quit")
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(QUIT_SECONDS)
        with suppress(OSError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def outside() -> str | None:
    """A folder to start the engine in that is in no checkout of ours: there `python -m` would find
    that version instead of its own. None for the folder that we are in."""
    here = Path.cwd()
    inside = any((folder / "ataxx" / "uai.py").exists() for folder in (here, *here.parents))
    return tempfile.gettempdir() if inside else None


def own_environment() -> dict[str, str]:
    """The environment without the import path by which we were found; the user's own stays."""
    environment = dict(os.environ)
    theirs = environment.pop(USERS_PATH, None)
    if theirs is not None:
        environment.pop("PYTHONPATH", None)
        if theirs:
            environment["PYTHONPATH"] = theirs
    return environment


def whole_paths(command: str) -> str:
    """A command with the files that it names by their whole paths: it may start elsewhere."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    if SHELL_SYNTAX & set(command):
        return command
    return shlex.join(
        str(Path(word).absolute()) if "/" in word and Path(word).is_file() else word
        for word in words
    )


def listen(source: BinaryIO, heard: SimpleQueue[tuple[bool, str | None]], is_engine: bool) -> None:
    """Put every line of a pipe into a queue, and None in the end."""
    with suppress(OSError, ValueError):
        while line := source.readline(LONGEST_LINE):
            heard.put((is_engine, line.decode("ascii", "replace").strip()))
    heard.put((is_engine, None))


class Adapter:
    """Between a judge, heard through the queue, and an engine."""

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        heard: SimpleQueue[tuple[bool, str | None]],
        sink: BinaryIO,
    ) -> None:
        self._engine = engine
        self._settings = settings
        self._heard = heard
        self._sink = sink
        self._kept: list[str] = []
        self._is_greeted = False
        self._info: dict[str, str] = {}
        self._start = told_start(Position) or Position.start()
        self._position = self._start
        self._seat = 0

    def run(self) -> None:
        """Go on until the judge has had enough. Raises EngineError, and QuartetError where the
        judge says what cannot be."""
        with suppress(GoneError):
            while True:
                is_engine, line = (False, self._kept.pop(0)) if self._kept else self._heard.get()
                if line is None:
                    if is_engine:
                        raise EngineError(self._engine.status())
                    return
                if not is_engine and line:
                    self._follow(line)

    def _follow(self, line: str) -> None:
        """Do what the judge's line asks for."""
        match protocol.parse_message(line, self._seat):
            case Ready(seat=seat):
                self._seat = seat
                self._position = self._start
                self._greet()
                self._answer(READY_ANSWER)
            case Turn(mine=mine, theirs=theirs):
                self._move(mine, theirs)
            case Opponent(move=move):
                self._position = self._position.play(move)
            case Finish():
                raise GoneError

    def _greet(self) -> None:
        """A new game."""
        if not self._is_greeted:
            self._engine.say("uai")
            self._until("uaiok")
            self._is_greeted = True
            self._engine.say(
                *(f"setoption name {name} value {value}" for name, value in self._settings.options),
                "isready",
            )
            self._until("readyok")
        self._engine.say("uainewgame", "isready")
        self._until("readyok")

    def _move(self, mine: int, theirs: int) -> None:
        """Have the engine move; a forced pass is no question for it."""
        position = self._position
        if position.legal() == [protocol.PASS]:
            self._answer(protocol.format_answer(protocol.PASS, self._seat))
            self._position = position.play(protocol.PASS)
            return
        board, side, _, number = position.text().split()
        left = max(1, mine - self._settings.margin)
        first, second = (left, theirs) if self._seat == 0 else (theirs, left)
        started = time.perf_counter()
        self._info = {}
        # Halfmoves are always 0: the field has a rule about them that this judge has not.
        self._engine.say(
            f"position fen {board} {side} 0 {number}",
            f"go {self._settings.go or f'btime {first} wtime {second} binc 0 winc 0'}",
        )
        said = self._until("bestmove")
        seconds = time.perf_counter() - started
        text = said[1] if len(said) > 1 else ""
        answer = " ".join(said)
        try:
            move = parse_uai(text, position)
            answer = protocol.format_answer(move, self._seat)
            self._position = position.play(move)
        except QuartetError:
            complain(
                f"the engine says {' '.join(said)[:80]!r}, which is not legal in {position.text()}"
            )
        # Before the answer, so that the judge has it when the turn ends.
        if "QUARTET_INFO" in os.environ and self._info.get("depth", "").isdecimal():
            nodes = self._info.get("nodes", "")
            complain(
                f"info depth {self._info['depth']} nodes {nodes if nodes.isdecimal() else 0} "
                f"seconds {seconds:.6f}"
            )
        self._answer(answer)  # the judge has the last word

    def _until(self, word: str) -> list[str]:
        """The words of the engine's next line that begins with `word`. Raises EngineError when it
        ends, GoneError when the judge leaves."""
        while True:
            is_engine, line = self._heard.get()
            if not is_engine:
                if line is None or line == "FINISH":
                    raise GoneError
                self._kept.append(line)
            elif line is None:
                raise EngineError(f"{self._engine.status()} before it said {word}")
            else:
                words = line.split()
                if words[:1] == [word]:
                    return words
                if words[:1] == ["info"] and "string" not in words:
                    self._info.update(pairwise(words))

    def _answer(self, line: str) -> None:
        try:
            self._sink.write(line.encode("ascii", "replace") + b"\n")
            self._sink.flush()
        except OSError as error:
            raise GoneError from error


def main(arguments: Sequence[str]) -> int:
    """Run the adapter; gives the exit status: BAD_INPUT for bad arguments, FAILED when the engine
    is to blame."""
    leave_on("SIGTERM")
    heard: SimpleQueue[tuple[bool, str | None]] = SimpleQueue()
    try:
        settings = parse_arguments(arguments)
        engine = Engine(settings.command, heard)
    except QuartetError as error:
        complain(str(error))
        return BAD_INPUT
    except OSError as error:
        complain(f"the engine cannot be started: {error.strerror}")
        return FAILED
    try:
        threading.Thread(target=listen, args=(sys.stdin.buffer, heard, False), daemon=True).start()
        Adapter(engine, settings, heard, sys.stdout.buffer).run()
    except (EngineError, QuartetError) as error:
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
