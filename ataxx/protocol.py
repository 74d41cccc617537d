"""Translate Ataxx's line protocol and quartet's log, for agent and judge.

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

PASS = (-1, -1, -1, -1)
"""The ply of a player who cannot move. It has a text like any other ply."""

MALFORMED, ILLEGAL = "Parse failed", "Not legal"
"""The codes for a forfeit in quartet's log. The contest site ALPHANO shows RE for both."""


def format_message(message: Message, seat: int) -> str:  # noqa: ARG001
    """Return the judge's line for a message.

    Raises ValueError for an Init, which this judge never sends.
    """
    return _DIALECT.format_message(message)


def parse_message(line: str, seat: int) -> Message:  # noqa: ARG001
    """Return the message of a judge's line. Raises TextError."""
    return _DIALECT.parse_message(line)


def check_ready(answer: str) -> None:
    """Raise TextError unless the answer is exactly OK."""
    dialect.check_ready(answer, MALFORMED)


def format_answer(move: tuple[int, ...], seat: int) -> str:  # noqa: ARG001
    """Return the line with which a program plays a move."""
    return f"MOVE {_words(move)}"


def parse_answer(text: str, seat: int) -> tuple[int, ...]:  # noqa: ARG001
    """Return the move of a program's answer. Raises TextError."""
    word, *rest = text.split() or [""]
    if word != "MOVE":
        raise TextError(
            f"expected MOVE and four integers, got {text[:40]!r}"
            if word
            else "the answer is empty",
            MALFORMED,
        )
    return dialect.four_integers(rest, MALFORMED)


def format_entry(entry: Entry) -> str | None:
    """Return the line of quartet's log, None for an entry that it does not record."""
    if isinstance(entry, Init):
        return f"INIT {entry.text}"
    return _DIALECT.format_entry(entry)


def parse_entry(line: str) -> Entry:
    """Return the entry of a line of quartet's log. Raises TextError."""
    word, _, rest = line.partition(" ")
    if word == "INIT":
        return Init(rest.strip())
    return _DIALECT.parse_entry(line)


def _words(move: tuple[int, ...], drawn: int | None = None) -> str:  # noqa: ARG001
    return " ".join(map(str, move))


def _parse_ply(words: Sequence[str]) -> tuple[tuple[int, ...], None]:
    return dialect.four_integers(words), None


_DIALECT = dialect.Dialect("TURN", _words, _parse_ply, ("0", "1"), annotated=False)
