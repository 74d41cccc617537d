"""Contracts between a game and the toolkit: its data sheet, its positions, its line protocol.

Reference rules and fast rules offer the same positions. Agents never import this module: it would
cost milliseconds of their start-up. Referees, tests and tools do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from core.messages import Entry, Message

Move = tuple[int, ...]
"""A move in absolute coordinates. The game's RULES.md defines the numbers; every game names its
PASS."""


@dataclass(frozen=True)
class FileExchange:
    """The limits of a judge that starts one process per move and exchanges two files with it.

    Attributes:
        input: Name of the file that the judge writes into the program's folder.
        output: Name of the file that it reads there.
        seconds: Wall-clock time per move, from the start of the process to its exit.
        megabytes: Limit of the resident memory of the whole process tree.
        search_ms: Default clock of in-process games in milliseconds: about what `seconds` leave to
            the search of a cautious program. None: no default.
    """

    input: str
    output: str
    seconds: float
    megabytes: int
    search_ms: int | None = None


@dataclass(frozen=True)
class LineJudge:
    """The limits of a judge that speaks lines with a persistent process; see `LineProtocol`.

    The judge sends, in this order:

    1. Ready;
    2. Init with the start position, if `init`;
    3. until the game ends: YourTurn to the seat to move, Drew to the same seat after its answer
       (games with chance), Opponent to the other seat;
    4. Finish to both.

    Attributes:
        ready_ms: Milliseconds until the answer to Ready is due.
        clock_ms: Milliseconds for all moves of a game together. The judges of NYPC count processor
            time; `quartet.judge.table.TableRules.cpu` chooses.
        init: True if the judge describes the start position; False if all games start alike.
        megabytes: Memory limit of the program. None: the judge has no limit.
    """

    ready_ms: int = 3000
    clock_ms: int = 10000
    init: bool = True
    megabytes: int | None = None


@dataclass(frozen=True)
class RuleOption:
    """A variant of the rules: a keyword of `Position.start`, and of `Position.parse` unless
    `of_start`.

    Attributes:
        default: Its value in the judge's own game; also gives its type.
        help: Effect and unit, in one line.
        of_start: True if it only chooses the start position.
        least: Least value with which a game has a move.
    """

    default: int | bool
    help: str
    of_start: bool = False
    least: int = 0


@dataclass(frozen=True)
class GameInfo:
    """A game's data sheet: all that tools need before they load its rules.

    Attributes:
        name: Name in the registry.
        title: Name for humans.
        players: Number of seats.
        lower_wins: True if the lowest score wins (a penalty), False if the highest.
        score_name: Unit of `Position.scores`, in one word.
        exchange: Limits of the file protocol. None: the judge speaks lines.
        lines: Limits of the line protocol. None: the judge exchanges files.
        options: Variants of the rules, by keyword.
        adapters: Prefix -> module, for line-protocol games. A player PREFIX:COMMAND is played by
            `python -m MODULE COMMAND`, which translates between the judge and a foreign program.

    Optional abilities. Tools read these fields and never look for methods:
        chance: Positions are `ChancePosition`.
        empty_seats: Reference positions are `EmptySeatsPosition`.
        move_aliases: Positions are `AliasedPosition`.
        lenses: Names of the overlays that `scene.lenses` returns (`core.scene.SceneModule`).
    """

    name: str
    title: str
    players: int
    chance: bool
    lower_wins: bool
    score_name: str
    exchange: FileExchange | None = None
    lines: LineJudge | None = None
    options: Mapping[str, RuleOption] = field(default_factory=dict)
    adapters: Mapping[str, str] = field(default_factory=dict)
    empty_seats: bool = False
    move_aliases: bool = False
    lenses: tuple[str, ...] = ()


class Position(Protocol):
    """An immutable position: `play` returns a new one.

    `legal` knows that the game may be over, `pseudolegal` does not. While the game is running, a
    seat without a move has exactly one legal move, the game's PASS.

    Fast positions have two more members:

        key                 a hash of 64 bits: equal for positions of equal text, and changed by
                            every move and forfeited turn; `play` updates it
        recomputed_key()    the same hash, computed from scratch, for the tests
    """

    @classmethod
    def start(cls, seed: int = 0, *args: Any, **options: Any) -> Self:
        """Return a start position.

        Args:
            seed: Chooses the position, if chance does.
            options: Variants, as in `GameInfo.options`.
        """
        ...

    @classmethod
    def parse(cls, text: str, *args: Any, **options: Any) -> Self:
        """Return the position that `text` describes, in the form of `text()`. Raises TextError."""
        ...

    def text(self) -> str:
        """Return the position as text, for `parse`."""
        ...

    @property
    def ply(self) -> int:
        """Number of plies played before this position, from 0."""
        ...

    @property
    def to_move(self) -> int:
        """The seat to move, from 0."""
        ...

    @property
    def over(self) -> bool:
        """True if the game has ended."""
        ...

    def legal(self) -> list[Move]:
        """Return the legal moves in ascending order: [] if the game is over, [PASS] if the seat to
        move has no other move."""
        ...

    def pseudolegal(self) -> list[Move]:
        """Return the moves of the pieces as if the game were not over; [] if there are none."""
        ...

    def play(self, move: Move) -> Self:
        """Return the position after `move`. Raises IllegalMoveError."""
        ...

    def lose_turn(self) -> Self:
        """Return the position after a forfeited turn: no piece moves. Raises RuleError if the rules
        have no such turn."""
        ...

    def scores(self) -> tuple[int | None, ...]:
        """Return each seat's score on the present board; None for an empty seat."""
        ...

    def perft(self, depth: int) -> int:
        """Return the number of sequences of `depth` plies from here. A forced pass is a ply; a
        finished game has no moves."""
        ...


class ChancePosition(Position, Protocol):
    """A position of a game in which the mover draws something, or nothing, after each ply.

    A referee's position knows the draws to come. An agent's position assumes them, and `reveal`
    corrects it. Players never use the assumed draws.
    """

    @property
    def drawn(self) -> int | None:
        """What the seat that moved last has drawn, as a number of the game's RULES.md; None if
        nothing."""
        ...

    @property
    def bags(self) -> tuple[tuple[int, ...], ...]:
        """What each seat can still draw, in ascending order. All items are equally likely, and all
        players know the bags. An empty bag gives nothing."""
        ...

    def reveal(self, drawn: int | None) -> Self:
        """Return the position in which the last mover drew `drawn`. Raises RuleError if that is
        impossible."""
        ...


class EmptySeatsPosition(Position, Protocol):
    """A reference position of a game whose seats may stay empty (`GameInfo.empty_seats`)."""

    def without(self, seat: int) -> Self:
        """Return the position with no player on `seat` and its pieces off the board."""
        ...


class AliasedPosition(Position, Protocol):
    """A position of a game in which several moves can have the same effect
    (`GameInfo.move_aliases`). `legal` lists one of them; `play` accepts all."""

    def canonical(self, move: Move) -> Move:
        """Return the move that `legal` lists for `move`; any other move unchanged."""
        ...


class LineProtocol(Protocol):
    """The `protocol.py` of a line-protocol game: a module of these functions, which only translate.

    Lines have no line end. `seat` is the seat of the program that is addressed or that answers. If
    the judge exchanges files (`FileExchange`), only `format_answer` and `parse_answer` are needed;
    they write and read the whole output file, and the input file is `Position.text`.
    """

    def format_message(self, message: Message, seat: int) -> str:
        """Return the judge's line for a message."""
        ...

    def parse_message(self, line: str, seat: int) -> Message:
        """Return the message of a judge's line; only Init depends on `seat`. Raises TextError."""
        ...

    def check_ready(self, answer: str) -> None:
        """Check a program's answer to Ready. Raises TextError with the judge's code."""
        ...

    def format_answer(self, move: Move, seat: int) -> str:
        """Return a program's line for a move."""
        ...

    def parse_answer(self, text: str, seat: int) -> Move:
        """Return the move of a program's line, legal or not. Raises TextError with the judge's
        code."""
        ...

    def format_entry(self, entry: Entry) -> str | None:
        """Return the line of the judge's log for an entry; None if its logs have no such line."""
        ...

    def parse_entry(self, line: str) -> Entry:
        """Return the entry of a log's line. Raises TextError."""
        ...


def places(
    scores: Sequence[int | None], *, lower_wins: bool, out: Iterable[int] = ()
) -> list[int | None]:
    """Return each seat's place, from 1; equal scores share a place.

    Args:
        scores: Score of each seat, None for an empty one.
        lower_wins: True if the lowest score wins.
        out: Disqualified seats; they share the last place.

    Returns:
        Places; None for an empty seat.
    """
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
    """Return each seat's win share: k seats in first place get 1/k each."""
    first = sum(p == 1 for p in place)
    return [1 / first if p == 1 else 0.0 for p in place]
