"""A person in a seat, at whatever screen: the terminal or the page says what was chosen."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from quartet.judge.seats.seat import Answer, ResignError, Seat
from quartet.judge.turn import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.rules import Move
    from quartet.judge.match import Match


class PersonSeat(Seat):
    """A person. No clock runs unless it is asked for."""

    can_take_back = True

    def __init__(self, choose: Callable[[Match], Move], *, clocked: bool = False) -> None:
        """Seat a person.

        Args:
            choose: asks for a move of `match.position`; it may raise TakeBackError, ResignError,
                TimeoutError where the clock is up, and KeyboardInterrupt where the person leaves.
            clocked: bool; whether the person's clock runs; who is late loses as a program does.
        """
        super().__init__()
        self._choose = choose
        self.clocked = clocked
        self._resigned = False

    def ask(self, match: Match) -> Answer:
        """The move that the person chooses; who has resigned is not asked again."""
        seat = match.position.to_move
        started = time.perf_counter()
        move: Move | None = None
        try:
            if not self._resigned:
                move = self._choose(match)
        except ResignError:
            self._resigned = True
        except TimeoutError:
            pass
        seconds = time.perf_counter() - started
        if self._resigned:
            return Answer(verdict=Verdict.RESIGNED, reason="resigned", code="resigned")
        if move is None or (self.clocked and seconds > match.clocks[seat] / 1000):
            reason = f"gave no answer at ply {match.position.ply} within {match.clocks[seat]} ms"
            return Answer(verdict=Verdict.LATE, reason=reason, code="TLE", seconds=seconds)
        text = match.game.protocol.format_answer(move, seat)
        return Answer(text=text, output=text, output_size=len(text), seconds=seconds)

    def taken_back(self, match: Match) -> None:
        """The game goes on."""
        del match
        self._resigned = False
