"""Put a program before a position of a logged game, where the judge speaks lines.

Such a judge has no words for a position: a program comes to one by the moves that led there, and
its own moves are its own. So the program plays the game of the log from its start, with the log's
opponent, draws and clocks, and must find the log's moves for its seat by itself. Where it plays
something else, it can be told no further.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.messages import SIDES, Init
from quartet.judge.lines import Contestant, Duel, FoulError, LineTurn, Terms

if TYPE_CHECKING:
    from core.rules import Move
    from quartet.judge.game import LineGame
    from quartet.judge.gamelog import Replay


@dataclass(frozen=True)
class Statement:
    """What a program said.

    Attributes:
        turn: its last turn, None when a foul came before any.
        logged: the log's move in that turn, None where the log ends.
        arrived: whether the turn is the one that was asked for; otherwise the program has left the
            log there.
        foul: what it did wrong instead of an answer, in one sentence, or None.
        remarks: its standard error, by the ply.
    """

    turn: LineTurn | None
    logged: Move | None
    arrived: bool
    foul: str | None
    remarks: tuple[tuple[int, str], ...]


class Interview(Duel):
    """A conversation with one program about a logged game. Use it in a `with`."""

    def __init__(
        self, game: LineGame, contestant: Contestant, terms: Terms, replay: Replay, ply: int
    ) -> None:
        """About the position of `replay` after `ply` plies of the log, which must not be the end of
        the game."""
        super().__init__(game, [contestant] * len(SIDES), terms, replay.positions[0])
        self._replay = replay
        self._ply = ply
        self._seat = replay.positions[ply].to_move

    def ask(self) -> Statement:
        """What the program plays there. Raises OSError where our own system fails."""
        turn, logged, foul = None, None, None
        try:
            self._start(self._seat)
            if self._game.judge.init:
                self._say(self._seat, Init(self.position.text()))
            for ply in range(self._ply + 1):
                played = self._replay.plies[ply] if ply < len(self._replay.plies) else None
                self.position = self._replay.positions[ply]
                if self.position.to_move == self._seat:
                    logged = None if played is None else played.move
                    turn, after = self._ask()
                    # Two moves may come to the same; what chance gives is no part of the move.
                    if played is None or (
                        turn.move != logged and after != self.position.play(played.move)
                    ):
                        break
                if played is not None and ply < self._ply:
                    self.clocks[played.seat] = max(
                        1, self._terms.clock_ms - self._logged_ms(played.seat, ply)
                    )
                    self._tell(played.seat, played.move, played.drawn, played.ms)
        except FoulError as error:
            foul = error.ending.sentence
        for program in self._programs.values():
            program.end(at_once=True)
        remarks = tuple(
            line for program in self._programs.values() for line in program.pipes.remarks.lines
        )
        return Statement(
            turn,
            logged,
            turn is not None and turn.ply == self._replay.positions[self._ply].ply,
            foul,
            remarks,
        )

    def _logged_ms(self, seat: int, ply: int) -> int:
        """What a seat has used by the log when `ply` has been played."""
        return sum(played.ms for played in self._replay.plies[: ply + 1] if played.seat == seat)
