"""Turns and the result of a match; both are also lines of JSON Lines logs."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import msgspec

from core.limits import SearchInfo
from core.rules import Move

Count = Annotated[int, msgspec.Meta(ge=0)]
Amount = Annotated[float, msgspec.Meta(ge=0, le=1e12)]


class Verdict(StrEnum):
    """Why a turn counted or was forfeited. Records have a sentence with it."""

    OK = "ok"
    """A legal move was played."""
    PASS = "pass"  # noqa: S105
    """No move was possible: the turn passed without asking the seat."""
    LATE = "late"
    """The time was up before the answer, or before the exit of a program that must exit."""
    MEMORY = "memory"
    """The program and its children together held more memory than allowed."""
    CRASHED = "crashed"
    """The program did not start, failed, or closed its output, without a legal move."""
    MISSING = "missing"
    """The program exited with status 0, but without an answer."""
    MALFORMED = "malformed"
    """The answer cannot be read as a move."""
    ILLEGAL = "illegal"
    """The answer is a move that the rules forbid."""
    RESIGNED = "resigned"
    """A human has resigned."""

    @property
    def lost(self) -> bool:
        """Return True if the player forfeited the turn."""
        return self not in ("ok", "pass")  # several times a ply: members cost more than texts


class Termination(StrEnum):
    """Why a game ended, in the terms of line-protocol judges."""

    SCORE = "score"
    """It was played to its end and has one winner."""
    DRAW = "draw"
    """It was played to its end, and the first place is shared."""
    TLE = "tle"
    """A player's time was up."""
    RE = "re"
    """A player did not start, died, closed its output, or gave an unreadable answer."""
    ILLEGAL = "illegal"
    """A player made a move that the rules forbid."""
    MEMORY = "memory"
    """A player and its children together held more memory than allowed."""

    @classmethod
    def of(cls, verdict: Verdict) -> Termination:
        """Return how a game ends that is lost by a forfeit with this verdict."""
        known = {Verdict.LATE: cls.TLE, Verdict.ILLEGAL: cls.ILLEGAL, Verdict.MEMORY: cls.MEMORY}
        return known.get(verdict, cls.RE)


class Turn(msgspec.Struct, frozen=True, tag="turn", forbid_unknown_fields=True, omit_defaults=True):
    """One turn of one seat. Empty seats and disqualified players have no turns.

    Attributes:
        ply: Ply, from 0.
        seat: Seat that moved.
        input: What the program was sent, by the file protocol.
        output: Beginning of the answer (`folder.ANSWER_LIMIT` bytes, one character for each byte);
            None if there was none.
        output_size: Size of the answer in bytes.
        verdict: The verdict.
        reason: A sentence about the verdict, or about a turn that counted.
        move: The move in absolute coordinates; None if the turn was forfeited.
        seconds: Wall clock from the question to the answer.
        megabytes: Peak of resident memory in units of 2**20 bytes, if it is known.
        exit: Exit status of a program that is started once per move, -n for signal n; None if it
            did not exit by itself.
        stderr: Beginning of that program's standard error.
        stderr_size: Size of its standard error in bytes.
        left_behind: Number of processes that it left running.
        drawn: What chance gave the seat after its move.
        ms: Milliseconds charged to a clock for the whole game.
        code: What the game's judge calls the forfeit.
        overloaded: True if an overloaded machine is to blame for a time-out, at least in part.
        said: (seat, line) of what persistent programs have written to standard error since the
            previous turn.
        info: What the player reported of its search.
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
    """The exit of a persistent program.

    Attributes:
        exit: Exit status, -n for signal n; None if the judge killed it.
        asked: True if it did not exit by itself and was sent SIGTERM.
        left_behind: Number of other processes that were alive; they were killed.
        seconds: Processor time of all its processes together.
        megabytes: Highest sampled resident memory of all its processes together, in units of 2**20
            bytes.
    """

    exit: int | None
    asked: bool
    left_behind: int
    seconds: float
    megabytes: float


class Result(
    msgspec.Struct, frozen=True, tag="result", forbid_unknown_fields=True, omit_defaults=True
):
    """The end of a game. Tuples have an item for each seat. An empty seat has None in `scores`,
    `places` and `exits`, and 0 in `shares` and `lost`.

    Attributes:
        plies: Plies of the game, turns without a record included.
        scores: Scores, as the game counts them.
        places: Places from 1; equal scores share one.
        shares: Win shares; they add up to 1.
        lost: Number of turns that each seat has forfeited.
        disqualified: Seats that are disqualified.
        termination: Why the game ended.
        reason: The same in one sentence.
        offender: Seat whose forfeit ended the game; None if none did.
        code: What the judge calls that forfeit.
        overloaded: True if it is a time-out for which an overloaded machine is to blame, at least
            in part. It counts nevertheless.
        notes: Other irregularities, a sentence each.
        exits: Exits of persistent programs.
        said: (seat, line) of what they wrote to standard error after the last turn.
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
        """The seat that has won alone; None after a draw."""
        return self.places.index(1) if self.places.count(1) == 1 else None


UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Exceptions of msgspec for invalid data."""


def encode(value: object) -> Any:
    """Convert a SearchInfo for msgspec: `enc_hook`."""
    if isinstance(value, SearchInfo):
        return [value.move, value.score, value.depth, value.nodes, value.seconds, value.pv]
    raise NotImplementedError(type(value))


def decode(kind: type, value: Any) -> Any:
    """Reverse `encode`: `dec_hook`. Raises ValueError."""
    if kind is not SearchInfo:
        raise NotImplementedError(kind)
    move, score, depth, nodes, seconds, pv = value
    line = tuple(tuple(map(int, part)) for part in pv)
    return SearchInfo(
        tuple(map(int, move)), int(score), int(depth), int(nodes), float(seconds), line
    )
