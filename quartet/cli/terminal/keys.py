"""Keys of the terminal by name.

The names are up, down, left, right, enter, escape, backspace, tab, space, or the character itself
in lower case.
"""

from __future__ import annotations

import re
from collections import deque

import click

NAMES = {
    "\r": "enter",
    "\n": "enter",
    "\x1b": "escape",
    "\t": "tab",
    " ": "space",
    "\x7f": "backspace",
    "\x08": "backspace",
    # two modes of xterm, then two of the Windows console
    **{
        f"\x1b{bracket}{letter}": name
        for bracket in "[O"
        for letter, name in zip("ABCD", ("up", "down", "right", "left"), strict=True)
    },
    **{
        f"{first}{letter}": name
        for first in "\x00\xe0"
        for letter, name in zip("HPMK", ("up", "down", "right", "left"), strict=True)
    },
}
# An unknown escape sequence is one key, not Escape and some letters.
_KEY = re.compile(r"\x1b\[[0-9;]*[A-Za-z~]|\x1bO[A-Za-z]|[\x00\xe0].|.", re.DOTALL)
CONTROL_C, CONTROL_D = "\x03", "\x04"


def split(text: str) -> list[str]:
    """Return the names of the keys in a text that the terminal sent at once."""
    return [NAMES.get(key, key.lower()) for key in _KEY.findall(text)]


class Keyboard:
    """The keyboard of the terminal, key by key."""

    def __init__(self) -> None:
        self._waiting: deque[str] = deque()

    def key(self) -> str:
        """Wait for a key and return its name.

        Raises:
            KeyboardInterrupt: It is Ctrl-C or Ctrl-D, or the terminal was closed.
        """
        while not self._waiting:
            try:
                text = click.getchar()
            except (EOFError, OSError) as error:
                raise KeyboardInterrupt from error
            if not text:
                raise KeyboardInterrupt
            self._waiting.extend(split(text))
        key = self._waiting.popleft()
        if key in {CONTROL_C, CONTROL_D}:
            raise KeyboardInterrupt
        return key
