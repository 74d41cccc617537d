"""The only game loop: a match between any seats, for both kinds of judge.

Decisions on what the real judges leave open:
- A clock for the whole game is charged in whole milliseconds, rounded up. It never falls below 1.
- Persistent programs are started one after the other, each when its READY is due.
- If a forfeit loses the game, the offender is killed, and the others receive FINISH.
- A legal answer counts whatever the program's exit status is; the status is noted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, Self, cast

from core.errors import QuartetError, TextError
from core.rules import ChancePosition, EmptySeatsPosition, Position
from quartet.judge import ending
from quartet.judge.game import JudgedGame, Start
from quartet.judge.judging import judge_answer
from quartet.judge.seats.seat import Answer, ForfeitError, NotReadyError, Seat, TakeBackError
from quartet.judge.state import GameState
from quartet.judge.table import Penalty, TableRules
from quartet.judge.turn import Result, Turn, Verdict


class JudgeError(QuartetError):
    """The judge itself, or its system, has failed; no player has won."""


class Watcher(Protocol):
    """An observer of a match: a screen, a log, a page. It never changes the game."""

    def begin(self, match: Match) -> None:
        """The game begins; no seat has been asked yet."""

    def turn(self, match: Match, turn: Turn) -> None:
        """A turn was taken."""

    def taken_back(self, match: Match) -> None:
        """Turns were taken back, or the game was resumed; `match.turns` has its turns."""

    def end(self, match: Match) -> None:
        """The game has ended; `match.result` says how."""


class Match(GameState):
    """A game in progress. Use it in a `with` statement: afterwards none of its programs runs.

    Attributes:
        names: Names of the players, None for an empty seat.
        start: Where the game begins.
        rules: Class of the positions.
        turns: The turns so far.
        positions: The position before each of them.
        result: How the game ended; None while it is running.
    """

    def __init__(
        self,
        game: JudgedGame,
        seats: Sequence[Seat | None],
        names: Sequence[str | None],
        table: TableRules,
        start: Start,
        *,
        rules: type[Position] | None = None,
        watchers: Sequence[Watcher] = (),
        recorded: Sequence[Turn] = (),
    ) -> None:
        """Set up a game.

        Args:
            game: The game.
            seats: Its seats, None for an empty one.
            names: Names of the players, None for an empty seat.
            table: Clocks, memory and penalties.
            start: Where the game begins.
            rules: Class of the positions to judge by; by default the reference rules.
            watchers: Observers.
            recorded: Turns that were taken before; the game resumes after them.

        Raises:
            QuartetError: The number of players does not fit the game, or it knows no empty seats.
            TextError: The start does not fit the game.
        """
        self.game, self.start = game, start
        # logs are UTF-8: a name from a command line may be other bytes
        self.names = tuple(name and name.encode("utf-8", "replace").decode() for name in names)
        self.rules: Any = rules or game.position
        self.turns: list[Turn] = []
        self.positions: list[Position] = []
        self.result: Result | None = None
        self._seats = list(seats)
        self._sitting = [(seat, who) for seat, who in enumerate(seats) if who is not None]
        self._watchers, self._recorded = watchers, recorded
        self._pending: tuple[tuple[int, str], ...] = ()
        try:
            self._check()
            clocked = [player is not None and player.clocked for player in seats]
            super().__init__(game, table, self.first(), clocked)
        except BaseException:
            self.close()
            raise
        self._forfeit_ends = table.penalty is Penalty.GAME

    def first(self, rules: Any = None) -> Any:
        """Return the start position by these rules, by default by the match's."""
        position = self.start.position(rules or self.rules)
        for seat, player in enumerate(self._seats):
            if player is None:
                if not self.game.info.empty_seats:
                    raise QuartetError(f"every seat of {self.game.info.name} needs a player")
                position = cast("EmptySeatsPosition", position).without(seat)
        return position

    def play(self) -> Iterator[Turn]:
        """Play the game to its end, turn by turn; then `result` is set.

        Raises:
            JudgeError: The judge failed; no player is to blame.
            QuartetError: The system provides no folder, file or process.
            BrokenPipeError: The reader of a watcher's output has gone.
            KeyboardInterrupt: A human has left the game.
        """
        try:
            yield from self._play()
        except (QuartetError, BrokenPipeError):
            raise
        except Exception as error:
            raise JudgeError(f"the judge failed: {type(error).__name__}: {error}") from error

    def play_out(self) -> Result:
        """Play the game to its end and return the result; raises as `play`."""
        for _ in self.play():
            pass
        if self.result is None:
            raise JudgeError("the game was not played to its end")
        return self.result

    def pending(self) -> tuple[tuple[int, str], ...]:
        """Return (seat, line) of what programs have written to standard error since the last
        turn."""
        for seat, player in self._sitting:
            if said := player.said():
                self._pending += tuple((seat, line) for line in said)
        return self._pending

    def next_turn(self) -> bool:
        """Pass over empty seats and disqualified players; return False if the game has ended."""
        while not self.position.over:
            if self._plays(self.position.to_move):
                return True
            if not any(map(self._plays, range(len(self._seats)))):
                return False
            self.position = self.position.lose_turn()
        return False

    @property
    def can_take_back(self) -> bool:
        """Return True if a human has had a turn, and every seat allows taking it back."""
        able = all(player is None or player.can_take_back for player in self._seats)
        return able and self._last_chosen() is not None

    def close(self) -> None:
        """End all programs. May be called again."""
        for _, player in self._sitting:
            player.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # The loop

    def _play(self) -> Iterator[Turn]:
        for watcher in self._watchers:
            watcher.begin(self)
        forfeit = self._open()
        if self._recorded:
            forfeit = self._resume(forfeit)
        elif forfeit is not None:
            yield self._happen(forfeit)
        while forfeit is None and self.next_turn():
            try:
                turn = self._turn()
            except TakeBackError:
                self._take_back()
            except ForfeitError as error:
                forfeit = error.turn
            else:
                yield turn
                forfeit = turn if turn.verdict.lost and self._forfeit_ends else None
        self.result = ending.end(self, self._seats, forfeit)
        for watcher in self._watchers:
            watcher.end(self)

    def _open(self) -> Turn | None:
        """Prepare all seats; return the forfeit of one that is not ready, which ends the game."""
        for seat, player in self._sitting:
            try:
                player.open(self, seat)
            except NotReadyError as error:
                return Turn(
                    self.position.ply,
                    seat,
                    verdict=error.verdict,
                    reason=str(error),
                    code=error.code,
                    overloaded=error.overloaded,
                )
        for _, player in self._sitting:
            player.begin(self)
        return None

    def _turn(self) -> Turn:
        """Ask the seat to move, and apply its turn."""
        before = self.position
        seat = before.to_move
        if not self.table.asks_stuck and before.legal() == [self.game.pass_move]:
            answer = Answer(
                move=self.game.pass_move, verdict=Verdict.PASS, reason="no piece can move"
            )
        else:
            player = self._seats[seat]
            assert player is not None  # noqa: S101  (next_turn passes over empty seats)
            answer = player.ask(self)
        return self._happen(*self._judged(answer, before, seat))

    def _judged(self, answer: Answer, before: Position, seat: int) -> tuple[Turn, Position | None]:
        """Judge a seat's answer; return the turn, and the position after a legal move."""
        verdict, reason, move, after, code = judge_answer(self.game, answer, before)
        drawn = None
        if after is not None and self.game.info.chance:
            if answer.reveals:
                after = cast("ChancePosition", after).reveal(answer.drawn)
            drawn = cast("ChancePosition", after).drawn
        ms = milliseconds(answer.seconds) if answer.ms is None else answer.ms
        # Python packs more than 30 arguments (a name counts as one) into a dictionary first: slow.
        turn = Turn(
            before.ply,
            seat,
            before.text() if self.game.info.exchange is not None else "",
            answer.output,
            answer.output_size,
            verdict,
            reason,
            move,
            round(answer.seconds, 6),
            answer.megabytes,
            exit=answer.exit,
            stderr=answer.stderr,
            stderr_size=answer.stderr_size,
            left_behind=answer.left_behind,
            drawn=drawn,
            ms=0 if self.table.per_move else ms,
            code=code,
            overloaded=answer.overloaded,
            said=self.pending() if self._continues(after) else (),
            info=answer.info,
        )
        return turn, after

    def _resume(self, forfeit: Turn | None) -> Turn | None:
        """Take the recorded turns again; return the last one if it is a forfeit that ends the game.

        Raises QuartetError if a turn does not fit, or if a program was not ready (`forfeit`).
        """
        if forfeit is not None:
            raise QuartetError(f"the game cannot resume: a program {forfeit.reason}")
        for turn in self._recorded:
            if not self.next_turn() or self.position.to_move != turn.seat:
                raise TextError(f"recorded turn {len(self.turns) + 1} is not of the seat to move")
            player = self._seats[turn.seat]
            if player is not None and turn.verdict is not Verdict.PASS:
                player.again(self, turn)
            self._apply(turn, None if turn.move is None else self._after(self.position, turn))
        for watcher in self._watchers:
            watcher.taken_back(self)
        last = self.turns[-1]
        return last if last.verdict.lost and self._forfeit_ends else None

    def _happen(self, turn: Turn, after: Position | None = None) -> Turn:
        """Apply a turn, and notify seats and watchers."""
        self._apply(turn, after)
        for watcher in self._watchers:
            watcher.turn(self, turn)
        return turn

    def _apply(self, turn: Turn, after: Position | None) -> None:
        """Apply a turn, and notify seats."""
        before = self.apply(turn, after)
        if self._continues(after):
            self._pending = ()
            # The seat that moved comes first: it may be waiting for its draw.
            for player in (*self._seats[turn.seat :], *self._seats[: turn.seat]):
                if player is not None:
                    player.heard(self, turn, before)
        self.turns.append(turn)
        self.positions.append(before)

    def _last_chosen(self) -> int | None:
        """Return the number of the last turn that a human has chosen."""
        humans = {seat for seat, player in self._sitting if player.human}
        for number, turn in reversed(list(enumerate(self.turns))):
            if turn.seat in humans and turn.verdict not in {Verdict.PASS, Verdict.RESIGNED}:
                return number
        return None

    def _take_back(self) -> None:
        """Return to the last turn that a human has chosen, if that is possible."""
        number = self._last_chosen()
        if number is None or not self.can_take_back:
            return
        position = self.positions[number]
        del self.turns[number:], self.positions[number:]
        self._restart(position, self.turns)
        for _, player in self._sitting:
            player.taken_back(self)
        for watcher in self._watchers:
            watcher.taken_back(self)

    # Helpers

    def _check(self) -> None:
        """Raise QuartetError if seats or options do not fit the game."""
        info = self.game.info
        if len(self._seats) != info.players:
            raise QuartetError(f"{info.name} has {info.players} players, not {len(self._seats)}")
        if not self._sitting:
            raise QuartetError("all seats are empty; seat at least one player")
        self.game.check_options(self.start.options)

    def _continues(self, after: Position | None) -> bool:
        """Return True if the game continues after a turn; `after` is None for a forfeited one."""
        return after is not None or not self._forfeit_ends

    def _plays(self, seat: int) -> bool:
        """Return True if the seat has a player who is not disqualified."""
        return self._seats[seat] is not None and seat not in self.disqualified


def milliseconds(seconds: float) -> int:
    """Return whole milliseconds, rounded up, at least 1."""
    return max(1, math.ceil(1000 * seconds))
