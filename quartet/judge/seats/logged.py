"""Seats of a logged game: the players of the log, and one that is asked at a position of it.

The code that judges games so checks logs. A persistent program whose judge has no message for a
position reaches one only by the moves that led there, its own included. It therefore plays the
log's game from its start, with the log's opponent, draws and clocks, and must find the log's moves
for its seat by itself. If it plays another move, the question ends there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors import QuartetError
from core.rules import Position
from quartet.judge.judging import judge_answer
from quartet.judge.match import Match
from quartet.judge.seats.seat import Answer, Seat
from quartet.judge.turn import ExitReport, Turn

if TYPE_CHECKING:
    from quartet.judge.logs.replays import LogReplay


class LoggedSeat(Seat):
    """A seat that answers as the log says."""

    can_take_back = True

    def __init__(self, replay: LogReplay) -> None:
        super().__init__()
        self._replay = replay

    def open(self, match: Match, seat: int) -> None:
        self._replay.open(match, seat)

    def ask(self, match: Match) -> Answer:
        return self._replay.answer(match)


class AskedError(QuartetError):
    """The player has answered; the match ends here.

    Attributes:
        answer: The player's answer.
        logged: The log's answer, None if the log ends here.
        arrived: True if this is the position that was asked about. Otherwise the player has left
            the log here.
    """

    def __init__(self, answer: Answer, logged: Answer | None, *, arrived: bool) -> None:
        super().__init__("the player has answered")
        self.answer, self.logged, self.arrived = answer, logged, arrived


class AskedSeat(Seat):
    """A player on the seat that is to move at the ply in question."""

    def __init__(self, player: Seat, replay: LogReplay, ply: int, *, follows: bool) -> None:
        """Make the seat.

        Args:
            player: The player.
            replay: The log.
            ply: The position to ask about.
            follows: True if the player must play its way there.
        """
        super().__init__()
        self._player, self._replay, self._ply, self._follows = player, replay, ply, follows

    def open(self, match: Match, seat: int) -> None:
        self._player.open(match, seat)

    def begin(self, match: Match) -> None:
        self._player.begin(match)

    def ask(self, match: Match) -> Answer:
        """Return the log's answer before the position in question.

        Raises:
            AskedError: This is the position, or the player's answer differs from the log's.
        """
        arrived = match.position.ply == self._ply
        asked = arrived or self._follows
        answer = self._player.ask(match) if asked else Answer()
        try:
            logged: Answer | None = self._replay.answer(match)
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
        """Return True if two answers lead to the same position, apart from what chance gives."""
        one, other = (judge_answer(match.game, found, match.position) for found in (answer, logged))
        return one.move is not None and (one.move == other.move or one.after == other.after)
