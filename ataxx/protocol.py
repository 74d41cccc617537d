"""Ataxx' texts in both directions and our log; shared by agent and judge. Translation and nothing
else.

What the functions promise stands at `core.rules.LineProtocol`. It imports next to nothing, for the
agent's sake.
"""

from __future__ import annotations

from core import dialect
from core.errors import TextError
from core.messages import Entry, Init, Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PASS = (-1, -1, -1, -1)
"""The ply of a player who cannot move; it has a text like any other."""

MALFORMED, ILLEGAL = "Parse failed", "Not legal"
"""Our log's codes for a foul; ALPHANO itself has one word for both, RE."""


def format_message(message: Message, seat: int) -> str:  # noqa: ARG001
    """A judge's line. This judge sends no Init: raises ValueError."""
    return _DIALECT.format_message(message)


def parse_message(line: str, seat: int) -> Message:  # noqa: ARG001
    """What the judge said. Raises TextError."""
    return _DIALECT.parse_message(line)


def check_ready(answer: str) -> None:
    """Raises TextError where the answer is not exactly OK."""
    dialect.check_ready(answer, MALFORMED)


def format_answer(move: tuple[int, ...], seat: int) -> str:  # noqa: ARG001
    """The line by which a program plays a move."""
    return f"MOVE {_words(move)}"


def parse_answer(text: str, seat: int) -> tuple[int, ...]:  # noqa: ARG001
    """The move in a program's answer. Raises TextError."""
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
    """A line of our log, None for what it does not record."""
    if isinstance(entry, Init):
        return f"INIT {entry.text}"
    return _DIALECT.format_entry(entry)


def parse_entry(line: str) -> Entry:
    """What a line of our log says. Raises TextError."""
    word, _, rest = line.partition(" ")
    if word == "INIT":
        return Init(rest.strip())
    return _DIALECT.parse_entry(line)


def _words(move: tuple[int, ...], drawn: int | None = None) -> str:  # noqa: ARG001
    return " ".join(map(str, move))


def _parse_ply(words: Sequence[str]) -> tuple[tuple[int, ...], None]:
    return dialect.four_integers(words), None


_DIALECT = dialect.Dialect("TURN", _words, _parse_ply, ("0", "1"), annotated=False)
