"""The Python face that every game shows, on its reference rules and on its fast rules alike.

Agents never import this module at run time (it would cost them milliseconds of start-up); referees,
tests and tools do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from core.messages import Entry, Message

Move = tuple[int, ...]
"""A move in absolute coordinates; what the numbers mean stands in the game's RULES.md. Every game
names its PASS."""


@dataclass(frozen=True)
class FileExchange:
    """How a judge that starts the program anew for every move talks to it, and what it allows.

    Attributes:
        input, output: names of the two files in the program's folder.
        seconds: wall clock from the start of the process to its exit, per move.
        megabytes: resident memory of the whole process tree.
        search_ms: what a search has of `seconds`, in milliseconds, start and end of the process
            taken off; the clock of games in process.
    """

    input: str
    output: str
    seconds: float
    megabytes: int
    search_ms: int | None = None


@dataclass(frozen=True)
class LineJudge:
    """How a judge that speaks lines with a running program plays a game, and what it allows.
    `LineProtocol` has the words.

    It sends Ready; Init with the start position, where `init`; then, until the game is over, Turn
    to the seat to move, Drew to the same seat after its answer where the game has chance, Opponent
    to the other seat; in the end Finish to both.

    Attributes:
        ready_ms: until the answer to Ready; clock_ms: for all moves of a game together. Wall clock,
            in milliseconds.
        init: whether the judge describes the start position; otherwise all games start alike.
        megabytes: memory of the program, None where the judge names no limit.
    """

    ready_ms: int = 3000
    clock_ms: int = 10000
    init: bool = True
    megabytes: int | None = None


@dataclass(frozen=True)
class Option:
    """A variant of the rules that `Position.start` takes as a keyword, and `Position.parse` too,
    unless it is `of_start` alone."""

    default: int | bool
    help: str
    of_start: bool = False


@dataclass(frozen=True)
class GameInfo:
    """What tools must know of a game before they load its rules.

    Attributes:
        name: as in the registry; title: as people call it.
        players: seats at the table; chance: whether luck is involved after the start.
        lower_wins: whether the lowest score wins (a penalty) instead of the highest.
        score_name: what `Position.scores` counts, in one word.
        exchange: the file exchange of the game's judge, or None where it speaks lines on stdin and
            stdout; lines: then this.
        options: variants of the rules, by keyword.
        adapters: lines, too: for programs of other languages. A program that is named
            PREFIX:COMMAND is seated by the module of that prefix, which gets COMMAND as its one
            argument and speaks with the judge for it.
    """

    name: str
    title: str
    players: int
    chance: bool
    lower_wins: bool
    score_name: str
    exchange: FileExchange | None = None
    lines: LineJudge | None = None
    options: Mapping[str, Option] = field(default_factory=dict)
    adapters: Mapping[str, str] = field(default_factory=dict)


class Position(Protocol):
    """A position is a value: `play` gives a new one and leaves the old one alone.

    `legal` knows that the game may be over, `pseudolegal` does not. A seat that is stuck in a game
    that goes on has exactly one legal move, the game's PASS.
    """

    @classmethod
    def start(cls, seed: int = 0, *args: Any, **options: Any) -> Self:
        """The position that a game starts from; `seed` chooses it where chance does. Options by
        keyword, as in `GameInfo.options`."""
        ...

    @classmethod
    def parse(cls, text: str, *args: Any, **options: Any) -> Self:
        """The position that `text` describes, in the form that `text()` writes. Raises
        TextError."""
        ...

    def text(self) -> str:
        """The position as text; `parse` gives it back."""
        ...

    @property
    def ply(self) -> int:
        """Plies played before this position, from 0."""
        ...

    @property
    def to_move(self) -> int:
        """The seat whose turn it is, from 0."""
        ...

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        ...

    def legal(self) -> list[Move]:
        """The legal moves in ascending order; empty when the game is over, [PASS] when the seat to
        move is stuck."""
        ...

    def pseudolegal(self) -> list[Move]:
        """What the pieces could do if the game went on; empty when stuck."""
        ...

    def play(self, move: Move) -> Self:
        """The position after `move`. Raises IllegalMoveError."""
        ...

    def lose_turn(self) -> Self:
        """The position after a turn that was lost to a foul: nothing moves. Raises RuleError where
        the rules know no such turn."""
        ...

    def scores(self) -> tuple[int | None, ...]:
        """The score of every seat by the present board; None for a seat where nobody plays."""
        ...

    def perft(self, depth: int) -> int:
        """Sequences of `depth` plies from here; a forced pass is a ply, a finished game has no
        moves."""
        ...


class ChancePosition(Position, Protocol):
    """A position of a game in which chance goes on after the start: after every ply it gives the
    seat that moved something, or nothing.

    A referee's position knows what chance will give; an agent's assumes it, and is told with `reveal`.
    Players do not look ahead.
    """

    @property
    def drawn(self) -> int | None:
        """What chance gave the seat that moved last (the game's RULES.md has the numbers), None
        where it gave nothing."""
        ...

    def reveal(self, drawn: int | None) -> Self:
        """The position in which chance gave this instead. Raises RuleError when it cannot have."""
        ...


class LineProtocol(Protocol):
    """The `protocol.py` of a game whose judge speaks lines: a module with these functions, which
    translate and nothing else.

    Lines are given and taken without their end. `seat` is the seat of the program that is spoken
    to, or that answers.
    """

    def format_message(self, message: Message, seat: int) -> str:
        """The line by which the judge says this."""
        ...

    def parse_message(self, line: str, seat: int) -> Message:
        """What the judge said; `seat` matters only to an Init. Raises TextError."""
        ...

    def check_ready(self, answer: str) -> None:
        """Whether a program is ready, by its answer to Ready. Raises TextError with the judge's
        code."""
        ...

    def format_answer(self, move: Move, seat: int) -> str:
        """The line by which a program plays a move."""
        ...

    def parse_answer(self, text: str, seat: int) -> Move:
        """The move that a program plays; whether it is legal is for the rules to say. Raises
        TextError with the judge's code."""
        ...

    def format_entry(self, entry: Entry) -> str | None:
        """The line of the judge's log that says this, None where its logs have no such line."""
        ...

    def parse_entry(self, line: str) -> Entry:
        """What a line of a log says. Raises TextError."""
        ...


def places(
    scores: Sequence[int | None], *, lower_wins: bool, out: Iterable[int] = ()
) -> list[int | None]:
    """The place of every seat, from 1; equal scores share it. Seats in `out` (disqualified) come
    last, None means an empty seat."""
    out = set(out)
    rank: dict[int, tuple[bool, int]] = {}
    for seat, score in enumerate(scores):
        if score is not None:
            rank[seat] = (seat in out, 0 if seat in out else score if lower_wins else -score)
    return [
        1 + sum(r < rank[seat] for r in rank.values()) if seat in rank else None
        for seat in range(len(scores))
    ]


def shares(place: Sequence[int | None]) -> list[float]:
    """What every seat wins: k seats on the first place get 1/k each."""
    first = sum(p == 1 for p in place)
    return [1 / first if p == 1 else 0.0 for p in place]
