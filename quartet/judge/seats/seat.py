"""The contract of a seat: how a match communicates with the player there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import msgspec

from core.errors import QuartetError
from core.limits import SearchInfo
from core.rules import Move, Position
from quartet.judge.turn import ExitReport, Turn, Verdict

if TYPE_CHECKING:
    from quartet.judge.match import Match


class Answer(msgspec.Struct, frozen=True):
    """A seat's answer to a position, before it is judged.

    Attributes:
        text: The answer in the judge's notation; None if there is none.
        move: The move, instead of a text, from a player in this process.
        verdict: The reason of a forfeit whatever the text is; else OK.
        reason: A sentence about the verdict.
        died: How a failed program ended; it matters if there is no legal move.
        code: What the game's judge calls the forfeit.
        overloaded: True if an overloaded machine is to blame for a time-out, at least in part.
        seconds: Wall clock.
        ms: Milliseconds to charge to a clock for the whole game; None for `seconds`, rounded up.
        reveals: True if `drawn` says what chance gave after this move; else the rules say it.
        drawn: What chance gave.

    The other attributes are as in Turn.
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


MAX_INFO = 10**12
"""Largest number that a program may report about a search."""
MIN_INFO_SECONDS = 1e-6
"""Shortest time, other than 0, that a program may report about a search."""


def read_info(said: str) -> SearchInfo | None:
    """Return what a program's standard error reports of its search, with an empty move.

    It is the last line in the form of `SearchInfo.text`. Return None if there is none, or if a
    number is too large for records, sums and speeds, or its time too short.
    """
    for line in reversed(said.splitlines()):
        words = line.split()
        if words[:1] == ["info"] and words[1::2][:3] == ["depth", "nodes", "seconds"]:
            info = dict(zip(words[1::2], words[2::2], strict=False))
            try:
                score, depth, nodes = (
                    int(info.get(name, 0)) for name in ("score", "depth", "nodes")
                )
                seconds = float(info["seconds"])
            except (ValueError, LookupError):
                return None
            is_time = seconds == 0 or MIN_INFO_SECONDS <= seconds <= MAX_INFO
            if is_time and max(abs(score), abs(depth), abs(nodes)) <= MAX_INFO:
                return SearchInfo((), score, depth, nodes, seconds)
            return None
    return None


class NotReadyError(QuartetError):
    """A player cannot begin: a forfeit before the first turn.

    Attributes:
        verdict, code, overloaded: As in Answer.
    """

    def __init__(
        self, verdict: Verdict, reason: str, code: str, *, overloaded: bool = False
    ) -> None:
        super().__init__(reason, code)
        self.verdict = verdict
        self.overloaded = overloaded


class ForfeitError(QuartetError):
    """A seat that is not to move has forfeited the game; only logs say so.

    Attributes:
        turn: The forfeit. It is no turn of the game.
    """

    def __init__(self, turn: Turn) -> None:
        super().__init__(turn.reason)
        self.turn = turn


class TakeBackError(Exception):
    """The player wants to take back moves instead."""


class ResignError(Exception):
    """The player resigns instead."""


class Seat:
    """The player on one seat of one match. Methods without a task need not be overridden.

    Attributes:
        can_take_back: True if turns can be taken back.
        clocked: True if its clock runs.
        human: True for a human, who can take back turns of all humans.
        built_in: True for a player of this checkout, which may share an engine with another seat.
        notes: Irregularities, each the rest of a sentence about the seat.
    """

    can_take_back = False
    clocked = True
    human = False
    built_in = False

    def __init__(self) -> None:
        self.notes: list[str] = []

    def open(self, match: Match, seat: int) -> None:
        """Prepare for a game on this seat. Raises NotReadyError."""

    def begin(self, match: Match) -> None:
        """Begin the game: all seats are ready."""

    def ask(self, match: Match) -> Answer:
        """Return the answer to `match.position`, in which this seat is to move.

        Raises:
            TakeBackError: Turns are to be taken back instead.
            ForfeitError: Another seat has forfeited the game.
            KeyboardInterrupt: A human leaves the game.
        """
        raise NotImplementedError

    def again(self, match: Match, turn: Turn) -> None:
        """Take a recorded turn of this seat again, in a game that is resumed.

        Raises:
            QuartetError: The player cannot.
        """

    def heard(self, match: Match, turn: Turn, before: Position) -> None:
        """Note a turn of any seat, taken in the position `before`."""

    def taken_back(self, match: Match) -> None:
        """Note that turns were taken back; the game continues from `match.position`."""

    def loaded(self) -> frozenset[str]:
        """Return the engine files that the seat's program has loaded, as far as that is known."""
        return frozenset()

    def said(self) -> list[str]:
        """Return the lines of standard error since the last call."""
        return []

    def dismiss(self, match: Match) -> None:
        """Tell the player that the game has ended, without waiting for its exit."""

    def end(self, *, at_once: bool) -> ExitReport | None:
        """End the seat's program, and report its exit; kill it if `at_once`."""
        del at_once
        return None

    def close(self) -> None:
        """Release the seat, whatever has happened. May be called again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
