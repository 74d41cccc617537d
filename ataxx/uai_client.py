"""A UAI engine as a child process: start, handshake, searches, end.

The judge's seat (`ataxx.uai_adapter`) and reviews (`quartet.review.engines`) talk to engines with
it.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from ataxx.uai_text import parse_uai
from core.agent.lines import LONGEST_LINE
from core.errors import QuartetError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import BinaryIO

    from ataxx.uai_text import MoveSource
    from core.rules import Move

    Heard = SimpleQueue[tuple[bool, str | None]]

USERS_PATH = "QUARTET_USERS_PYTHONPATH"
"""Environment variable in which our judge keeps the user's PYTHONPATH; empty if it was not set."""
SHELL_SYNTAX = set("|&;<>()$`*?#~={}%\\\n")
"""Characters that only the shell understands; a command with one of them is not changed."""
QUIT_SECONDS = 0.3
"""Time for the engine to end after `quit` before it is killed. Our judge gives the adapter 1 s."""
MATE = 30_000
"""Score of a won game; a mate in n scores MATE - n."""


class EngineError(QuartetError):
    """The engine ended or does not answer; the message says which."""


class EngineProcess:
    """The engine's process; its output goes into a queue as (True, line), and (True, None) at EOF.

    Attributes:
        name: What error messages call it.
    """

    def __init__(
        self, command: str, heard: Heard, *, name: str = "the engine", quiet: bool = False
    ) -> None:
        """Start the engine.

        Args:
            command: A file or a line for the system's shell.
            heard: Queue for its output.
            name: What error messages call it.
            quiet: Discard its standard error.

        Raises:
            EngineError: It cannot be started.
        """
        is_file = os.path.isfile(command)  # noqa: PTH113  (a long command is not a valid path)
        words = [os.path.abspath(command)] if is_file else absolute_paths(command)  # noqa: PTH100
        # Its own process group: a shell's children must end with it.
        group = {} if sys.platform == "win32" else {"process_group": 0}
        self.name = name
        try:
            self._process = subprocess.Popen(
                words,
                shell=not is_file,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL if quiet else None,
                cwd=outside(),
                env=own_environment(),
                **group,
            )  # type: ignore[call-overload]
        except OSError as error:
            raise EngineError(f"{name} cannot be started: {error.strerror}") from error
        threading.Thread(target=self._listen, args=(heard,), daemon=True).start()

    def say(self, *lines: str) -> None:
        """Send lines at once. An engine that has ended is noticed when it does not answer."""
        with suppress(OSError):
            self._process.stdin.write("".join(line + "\n" for line in lines).encode())
            self._process.stdin.flush()

    def status(self) -> str:
        """Return a sentence on how the engine ended."""
        with suppress(subprocess.TimeoutExpired):
            code = self._process.wait(QUIT_SECONDS)
            if code < 0:
                return f"{self.name} was killed by signal {-code}"
            return f"{self.name} ended with exit status {code}"
        return f"{self.name} closed its output"

    def close(self) -> None:
        """End the engine and its children, by `quit` or by force."""
        self.say("stop", "quit")
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(QUIT_SECONDS)
        with suppress(OSError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        with suppress(OSError):
            self._process.stdin.close()

    def _listen(self, heard: Heard) -> None:
        with self._process.stdout as output:
            listen(output, heard, True)


class UaiClient:
    """The conversation with an engine.

    Attributes:
        info: Values by name of the last search's `info` lines.
    """

    def __init__(
        self,
        engine: EngineProcess,
        heard: Heard,
        *,
        on_other: Callable[[str | None], None] | None = None,
        seconds: float | None = None,
    ) -> None:
        """Take a process that puts its output into `heard`.

        Args:
            on_other: Called with lines that others put into `heard` as (False, line).
            seconds: Longest wait for a line; None waits for ever.
        """
        self._engine, self._heard = engine, heard
        self._on_other, self._seconds = on_other, seconds
        self.info: dict[str, str] = {}

    def start(self, options: Iterable[tuple[str, str]] = ()) -> None:
        """Do the handshake and set options. Raises EngineError, as all that follows."""
        self._engine.say("uai")
        self._until("uaiok")
        settings = (f"setoption name {name} value {value}" for name, value in options)
        self._engine.say(*settings, "isready")
        self._until("readyok")

    def new_game(self) -> None:
        """Announce a new game."""
        self._engine.say("uainewgame", "isready")
        self._until("readyok")

    def search(self, fen: str, go: str) -> list[str]:
        """Search a position and return the words of the engine's `bestmove` line.

        Args:
            fen: The position.
            go: Limits, as the command `go` takes them.
        """
        self.info = {}
        self._engine.say(f"position fen {fen}", f"go {go}")
        return self._until("bestmove")

    def best_move(self, position: MoveSource, go: str) -> Move:
        """Search a position and return the engine's move; it may be illegal."""
        words = self.search(position.text(), go)
        try:
            return parse_uai(words[1] if len(words) > 1 else "", position)
        except QuartetError as error:
            raise EngineError(f"{self._engine.name}: {' '.join(words)}: {error}") from error

    def score(self) -> float | None:
        """Return the last search's score, in the engine's unit; None if it gave none."""
        with suppress(KeyError, ValueError):
            return float(int(self.info["cp"]))
        with suppress(KeyError, ValueError):
            mate = int(self.info["mate"])
            return float(MATE - mate if mate > 0 else -MATE - mate)
        return None

    def number(self, name: str) -> int:
        """Return a natural number of the last search's `info` lines; 0 if it is missing."""
        text = self.info.get(name, "")
        return int(text) if text.isdecimal() else 0

    def close(self) -> None:
        """End the engine."""
        self._engine.close()

    def _until(self, word: str) -> list[str]:
        """Return the words of the engine's next line that begins with `word`."""
        while True:
            try:
                is_engine, line = self._heard.get(timeout=self._seconds)
            except Empty:
                raise EngineError(
                    f"{self._engine.name} gave no {word} within {self._seconds:g} s"
                ) from None
            if not is_engine and self._on_other is not None:
                self._on_other(line)
            elif line is None:
                raise EngineError(f"{self._engine.status()} before it said {word}")
            else:
                words = line.split()
                if words[:1] == [word]:
                    return words
                if words[:1] == ["info"] and "string" not in words:
                    if "score" in words:
                        self.info.pop("cp", None)
                        self.info.pop("mate", None)
                    self.info.update(pairwise(words))


def connect(command: str, seconds: float) -> UaiClient:
    """Start an engine, discarding its standard error, and do the handshake.

    Args:
        command: A file or a line for the system's shell.
        seconds: Longest wait for a line of its output.

    Raises:
        EngineError: It cannot be started or does not speak UAI.
    """
    heard: Heard = SimpleQueue()
    name = f"the engine {command!r}"
    engine = EngineProcess(command, heard, name=name, quiet=True)
    client = UaiClient(engine, heard, seconds=seconds)
    try:
        client.start()
    except EngineError:
        client.close()
        raise
    return client


def outside() -> str | None:
    """Return a folder outside this project to start the engine in; None for the current one.

    Inside a checkout, `python -m` would find its modules instead of the engine's.
    """
    here = Path.cwd()
    inside = any((folder / "ataxx" / "uai.py").exists() for folder in (here, *here.parents))
    return tempfile.gettempdir() if inside else None


def own_environment() -> dict[str, str]:
    """Return the environment with the user's PYTHONPATH instead of the one set by our judge."""
    environment = dict(os.environ)
    theirs = environment.pop(USERS_PATH, None)
    if theirs is not None:
        environment.pop("PYTHONPATH", None)
        if theirs:
            environment["PYTHONPATH"] = theirs
    return environment


def absolute_paths(command: str) -> str:
    """Return a command with absolute paths of the files it names: it may start elsewhere."""
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


def listen(source: BinaryIO, heard: Heard, is_engine: bool) -> None:
    """Put every line of a pipe into a queue, and None at its end."""
    with suppress(OSError, ValueError):
        while line := source.readline(LONGEST_LINE):
            heard.put((is_engine, line.decode("ascii", "replace").strip()))
    heard.put((is_engine, None))
