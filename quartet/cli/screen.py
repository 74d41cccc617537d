"""A game on the terminal as it goes on: drawn turn by turn, run through or stepped."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import click

from core.errors import QuartetError
from quartet.cli import drawing
from quartet.cli.keys import Keyboard

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from quartet.judge.match import Match
    from quartet.judge.turn import Turn

NEXT = {"i", "space", "enter", "right", "down"}
"""Keys for the next move, as on the contest's server, and whatever else comes to mind."""
RUN_ON, LEAVE = "p", "q"
HINT = "i or Enter: next move   p: run on   q: leave"


def pacing(command: Callable[..., None]) -> Callable[..., None]:
    """The options by which a screen is slowed down."""
    delay = click.option(
        "--delay",
        type=click.IntRange(min=0),
        default=0,
        metavar="MS",
        help="Wait so many milliseconds after every move.",
    )
    step = click.option(
        "--step",
        is_flag=True,
        help="Wait for a key after every move: i for the next one, p to run on, q to leave.",
    )
    return step(delay(command))


class Screen:
    """Shows a match: a watcher."""

    def __init__(self, console: Console, *, delay: float = 0.0, step: bool = False) -> None:
        """Make a screen.

        Args:
            console: Console.
            delay: float; seconds to wait after each turn.
            step: bool; wait for a key instead.

        Raises:
            QuartetError: there is no keyboard to step with.
        """
        if step:
            require_keyboard("--step")
        self._console = console
        self._delay = delay
        self._step = step
        self._keyboard = Keyboard()

    def begin(self, match: Match) -> None:
        """The position before the first turn."""
        self._console.print(drawing.picture(match))

    def turn(self, match: Match, turn: Turn) -> None:
        """A turn that was taken, and the position that it led to. Raises KeyboardInterrupt when the
        person leaves."""
        before = match.positions[-1]
        self._console.print()
        self._console.print(drawing.turn_line(match, turn, before), soft_wrap=True)
        self._console.print(drawing.after(match, turn, before))
        if self._step:
            self._wait()
        elif self._delay > 0:
            time.sleep(self._delay)

    def taken_back(self, match: Match) -> None:
        """The position that the game goes on from."""
        self._console.print()
        self._console.print(f"taken back to ply {match.position.ply}", style="dim")

    def end(self, match: Match) -> None:
        """The result is printed apart."""

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
