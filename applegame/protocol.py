"""Translate the apple game's protocol and the official tool's log, for agent and judge.

`core.rules.LineProtocol` is the contract of these functions. Imports are few, because agents must
start fast.
"""

from __future__ import annotations

from core import dialect
from core.errors import TextError
from core.messages import Entry, Init, Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

ROWS, COLUMNS = 10, 17
PASS = (-1, -1, -1, -1)
"""A turn without a rectangle; always allowed."""

MALFORMED, OUTSIDE, WRONG_SUM, LOOSE = (
    "Parse failed",
    "Out of range",
    "Sum not equals to 10",
    "Not fit",
)
"""The official tool's codes for a forfeit."""


def format_message(message: Message, seat: int) -> str:  # noqa: ARG001
    """Return the judge's line for a message."""
    if isinstance(message, Init):
        return _format_init(message)
    return _DIALECT.format_message(message)


def parse_message(line: str, seat: int) -> Message:  # noqa: ARG001
    """Return the message of a judge's line. Raises TextError."""
    return _parse_init(line) or _DIALECT.parse_message(line)


def check_ready(answer: str) -> None:
    """Raise TextError unless the answer is exactly OK: the official tool strips nothing."""
    dialect.check_ready(answer, MALFORMED)


def format_answer(move: tuple[int, ...], seat: int) -> str:  # noqa: ARG001
    """Return the line with which a program plays a move."""
    return _words(move)


def parse_answer(text: str, seat: int) -> tuple[int, ...]:  # noqa: ARG001
    """Return the move of a program's answer: exactly four integers, separated by white space.

    Raises TextError.
    """
    return dialect.four_integers(text.split(), MALFORMED)


def format_entry(entry: Entry) -> str | None:
    """Return the line of the official log, None for an entry that it does not record."""
    if isinstance(entry, Init):
        return _format_init(entry)
    return _DIALECT.format_entry(entry)


def parse_entry(line: str) -> Entry:
    """Return the entry of a line of the official log. Raises TextError."""
    return _parse_init(line) or _DIALECT.parse_entry(line)


def _format_init(init: Init) -> str:
    """Return the rows only: the judge sends neither owners nor the side to move."""
    return "INIT " + " ".join(init.text.split()[:ROWS])


def _parse_init(line: str) -> Init | None:
    word, *rows = line.split() or [""]
    if word != "INIT":
        return None
    if len(rows) != ROWS:
        raise TextError(f"INIT has {len(rows)} rows, not {ROWS}")
    for number, row in enumerate(rows):
        if len(row) != COLUMNS or not (row.isascii() and row.isdigit()):
            raise TextError(f"row {number} is {row[:40]!r}, not {COLUMNS} digits")
    return Init("\n".join(rows))


def _words(move: tuple[int, ...], drawn: int | None = None) -> str:  # noqa: ARG001
    return " ".join(map(str, move))


def _parse_ply(words: Sequence[str]) -> tuple[tuple[int, ...], None]:
    return dialect.four_integers(words), None


_DIALECT = dialect.Dialect("TIME", _words, _parse_ply, ("0", "1"), annotated=False)
