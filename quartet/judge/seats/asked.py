"""Puts a player before a position of a logged game.

A program that lives for the game, with a judge that has no words for a position, comes to one by
the moves that led there, and its own moves are its own. So it plays the game of the log from its
start, with the log's opponent, draws and clocks, and must find the log's moves for its seat by
itself. Where it plays something else, it can be told no further.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors import QuartetError
from quartet.judge.seats.seat import Answer, Seat

if TYPE_CHECKING:
    from core.rules import Position
    from quartet.judge.match import Match
    from quartet.judge.seats.logged import Tape
    from quartet.judge.turn import ExitReport, Turn


class AskedError(QuartetError):
    """The player has answered, and the match goes no further.

    Attributes:
        answer: Answer; of the player. logged: Answer | None; of the log, None where it ends.
        arrived: bool; whether the position is the one that was asked about; otherwise the player
            has left the log there.
    """

    def __init__(self, answer: Answer, logged: Answer | None, *, arrived: bool) -> None:
        super().__init__("the player has answered")
        self.answer, self.logged, self.arrived = answer, logged, arrived


class AskedSeat(Seat):
    """A player on the seat of a log that moves at the ply that it is asked about."""

    def __init__(self, player: Seat, tape: Tape, ply: int, *, follows: bool) -> None:
        """Make the seat.

        Args:
            player: Seat; who is asked.
            tape: Tape; the log.
            ply: int; the position.
            follows: bool; whether the player must play its way there.
        """
        super().__init__()
        self._player, self._tape, self._ply, self._follows = player, tape, ply, follows

    def open(self, match: Match, seat: int) -> None:
        self._player.open(match, seat)

    def begin(self, match: Match) -> None:
        self._player.begin(match)

    def ask(self, match: Match) -> Answer:
        """The log's answer on the way. Raises AskedError at the position, or where they part."""
        arrived = match.position.ply == self._ply
        asked = arrived or self._follows
        answer = self._player.ask(match) if asked else Answer()
        try:
            logged: Answer | None = self._tape.answer(match)
        except QuartetError:
            logged = None
        if arrived or logged is None or (asked and not self._same(match, answer, logged)):
            raise AskedError(answer, logged, arrived=arrived)
        return logged

    def heard(self, match: Match, turn: Turn, before: Position) -> None:
        self._player.heard(match, turn, before)

    def said(self) -> list[str]:
        return self._player.said()

    def end(self, *, at_once: bool) -> ExitReport | None:
        return self._player.end(at_once=at_once)

    def close(self) -> None:
        self._player.close()

    @staticmethod
    def _same(match: Match, answer: Answer, logged: Answer) -> bool:
        """Whether two answers come to the same; what chance gives is no part of a move."""
        one, other = (match.read(found, match.position) for found in (answer, logged))
        return one[2] is not None and (one[2] == other[2] or one[3] == other[3])
