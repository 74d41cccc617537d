"""A seat of a human, who chooses moves at the terminal or on the page."""

from __future__ import annotations

import time
from collections.abc import Callable

from core.rules import Move
from quartet.judge.judging import LATE_CODE, RESIGNED_CODE
from quartet.judge.match import Match
from quartet.judge.seats.seat import Answer, ResignError, Seat
from quartet.judge.turn import Verdict


class PersonSeat(Seat):
    """A human. No clock runs by default."""

    can_take_back = human = True

    def __init__(self, choose: Callable[[Match], Move], *, clocked: bool = False) -> None:
        """Make the seat.

        Args:
            choose: Returns a move in `match.position`. It may raise TakeBackError, ResignError,
                TimeoutError when the time is up, and KeyboardInterrupt when the human leaves.
            clocked: True if the clock runs; then the human can lose on time as a program does.
        """
        super().__init__()
        self._choose = choose
        self.clocked = clocked
        self._resigned = False

    def ask(self, match: Match) -> Answer:
        """Return the human's move, without asking if they have resigned."""
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
            return Answer(verdict=Verdict.RESIGNED, reason="resigned", code=RESIGNED_CODE)
        if move is None or (self.clocked and seconds > match.clocks[seat] / 1000):
            reason = f"gave no answer at ply {match.position.ply} within {match.clocks[seat]} ms"
            return Answer(verdict=Verdict.LATE, reason=reason, code=LATE_CODE, seconds=seconds)
        text = match.game.protocol.format_answer(move, seat)
        return Answer(text=text, output=text, output_size=len(text), seconds=seconds)

    def taken_back(self, match: Match) -> None:
        """Cancel a resignation."""
        del match
        self._resigned = False
