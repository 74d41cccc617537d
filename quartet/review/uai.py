"""An engine behind the Universal Ataxx Interface that is asked about positions."""

from __future__ import annotations

import shlex
import subprocess
import threading
from itertools import pairwise
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from core.errors import QuartetError
from quartet import registry

if TYPE_CHECKING:
    from quartet.review.engines import Found

ANSWER_SECONDS = 60.0
"""How long an answer is waited for."""


class Uai:
    """The program, which lives until it is closed."""

    def __init__(self, game: str, command: str) -> None:
        """Start it. Raises QuartetError."""
        self.require(game)
        self._text: Any = registry.load(game, "uai_text")
        file = Path(command)
        words = [str(file.resolve())] if file.is_file() else shlex.split(command)
        try:
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except (OSError, IndexError) as error:
            raise QuartetError(f"cannot start the engine {command!r}: {error}") from error
        self._command = command
        self._heard: SimpleQueue[str | None] = SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()
        self._say("uai")
        self._until("uaiok")

    @staticmethod
    def require(game: str) -> None:
        """Raise QuartetError where the game has no UAI."""
        if not registry.has(game, "uai_text"):
            raise QuartetError(f"{game} has no UAI: leave away uai:")

    def begin(self) -> None:
        """A new game."""
        self._say("uainewgame", "isready")
        self._until("readyok")

    def ask(self, position: Any, nodes: int) -> Found:
        """Search a position. Raises QuartetError."""
        from quartet.review.engines import Found  # noqa: PLC0415  (it imports us)

        self._say(f"position fen {position.text()}", f"go nodes {nodes}")
        score: float | None = None
        line: tuple[Any, ...] = ()
        depth = spent = 0
        while True:
            words = self._next().split()
            if words[:1] == ["info"]:
                told = dict(pairwise(words))
                depth = _number(told.get("depth"), depth)
                spent = _number(told.get("nodes"), spent)
                if "cp" in told or "mate" in told:
                    cp = told.get("cp")
                    mate = _number(told.get("mate"), 0)
                    score = float(_number(cp, 0)) if cp else (30_000.0 - abs(mate)) * _sign(mate)
            elif words[:1] == ["bestmove"] and len(words) > 1:
                try:
                    move = tuple(self._text.parse_uai(words[1], position))
                except (QuartetError, ValueError) as error:
                    raise QuartetError(f"{self._command}: bestmove {words[1]}: {error}") from error
                return Found(move=move, score=score, line=(move, *line), depth=depth, nodes=spent)

    def close(self) -> None:
        """End it."""
        try:
            self._say("quit")
            self._process.wait(1)
        except (QuartetError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _say(self, *lines: str) -> None:
        assert self._process.stdin is not None  # noqa: S101  (a pipe)
        try:
            self._process.stdin.write("".join(line + "\n" for line in lines).encode())
            self._process.stdin.flush()
        except OSError as error:
            raise QuartetError(f"the engine {self._command!r} has ended") from error

    def _next(self) -> str:
        try:
            line = self._heard.get(timeout=ANSWER_SECONDS)
        except Empty:
            raise QuartetError(f"the engine {self._command!r} says nothing") from None
        if line is None:
            raise QuartetError(f"the engine {self._command!r} has ended")
        return line

    def _until(self, word: str) -> None:
        while self._next().strip() != word:
            pass

    def _listen(self) -> None:
        assert self._process.stdout is not None  # noqa: S101  (a pipe)
        try:
            for line in self._process.stdout:
                self._heard.put(line.decode("utf-8", "replace"))
        except (OSError, ValueError):
            pass
        self._heard.put(None)


def _number(text: str | None, default: int) -> int:
    try:
        return default if text is None else int(text)
    except ValueError:
        return default


def _sign(value: int) -> int:
    return 1 if value > 0 else -1
