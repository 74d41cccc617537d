"""A seat whose answers a log tells: so a log is checked by the code that judges a game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from quartet.judge.seats.seat import Seat

if TYPE_CHECKING:
    from quartet.judge.match import Match
    from quartet.judge.seats.seat import Answer


class Tape(Protocol):
    """The turns of a log, one after the other; all seats of a match share it."""

    def open(self, match: Match, seat: int) -> None:
        """The game begins. Raises NotReadyError where it was over for the seat before that."""
        ...

    def answer(self, match: Match) -> Answer:
        """What the seat to move has answered, by the log.

        Raises:
            DisagreementError: the log has no turn that fits.
        """
        ...


class LoggedSeat(Seat):
    """Who played this seat in the game of the log."""

    can_take_back = True

    def __init__(self, tape: Tape) -> None:
        super().__init__()
        self._tape = tape

    def open(self, match: Match, seat: int) -> None:
        """As the log says."""
        self._tape.open(match, seat)

    def ask(self, match: Match) -> Answer:
        """What the log says."""
        return self._tape.answer(match)
