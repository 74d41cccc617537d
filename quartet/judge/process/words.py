"""Descriptions of a program for the user: its exit status, and its last line of standard error."""

from __future__ import annotations

import re
import signal

SHOWN = 120
"""Characters of a line that are shown."""
PLACE = re.compile(r'^\s*File "(.+)", line (\d+)')
"""A line of a Python traceback with the place of an error."""


def printable(text: str) -> str:
    """Return the first SHOWN characters of a line, control characters replaced."""
    return "".join(character if character.isprintable() else "?" for character in text[:SHOWN])


def describe_exit(status: int) -> str:
    """Describe an exit status, e.g. "exit status 1" or "killed by SIGSEGV".

    Args:
        status: The status, -n for signal n.
    """
    if status >= 0:
        # Windows reports crashes as 32-bit codes, which are known in hexadecimal.
        return f"exit status {status}" if status < 1 << 16 else f"exit status {status:#x}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"


def last_words(lines: list[str]) -> str:
    """Return the last non-empty line of standard error, with the place if it ends a traceback.

    Empty if there is none.
    """
    said = [line for line in lines if line.strip()]
    if not said:
        return ""
    places = [found for line in said if (found := PLACE.match(line)) is not None]
    where = ""
    if places and any(line.startswith("Traceback") for line in said):
        where = f" ({places[-1][1].rpartition('/')[2]}, line {places[-1][2]})"
    return printable(said[-1]) + printable(where)
