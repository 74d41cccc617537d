"""The state of a game while its turns come: position, clocks and forfeits.

`Match` is one. The page and the review make their own from recorded turns, so every part of the
toolkit applies a turn, and charges a clock, by this code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from core.rules import ChancePosition, Position, places, shares
from quartet.judge.game import JudgedGame
from quartet.judge.table import Penalty, TableRules
from quartet.judge.turn import Turn


class GameState:
    """A game so far.

    Attributes:
        game: The game.
        table: Clocks, memory and penalties.
        position: The present position.
        clocks: Milliseconds that each seat has left of a clock for the whole game, at least 1.
        lost: Number of turns that each seat has forfeited.
        disqualified: Seats that no longer play.
    """

    def __init__(
        self, game: JudgedGame, table: TableRules, position: Position, clocked: Sequence[bool]
    ) -> None:
        """Begin a game.

        Args:
            game: The game.
            table: Its table rules.
            position: The start.
            clocked: For each seat, True if its clock runs.
        """
        self.game, self.table = game, table
        self._clocked = [not table.per_move and runs for runs in clocked]
        self._restart(position)

    def _restart(self, position: Position, turns: Iterable[Turn] = ()) -> None:
        """Set the position, and count the turns that led to it."""
        self.position = position
        self.clocks = list(self.table.clocks)
        self.lost = [0] * self.game.info.players
        self.disqualified: set[int] = set()
        for turn in turns:
            self._count(turn)

    def apply(self, turn: Turn, after: Position | None = None) -> Position:
        """Apply a turn.

        Args:
            turn: A legal or forfeited turn. Turns of seats without a player may come before it.
            after: The position after a legal move, if it is known.

        Returns:
            The position in which the turn was taken.

        Raises:
            RuleError: The move is not legal.
        """
        before = self.position
        if turn.move is not None or self.table.penalty is not Penalty.GAME:
            while before.to_move != turn.seat and not before.over:
                before = before.lose_turn()
            if after is None:
                after = self._after(before, turn)
            self.position = after
        self._count(turn)
        return before

    def standing(self) -> tuple[list[int | None], list[int | None], list[float]]:
        """Return the scores, places and win shares of all seats by the present position."""
        scores = list(self.position.scores())
        lower = self.game.info.lower_wins
        place = places(scores, lower_wins=lower, out=self.disqualified)
        return scores, place, shares(place)

    def _after(self, before: Position, turn: Turn) -> Position:
        if turn.move is None:
            return before.lose_turn()
        after = before.play(turn.move)
        if self.game.info.chance:
            after = cast("ChancePosition", after).reveal(turn.drawn)
        return after

    def _count(self, turn: Turn) -> None:
        """Charge the clock for a turn, or count a forfeited one."""
        if turn.verdict.lost:
            self.lost[turn.seat] += 1
            if self.table.penalty is Penalty.OUT:
                self.disqualified.add(turn.seat)
        if self._clocked[turn.seat]:
            self.clocks[turn.seat] = time_left(self.clocks[turn.seat], turn.ms)


def time_left(left: int, ms: int) -> int:
    """Return the milliseconds left on a clock of `left` ms after a turn of `ms`: at least 1.

    A program that answers in its last millisecond is in time, and judges never announce 0.
    """
    return max(1, left - ms)
