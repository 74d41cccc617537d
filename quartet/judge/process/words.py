"""What is said of a program to a person: how it ended, and what it said last."""

from __future__ import annotations

import re
import signal

SHOWN = 120
"""Characters of a line that are shown."""
PLACE = re.compile(r'^\s*File "(.+)", line (\d+)')
"""A line of Python's traceback that says where an error was."""


def printable(text: str) -> str:
    """The beginning of a line for the terminal: no control characters."""
    return "".join(character if character.isprintable() else "?" for character in text[:SHOWN])


def describe_exit(status: int) -> str:
    """An exit status in words, e.g. "exit status 1" or "killed by SIGSEGV".

    Args:
        status: int; -n for signal n.
    """
    if status >= 0:
        # Windows gives crashes as 32-bit codes that are known by their hexadecimal form.
        return f"exit status {status}" if status < 1 << 16 else f"exit status {status:#x}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"


def last_words(lines: list[str]) -> str:
    """The last line of standard error that says something; of a traceback the place as well.

    Empty where nothing was said.
    """
    said = [line for line in lines if line.strip()]
    if not said:
        return ""
    places = [found for line in said if (found := PLACE.match(line)) is not None]
    where = ""
    if places and any(line.startswith("Traceback") for line in said):
        where = f" ({places[-1][1].rpartition('/')[2]}, line {places[-1][2]})"
    return printable(said[-1]) + printable(where)
