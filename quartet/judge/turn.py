"""What a match yields: turns, and in the end a result. Both are lines of our logs, too."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import msgspec

from core.limits import SearchInfo
from core.rules import Move

Count = Annotated[int, msgspec.Meta(ge=0)]
Amount = Annotated[float, msgspec.Meta(ge=0)]


class Verdict(StrEnum):
    """Why a turn counted or was lost; a sentence for people goes with it wherever it is
    recorded."""

    OK = "ok"
    """A legal move was played."""
    PASS = "pass"  # noqa: S105
    """No move was possible: the turn passed by itself and nobody was asked."""
    LATE = "late"
    """The time was up before an answer, or before the program had ended where it must."""
    MEMORY = "memory"
    """The program and its children together held more memory than allowed."""
    CRASHED = "crashed"
    """The program could not be started, or failed, or closed its output, without a legal move."""
    MISSING = "missing"
    """The program ended well, but left no answer."""
    MALFORMED = "malformed"
    """The answer cannot be read as a move."""
    ILLEGAL = "illegal"
    """The answer is a move that the rules forbid."""
    RESIGNED = "resigned"
    """A person has given the game up."""

    @property
    def lost(self) -> bool:
        """Whether the player forfeited the turn."""
        return self not in ("ok", "pass")  # several times a ply: members cost more than texts


class Termination(StrEnum):
    """Why a game ended, in the words of the judges that speak lines."""

    SCORE = "score"
    """It was played to its end, and somebody has won alone."""
    DRAW = "draw"
    """It was played to its end, and the first place is shared."""
    TLE = "tle"
    """A player's time was up."""
    RE = "re"
    """A player could not be started, has died, closed its output, or gave no answer that can be
    read."""
    ILLEGAL = "illegal"
    """A player made a move that the rules forbid."""
    MEMORY = "memory"
    """A player and its children together held more memory than allowed."""

    @classmethod
    def of(cls, verdict: Verdict) -> Termination:
        """How a game ends that is lost by this foul."""
        known = {Verdict.LATE: cls.TLE, Verdict.ILLEGAL: cls.ILLEGAL, Verdict.MEMORY: cls.MEMORY}
        return known.get(verdict, cls.RE)


class Turn(msgspec.Struct, frozen=True, tag="turn", forbid_unknown_fields=True, omit_defaults=True):
    """One turn of one seat. Turns of empty seats and of disqualified players leave none.

    Attributes:
        ply: int, from 0.
        seat: int, whose turn it was.
        input: str; what the program was sent, where the judge exchanges files.
        output: str | None; the beginning of the answer (`folder.ANSWER_LIMIT` bytes, one character
            for each byte), None where there was none.
        output_size: int; true size of the answer in bytes.
        verdict: Verdict.
        reason: str; why, in one sentence; it may also remark on a turn that counted.
        move: Move | None; in absolute coordinates, None where the turn was lost.
        seconds: float; wall clock from the question to the answer.
        megabytes: float; peak of resident memory in units of 2**20 bytes, where it is known.
        exit: int | None; exit status of a program that is started for every move, -n for signal n,
            None where it did not end by itself.
        stderr: str; the beginning of that program's standard error; stderr_size: int, all bytes.
        left_behind: int; processes that it left running.
        drawn: int | None; what chance gave the seat after its move.
        ms: int; what the turn took from a clock that is for the whole game, in milliseconds.
        code: str; what the game's judge calls the foul.
        overloaded: bool; whether the machine is to blame for a time-out, at least in part.
        said: tuple; (seat, line) of what living programs have written to standard error since the
            turn before.
        info: SearchInfo | None; what the player told of its search.
    """

    ply: Count
    seat: Count
    input: str = ""
    output: str | None = None
    output_size: Count = 0
    verdict: Verdict = Verdict.OK
    reason: str = ""
    move: Move | None = None
    seconds: Amount = 0.0
    megabytes: Amount = 0.0
    exit: int | None = None
    stderr: str = ""
    stderr_size: Count = 0
    left_behind: Count = 0
    drawn: int | None = None
    ms: Count = 0
    code: str = ""
    overloaded: bool = False
    said: tuple[tuple[int, str], ...] = ()
    info: SearchInfo | None = None


class ExitReport(msgspec.Struct, frozen=True):
    """What became of a program that lived for a whole game.

    Attributes:
        exit: int | None; exit status, -n for signal n, None where we killed it.
        asked: bool; whether it did not end by itself and had to be asked to.
        left_behind: int; other processes that were still alive; they were killed.
        seconds: float; processor time of all its processes together.
        megabytes: float; the largest resident memory of all its processes together that was seen,
            in units of 2**20 bytes.
    """

    exit: int | None
    asked: bool
    left_behind: int
    seconds: float
    megabytes: float


class Result(
    msgspec.Struct, frozen=True, tag="result", forbid_unknown_fields=True, omit_defaults=True
):
    """How a game ended; for every seat, with None where nobody sits.

    Attributes:
        plies: int; of the game, turns without a record included.
        scores: tuple[int | None, ...]; as the game counts them.
        places: tuple[int | None, ...]; from 1, shared by equals.
        shares: tuple[float, ...]; of the win, they add up to 1.
        lost: tuple[int, ...]; turns that each seat has lost.
        disqualified: tuple[int, ...]; seats that are out.
        termination: Termination.
        reason: str; why the game ended, in one sentence.
        offender: int | None; the seat whose foul ended the game; code: str, what the judge calls
            it.
        overloaded: bool; whether the foul is a time-out for which the machine is to blame, at least
            in part. It counts all the same.
        notes: tuple[str, ...]; what else was not as it should be.
        exits: tuple[ExitReport | None, ...]; what became of programs that lived for the game.
        said: tuple; (seat, line) of what they wrote to standard error after the last turn.
    """

    plies: Count
    scores: tuple[int | None, ...]
    places: tuple[int | None, ...]
    shares: tuple[float, ...]
    lost: tuple[int, ...]
    disqualified: tuple[int, ...]
    termination: Termination = Termination.SCORE
    reason: str = ""
    offender: int | None = None
    code: str = ""
    overloaded: bool = False
    notes: tuple[str, ...] = ()
    exits: tuple[ExitReport | None, ...] = ()
    said: tuple[tuple[int, str], ...] = ()

    @property
    def winner(self) -> int | None:
        """The seat that has won alone, or None."""
        return self.places.index(1) if self.places.count(1) == 1 else None


UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What msgspec raises where data is not what it should be."""


def encode(value: object) -> Any:
    """What msgspec does not know, as what it does: for `enc_hook`."""
    if isinstance(value, SearchInfo):
        return [value.move, value.score, value.depth, value.nodes, value.seconds, value.pv]
    raise NotImplementedError(type(value))


def decode(kind: type, value: Any) -> Any:
    """The reverse of `encode`: for `dec_hook`. Raises ValueError."""
    if kind is not SearchInfo:
        raise NotImplementedError(kind)
    move, score, depth, nodes, seconds, pv = value
    line = tuple(tuple(map(int, part)) for part in pv)
    return SearchInfo(
        tuple(map(int, move)), int(score), int(depth), int(nodes), float(seconds), line
    )
