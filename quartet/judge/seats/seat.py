"""The contract of a seat: how a match speaks with whoever sits there. Transport is the seat's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import msgspec

from core.errors import QuartetError
from core.limits import SearchInfo
from quartet.judge.turn import Verdict

if TYPE_CHECKING:
    from types import TracebackType

    from core.rules import Move, Position
    from quartet.judge.match import Match
    from quartet.judge.turn import ExitReport, Turn


class Answer(msgspec.Struct, frozen=True):
    """What a seat answers to a position, before anybody has judged it.

    Attributes:
        text: str | None; in the words of the game's judge, None where there is none.
        move: Move | None; instead of a text, by who sits in this process.
        verdict: Verdict; a foul whatever the text says, else OK. reason: str; why.
        died: str; how a program ended that has failed, in words; it counts where no legal move
            came.
        code: str; what the game's judge calls such a foul.
        overloaded: bool; whether the machine is to blame for a time-out, at least in part.
        seconds: float; wall clock. ms: int | None; what to take from a clock for the whole game, in
            milliseconds, None for all of it, a begun one counting.
        drawn: int | None; what chance gave after this move, where `reveals`; else the rules say it.
        output, output_size, megabytes, exit, stderr, stderr_size, left_behind, info: as in Turn.
    """

    text: str | None = None
    move: Move | None = None
    verdict: Verdict = Verdict.OK
    reason: str = ""
    died: str = ""
    code: str = ""
    overloaded: bool = False
    seconds: float = 0.0
    ms: int | None = None
    reveals: bool = False
    drawn: int | None = None
    output: str | None = None
    output_size: int = 0
    megabytes: float = 0.0
    exit: int | None = None
    stderr: str = ""
    stderr_size: int = 0
    left_behind: int = 0
    info: SearchInfo | None = None


MOST_TOLD = 10**12
"""No number is greater that a program tells of one search."""


def read_info(said: str) -> SearchInfo | None:
    """What a program has told of its search: the last line of `SearchInfo.text` in what it said.

    The move is not in it; it is empty. None where there is no such line, or a number in it is beyond
    all reason: records and sums must be able to hold them.
    """
    for line in reversed(said.splitlines()):
        words = line.split()
        if words[:1] == ["info"] and words[1::2][:3] == ["depth", "nodes", "seconds"]:
            told = dict(zip(words[1::2], words[2::2], strict=False))
            try:
                score, depth, nodes = (
                    int(told.get(name, 0)) for name in ("score", "depth", "nodes")
                )
                seconds = float(told["seconds"])
            except (ValueError, LookupError):
                return None
            if 0 <= seconds <= MOST_TOLD and max(abs(score), abs(depth), abs(nodes)) <= MOST_TOLD:
                return SearchInfo((), score, depth, nodes, seconds)
            return None
    return None


class NotReadyError(QuartetError):
    """Who sits there cannot begin: a foul before the first turn.

    Attributes:
        verdict: Verdict; code: str; overloaded: bool; as in Answer.
    """

    def __init__(
        self, verdict: Verdict, reason: str, code: str, *, overloaded: bool = False
    ) -> None:
        super().__init__(reason, code)
        self.verdict = verdict
        self.overloaded = overloaded


class TakeBackError(Exception):
    """Who was asked wants the last moves back instead."""


class ResignError(Exception):
    """Who was asked gives the game up instead."""


class Seat:
    """Who plays for one seat of one match. What has nothing to do here need not be overridden.

    Attributes:
        can_take_back: bool; whether turns can be taken back with it.
        clocked: bool; whether its clock runs.
        built_in: bool; whether it is one of our players, which may share an engine.
        notes: list[str]; what is not as it should be, each said of the seat.
    """

    can_take_back = False
    clocked = True
    built_in = False

    def __init__(self) -> None:
        self.notes: list[str] = []

    def open(self, match: Match, seat: int) -> None:
        """The game begins, and this is your seat. Raises NotReadyError."""

    def begin(self, match: Match) -> None:
        """Everybody is ready."""

    def ask(self, match: Match) -> Answer:
        """What the seat to move, which is this one, answers to `match.position`.

        Raises:
            TakeBackError: turns are to be taken back instead.
            KeyboardInterrupt: a person leaves the game.
        """
        raise NotImplementedError

    def heard(self, match: Match, turn: Turn, before: Position) -> None:
        """Somebody, or this seat, has taken a turn; `before` is the position in which it did."""

    def taken_back(self, match: Match) -> None:
        """Turns were taken back; `match.position` is the one that the game goes on from."""

    def loaded(self) -> frozenset[str]:
        """Files of engines that the seat's program has loaded, where that can be known."""
        return frozenset()

    def said(self) -> list[str]:
        """Lines of standard error that have come since the last call."""
        return []

    def dismiss(self, match: Match) -> None:
        """The game is over. Others are told as well before anybody is waited for."""

    def end(self, *, at_once: bool) -> ExitReport | None:
        """What became of the seat's program after the game; `at_once` it is killed."""
        del at_once
        return None

    def close(self) -> None:
        """Nobody needs the seat any more, whatever has happened. May be called again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
