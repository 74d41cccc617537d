"""Connexion's line protocol, and the official tool's log: translation only.

`core.rules.LineProtocol` describes the functions. Agents import this module, so it imports almost
nothing.
"""

from __future__ import annotations

from connexion.geometry import CELL, CELLS, HAND, NOTHING, TILE, TILES, fresh_bag
from core import dialect
from core.errors import TextError
from core.messages import Drew, Entry, Init, Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PASS = (-1, -1)
"""Never legal: while the game is running, there is always a move. Every game names its pass."""

NOT_READY, NOT_PUT, NOT_CELL, NOT_TILE = (
    "INVALID READY MESSAGE",
    "PUT PARSE FAILED",
    "CELL PARSE FAILED",
    "TILE PARSE FAILED",
)
OCCUPIED, NOT_IN_HAND = "NOT EMPTY", "NO TILE"
"""The official tool's codes of illegal answers, in the order of its checks."""


def format_message(message: Message, seat: int) -> str:
    """Return the judge's line; in an Init the hand of `seat` comes first."""
    if isinstance(message, Init):
        return _format_init(message, seat)
    if isinstance(message, Drew):
        return f"GET {_drawn_name(message.drawn)}"
    return _DIALECT.format_message(message)


def parse_message(line: str, seat: int) -> Message:
    """Return the judge's message to `seat`; an Init assumes an order of the bags. Raises
    TextError."""
    word, *rest = line.split() or [""]
    if word == "INIT":
        return _parse_init(rest, seat)
    if word == "GET":
        return Drew(_parse_drawn(dialect.only(rest, word)))
    return _DIALECT.parse_message(line)


def check_ready(answer: str) -> None:
    """Raise TextError unless the answer is OK, with any white space around it."""
    dialect.check_ready(answer.strip(), NOT_READY)


def format_answer(move: tuple[int, ...], seat: int) -> str:  # noqa: ARG001
    """Return a program's line for a move."""
    return f"PUT {CELLS[move[0]]} {TILES[move[1]]}"


def parse_answer(text: str, seat: int) -> tuple[int, ...]:  # noqa: ARG001
    """Return the move in a program's answer. Raises TextError."""
    words = text.split()
    if len(words) != 3 or words[0] != "PUT":
        raise TextError(
            f"expected PUT, a cell and a tile, got {text[:40]!r}"
            if words
            else "the answer is empty",
            NOT_PUT,
        )
    return _cell(words[1]), _tile(words[2])


def format_entry(entry: Entry) -> str | None:
    """Return a line of the official log."""
    if isinstance(entry, Init):
        return _format_init(entry, 0)
    return _DIALECT.format_entry(entry)


def parse_entry(line: str) -> Entry:
    """Return the entry of a line of the official log; an Init assumes an order of the bags. Raises
    TextError."""
    word, *rest = line.split() or [""]
    if word == "INIT":
        return _parse_init(rest, 0)
    return _DIALECT.parse_entry(line)


def _format_init(init: Init, seat: int) -> str:
    hands = [line.split()[:HAND] for line in init.text.splitlines()[:2]]
    return " ".join(["INIT", *hands[seat], *hands[1 - seat]])


def _parse_init(words: Sequence[str], seat: int) -> Init:
    """Return the start position with the bags in ascending order."""
    if len(words) != 2 * HAND:
        raise TextError(f"INIT has {len(words)} tiles, not {2 * HAND}")
    tiles = tuple(map(_tile, words))
    lines = []
    for hand in (tiles[:HAND], tiles[HAND:]):
        try:
            lines.append(" ".join(TILES[tile] for tile in (*hand, *fresh_bag(hand))))
        except ValueError:
            raise TextError("a hand has more tiles of a kind than there are in a bag") from None
    return Init("\n".join(lines if seat == 0 else reversed(lines)))


def _words(move: tuple[int, ...], drawn: int | None) -> str:
    return f"{CELLS[move[0]]} {TILES[move[1]]} {_drawn_name(drawn)}"


def _parse_ply(words: Sequence[str]) -> tuple[tuple[int, ...], int | None]:
    if len(words) != 3:
        raise TextError(
            f"a ply is a cell, a tile and the tile that was drawn, not {len(words)} words"
        )
    return (_cell(words[0]), _tile(words[1])), _parse_drawn(words[2])


def _cell(word: str) -> int:
    if word not in CELL:
        raise TextError(f"there is no cell {word[:40]!r}", NOT_CELL)
    return CELL[word]


def _tile(word: str) -> int:
    if word not in TILE:
        raise TextError(f"there is no tile {word[:40]!r}", NOT_TILE)
    return TILE[word]


def _drawn_name(drawn: int | None) -> str:
    return NOTHING if drawn is None else TILES[drawn]


def _parse_drawn(word: str) -> int | None:
    return None if word == NOTHING else _tile(word)


_DIALECT = dialect.Dialect("TIME", _words, _parse_ply, ("FIRST", "SECOND"), annotated=True)
