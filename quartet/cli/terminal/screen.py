"""A running game on the terminal, drawn turn by turn."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import click
from rich.console import Console

from core.errors import QuartetError
from quartet.cli.terminal import drawing
from quartet.cli.terminal.keys import Keyboard
from quartet.judge.match import Match
from quartet.judge.turn import Turn

NEXT = {"i", "space", "enter", "right", "down"}
"""Keys that show the next move; "i" is the contest server's."""
PLAY_ON, LEAVE = "p", "q"
HINT = "i or Enter: next move   p: play on   q: leave"

MAX_DELAY = 24 * 3_600_000
"""Milliseconds; the system cannot wait for any number of them."""


def pacing(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options --delay and --step, which slow a screen down."""
    delay = click.option(
        "--delay",
        type=click.IntRange(0, MAX_DELAY),
        default=0,
        metavar="MS",
        help="Wait MS milliseconds after every move.",
    )
    step = click.option(
        "--step",
        is_flag=True,
        help="Wait for a key after every move: i for the next move, p to play on, q to leave.",
    )
    return step(delay(command))


class Screen:
    """A watcher that draws a match."""

    def __init__(self, console: Console, *, delay: float = 0.0, step: bool = False) -> None:
        """Make a screen.

        Args:
            console: Where to draw.
            delay: Seconds to wait after each turn.
            step: Wait for a key instead.

        Raises:
            QuartetError: There is no keyboard.
        """
        if step:
            require_keyboard("--step")
        self._console = console
        self._delay = delay
        self._step = step
        self._keyboard = Keyboard()

    def begin(self, match: Match) -> None:
        """Draw the position before the first turn."""
        self._console.print(drawing.picture(match))

    def turn(self, match: Match, turn: Turn) -> None:
        """Draw a turn, and the position after it.

        Raises:
            KeyboardInterrupt: The user leaves.
        """
        before = match.positions[-1]
        self._console.print()
        self._console.print(drawing.turn_line(match, turn, before), soft_wrap=True)
        self._console.print(drawing.after(match, turn, before))
        if self._step:
            self._wait()
        elif self._delay > 0:
            time.sleep(self._delay)

    def taken_back(self, match: Match) -> None:
        """Print the ply from which the game continues."""
        self._console.print()
        self._console.print(f"taken back to ply {match.position.ply}", style="dim")

    def end(self, match: Match) -> None:
        """Draw nothing: the command prints the result."""

    def _wait(self) -> None:
        self._console.print(HINT, style="dim", end="\r")
        while True:
            key = self._keyboard.key()
            if key == LEAVE:
                raise KeyboardInterrupt
            if key == PLAY_ON:
                self._step = False
            if key in NEXT or key == PLAY_ON:
                self._console.print(" " * len(HINT), end="\r")
                return


def require_keyboard(who: str) -> None:
    """Raise QuartetError if standard input is not a terminal."""
    if not sys.stdin.isatty():
        raise QuartetError(f"{who} needs a keyboard, but standard input is not a terminal")
