"""A game for the tests of the line judge: players say numbers from 1 to 3 in turn, and the greatest
sum wins.

After every ply, chance gives the mover the ply's number, so that all kinds of messages occur. The
referee fails after the number 9.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from core import dialect
from core.errors import IllegalMoveError, RuleError, TextError
from core.messages import Drew, Entry, Init, Message
from core.rules import GameInfo, LineJudge, Move
from quartet.judge.game import JudgedGame

if TYPE_CHECKING:
    from collections.abc import Sequence

PASS: Move = (0,)
INFO = GameInfo(
    "fake", "Fake", players=2, chance=True, lower_wins=False, score_name="points", lines=LineJudge()
)


@dataclass(frozen=True)
class Position:
    """A position.

    Attributes: `plies` is the length of the game; `said` lists the numbers so far.
    """

    plies: int = 6
    said: tuple[int, ...] = ()

    @classmethod
    def start(cls, seed: int = 0, plies: int = 6) -> Self:  # noqa: ARG003
        return cls(plies)

    @classmethod
    def parse(cls, text: str) -> Self:
        plies, *said = map(int, text.split())
        return cls(plies, tuple(said))

    def text(self) -> str:
        return " ".join(map(str, (self.plies, *self.said)))

    @property
    def ply(self) -> int:
        return len(self.said)

    @property
    def to_move(self) -> int:
        return self.ply % 2

    @property
    def over(self) -> bool:
        return self.ply >= self.plies

    def legal(self) -> list[Move]:
        return [] if self.over else self.pseudolegal()

    def pseudolegal(self) -> list[Move]:
        return [(1,), (2,), (3,)]

    def play(self, move: Move) -> Self:
        if move == (9,):
            raise ZeroDivisionError("the referee is broken")
        if move not in self.legal():
            raise IllegalMoveError(f"{move[0]} is not from 1 to 3", "RANGE")
        return replace(self, said=(*self.said, *move))

    def lose_turn(self) -> Self:
        raise RuleError("no")

    @property
    def drawn(self) -> int | None:
        return self.ply or None

    @property
    def bags(self) -> tuple[tuple[int, ...], ...]:
        return ((self.ply + 1,),) * 2

    def reveal(self, drawn: int | None) -> Self:
        if drawn != self.drawn:
            raise RuleError(f"{drawn} cannot be drawn")
        return self

    def scores(self) -> tuple[int | None, ...]:
        return sum(self.said[::2]), sum(self.said[1::2])

    def perft(self, depth: int) -> int:
        return int(3 ** min(depth, self.plies - self.ply))


def _words(move: tuple[int, ...], drawn: int | None) -> str:
    return f"{move[0]} {drawn or 'X'}"


def _parse_ply(words: Sequence[str]) -> tuple[tuple[int, ...], int | None]:
    return (int(words[0]),), None if words[1] == "X" else int(words[1])


_DIALECT = dialect.Dialect("TIME", _words, _parse_ply, ("FIRST", "SECOND"), annotated=True)


def format_message(message: Message, seat: int) -> str:
    if isinstance(message, Init):
        return f"INIT {message.text}"
    if isinstance(message, Drew):
        return f"GET {message.drawn}"
    return _DIALECT.format_message(message)


def parse_message(line: str, seat: int) -> Message:
    word, _, rest = line.partition(" ")
    if word == "INIT":
        return Init(rest)
    return Drew(int(rest)) if word == "GET" else _DIALECT.parse_message(line)


def check_ready(answer: str) -> None:
    dialect.check_ready(answer, "NOT READY")


def format_answer(move: Move, seat: int) -> str:
    return f"SAY {move[0]}"


def parse_answer(text: str, seat: int) -> Move:
    words = text.split()
    if len(words) != 2 or words[0] != "SAY":
        raise TextError(f"expected SAY and a number, got {text[:40]!r}", "PARSE")
    return (dialect.integer(words[1]),)


def format_entry(entry: Entry) -> str | None:
    return f"INIT {entry.text}" if isinstance(entry, Init) else _DIALECT.format_entry(entry)


def parse_entry(line: str) -> Entry:
    word, _, rest = line.partition(" ")
    return Init(rest) if word == "INIT" else _DIALECT.parse_entry(line)


_us: Any = sys.modules[__name__]
GAME = JudgedGame(INFO, Position, PASS, _us)
