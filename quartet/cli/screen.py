"""A game on the terminal as it goes on: drawn turn by turn, run through or stepped."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from core.errors import QuartetError
from quartet.cli import drawing
from quartet.cli.keys import Keyboard

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

    from quartet.judge.record import Turn
    from quartet.judge.table import Table

NEXT = {"i", "space", "enter", "right", "down"}
"""Keys for the next move, as on the contest's server, and whatever else comes to mind."""
RUN_ON, LEAVE = "p", "q"
HINT = "i or Enter: next move   p: run on   q: leave"


class Screen:
    """Shows turns.

    `delay` is the seconds to wait after each, `step` waits for a key instead. Raises QuartetError
    when there is no keyboard to step with.
    """

    def __init__(self, console: Console, *, delay: float = 0.0, step: bool = False) -> None:
        if step:
            require_keyboard("--step")
        self._console = console
        self._delay = delay
        self._step = step
        self._keyboard = Keyboard()

    def show_start(self, table: Table) -> None:
        """The position before the first turn."""
        self._console.print(drawing.scene(table))

    def show(self, table: Table, turn: Turn) -> None:
        """A turn that was taken, and the position that it led to. Raises KeyboardInterrupt when the
        person leaves."""
        self.present(drawing.turn_line(table, turn), drawing.scene(table, drawing.move_marks(turn)))

    def present(self, line: Text, scene: RenderableType) -> None:
        """A line about what has happened, and the position that it led to. Raises KeyboardInterrupt
        when the person leaves."""
        self._console.print()
        self._console.print(line, soft_wrap=True)
        self._console.print(scene)
        if self._step:
            self._wait()
        elif self._delay > 0:
            time.sleep(self._delay)

    def _wait(self) -> None:
        self._console.print(HINT, style="dim", end="\r")
        while True:
            key = self._keyboard.key()
            if key == LEAVE:
                raise KeyboardInterrupt
            if key == RUN_ON:
                self._step = False
            if key in NEXT or key == RUN_ON:
                self._console.print(" " * len(HINT), end="\r")
                return


def require_keyboard(who: str) -> None:
    """Raise QuartetError unless a person can press keys."""
    if not sys.stdin.isatty():
        raise QuartetError(f"{who} needs a terminal, and standard input is none")
