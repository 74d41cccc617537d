"""The one loop by which a game is played, whoever sits at the table and however its judge speaks.

Decisions, where the real judges leave something open:
- Every ply of a game clock takes whole milliseconds, a begun one counts: nothing on the wire is
  ever 0, and a program that answers when its last millisecond has begun has one left for the next
  ply.
- Programs that live for the game are started one after the other, each when its READY is due.
- Where a foul loses the game, the offender is killed, and the others hear that it is over.
- A legal answer counts whatever the program's exit status is; the status is a remark.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

from core.errors import IllegalMoveError, QuartetError, TextError
from core.messages import SIDES
from core.rules import places, shares
from quartet.judge.process.words import printable
from quartet.judge.seats.seat import Answer, NotReadyError, TakeBackError
from quartet.judge.table import Penalty
from quartet.judge.turn import Result, Termination, Turn, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

    from core.rules import ChancePosition, Move, Position
    from quartet.judge.game import Game, Start, TablePosition
    from quartet.judge.seats.seat import Seat
    from quartet.judge.table import TableRules

ILLEGAL_CODE = "Not legal"
"""What a log says of an illegal move for which the game's protocol has no code."""
PHRASES = {Verdict.MALFORMED: "gave a bad answer", Verdict.ILLEGAL: "made an illegal move"}
"""What a player did whose foul the rules or the protocol have found."""


class JudgeError(QuartetError):
    """The judge itself failed, or the system under it; nobody has won."""


class Watcher(Protocol):
    """Who watches a match: a screen, a log, a live feed. It never changes the game."""

    def begin(self, match: Match) -> None:
        """The game begins; nobody has been asked yet."""
        ...

    def turn(self, match: Match, turn: Turn) -> None:
        """A turn was taken."""
        ...

    def taken_back(self, match: Match) -> None:
        """Turns were taken back; `match.turns` has those that are left."""
        ...

    def end(self, match: Match) -> None:
        """The game has ended; `match.result` says how."""
        ...


class Match:
    """A game in progress. Use it in a `with`: afterwards no program of it lives.

    Attributes:
        game: Game. names: tuple[str | None, ...]; of the players, None where nobody sits.
        table: TableRules. start: Start.
        position: the present position; of the class of `rules`.
        clocks: list[int]; milliseconds that every seat has left, of a clock for the whole game.
        turns: list[Turn]; so far. positions: list; the one before each of them.
        lost: list[int]; turns that each seat has lost. disqualified: set[int].
        result: Result | None; how the game ended, None while it has not.
    """

    def __init__(
        self,
        game: Game,
        seats: Sequence[Seat | None],
        names: Sequence[str | None],
        table: TableRules,
        start: Start,
        *,
        rules: type[Position] | None = None,
        watchers: Sequence[Watcher] = (),
    ) -> None:
        """Set up a game.

        Args:
            game: Game.
            seats: Sequence[Seat | None]; None where nobody sits.
            names: Sequence[str | None]; of the players.
            table: TableRules.
            start: Start.
            rules: the class of positions to judge by, by default the reference rules.
            watchers: Sequence[Watcher].

        Raises:
            QuartetError: so many players, or nobody on a seat, do not fit the game.
            TextError: the start does not.
        """
        self.game, self.table, self.start = game, table, start
        self.names = tuple(names)
        self.rules: Any = rules or game.position
        self.clocks = list(table.clocks)
        self.turns: list[Turn] = []
        self.positions: list[Position] = []
        self.lost = [0] * game.info.players
        self.disqualified: set[int] = set()
        self.result: Result | None = None
        self._seats = list(seats)
        self._sitting = [(seat, who) for seat, who in enumerate(seats) if who is not None]
        self._foul_ends = table.foul is Penalty.GAME
        self._watchers = watchers
        self._notes: list[str] = []
        self._pending: tuple[tuple[int, str], ...] = ()
        try:
            self._check()
            self.position: Position = self.first()
        except BaseException:
            self.close()
            raise

    def first(self, rules: Any = None) -> Any:
        """The position that the game starts from, by these rules or by the match's."""
        rules = rules or self.rules
        position = self.start.position(rules)
        for seat, player in enumerate(self._seats):
            if player is None:
                if not hasattr(position, "without"):
                    raise QuartetError(f"every seat of {self.game.info.name} needs a player")
                position = cast("TablePosition", position).without(seat)
        return position

    def play(self) -> Iterator[Turn]:
        """Play the game to its end, turn by turn; then `result` is there.

        Raises:
            JudgeError: the judge failed, and no player is to blame.
            QuartetError: our system gives us no folder, no file, no process.
            BrokenPipeError: nobody reads what a watcher writes.
            KeyboardInterrupt: a person has left.
        """
        try:
            yield from self._play()
        except (QuartetError, BrokenPipeError):
            raise
        except Exception as error:
            raise JudgeError(f"the judge failed: {type(error).__name__}: {error}") from error

    def play_out(self) -> Result:
        """Play the game to its end; raises as `play`."""
        for _ in self.play():
            pass
        if self.result is None:
            raise JudgeError("the game was not played to its end")
        return self.result

    def pending(self) -> tuple[tuple[int, str], ...]:
        """(seat, line) of what programs have said since the last turn, while the game goes on."""
        for seat, player in self._sitting:
            if said := player.said():
                self._pending += tuple((seat, line) for line in said)
        return self._pending

    def close(self) -> None:
        """End all programs. May be called again."""
        for player in self._seats:
            if player is not None:
                player.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def can_take_back(self) -> bool:
        """Whether the seat to move can go back to its last turn, and everybody with it."""
        able = all(player is None or player.can_take_back for player in self._seats)
        return able and self._last_own() is not None

    # The loop

    def _play(self) -> Iterator[Turn]:
        for watcher in self._watchers:
            watcher.begin(self)
        foul = self._open()
        if foul is not None:
            yield self._happen(foul)
        while foul is None and self.next_turn():
            try:
                turn = self._turn()
            except TakeBackError:
                self._take_back()
                continue
            yield turn
            foul = turn if turn.verdict.lost and self._foul_ends else None
        self.result = self._finish(foul)
        for watcher in self._watchers:
            watcher.end(self)

    def next_turn(self) -> bool:
        """Go on to the next turn that somebody takes; False when the game is over."""
        while not self.position.over:
            if self._plays(self.position.to_move):
                return True
            if not any(map(self._plays, range(len(self._seats)))):
                return False
            self.position = self.position.lose_turn()
        return False

    def _open(self) -> Turn | None:
        """Everybody gets ready; the foul of who does not, which ends the game."""
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
        """The next turn, which has happened."""
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
        """What a seat's answer is worth: the turn, and the position after a legal move."""
        verdict, reason, move, after, code = self.read(answer, before)
        drawn = None
        if after is not None and self.game.info.chance:
            if answer.reveals:
                after = cast("ChancePosition", after).reveal(answer.drawn)
            drawn = cast("ChancePosition", after).drawn
        ms = milliseconds(answer.seconds) if answer.ms is None else answer.ms
        # Above 30 slots (one a value, one a name) Python packs arguments into a dictionary first.
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
            said=self.pending() if self._goes_on(after) else (),
            info=answer.info,
        )
        return turn, after

    def read(
        self, answer: Answer, before: Position
    ) -> tuple[Verdict, str, Move | None, Position | None, str]:
        """What an answer to a position is worth: verdict, reason, the move, the position after it
        where it is legal, and what the game's judge calls a foul."""
        if answer.verdict.lost:
            return answer.verdict, answer.reason, None, None, answer.code
        verdict, reason, code = answer.verdict, answer.reason, ""
        move, after = answer.move, None
        try:
            if move is None and answer.text is None:
                verdict, reason = Verdict.MISSING, answer.reason or "there is no answer"
            else:
                if move is None:
                    move = self.game.protocol.parse_answer(answer.text or "", before.to_move)
                after = before.play(move)
        except TextError as error:
            verdict, reason, code = Verdict.MALFORMED, str(error), error.code
        except IllegalMoveError as error:
            verdict, reason, code = Verdict.ILLEGAL, str(error), error.code or ILLEGAL_CODE
        if after is not None:
            return verdict, answer.died or reason, move, after, ""
        if answer.died:
            died = answer.died if verdict is Verdict.MISSING else f"{answer.died}; {reason}"
            return Verdict.CRASHED, died, None, None, code
        return verdict, reason, None, None, code

    def _happen(self, turn: Turn, after: Position | None = None) -> Turn:
        """Let a turn happen, and tell everybody."""
        before = self.position
        if after is not None:
            self.position = after
        elif not self._foul_ends:
            self.position = before.lose_turn()
        self._count(turn)
        if self._goes_on(after):
            self._pending = ()
            # First the one who has moved: it may wait to hear what it drew.
            for player in (*self._seats[turn.seat :], *self._seats[: turn.seat]):
                if player is not None:
                    player.heard(self, turn, before)
        self.turns.append(turn)
        self.positions.append(before)
        for watcher in self._watchers:
            watcher.turn(self, turn)
        return turn

    def _count(self, turn: Turn) -> None:
        """What a turn costs who took it."""
        if turn.verdict.lost:
            self.lost[turn.seat] += 1
            if self.table.foul is Penalty.OUT:
                self.disqualified.add(turn.seat)
        elif self._runs(turn.seat):
            self.clocks[turn.seat] = max(1, self.clocks[turn.seat] - turn.ms)

    def _last_own(self) -> int | None:
        """The number of the last turn for which the seat to move was asked."""
        seat = self.position.to_move
        for number in reversed(range(len(self.turns))):
            turn = self.turns[number]
            if turn.seat == seat and turn.verdict is not Verdict.PASS:
                return number
        return None

    def _take_back(self) -> None:
        """Go back to the last turn of the seat to move, where there is one."""
        number = self._last_own()
        if number is None or not self.can_take_back:
            return
        self.position = self.positions[number]
        del self.turns[number:], self.positions[number:]
        self.clocks[:], self.lost[:] = self.table.clocks, [0] * len(self.lost)
        self.disqualified.clear()
        for turn in self.turns:
            self._count(turn)
        for _, player in self._sitting:
            player.taken_back(self)
        for watcher in self._watchers:
            watcher.taken_back(self)

    # Ending

    def standing(self) -> tuple[list[int | None], list[int | None], list[float]]:
        """Scores, places and shares of the win by the present position."""
        scores = list(self.position.scores())
        lower = self.game.info.lower_wins
        place = places(scores, lower_wins=lower, out=self.disqualified)
        return scores, place, shares(place)

    def _finish(self, foul: Turn | None) -> Result:
        """Dismiss everybody, and say how the game ended."""
        offender = None if foul is None else foul.seat
        self._note_same_engine()
        for seat, player in self._sitting:
            if seat != offender:
                player.dismiss(self)
        exits = [
            None if player is None else player.end(at_once=seat == offender)
            for seat, player in enumerate(self._seats)
        ]
        if offender is not None:
            self.disqualified.add(offender)
        scores, place, share = self.standing()
        return Result(
            plies=self.position.ply,
            scores=tuple(scores),
            places=tuple(place),
            shares=tuple(share),
            lost=tuple(self.lost),
            disqualified=() if offender is not None else tuple(sorted(self.disqualified)),
            termination=self._termination(foul, place),
            reason=self._reason(foul, scores, place),
            offender=offender,
            code="" if foul is None else foul.code,
            overloaded=foul is not None and foul.overloaded,
            notes=tuple(self._all_notes()),
            exits=tuple(exits) if any(exits) else (),
            said=self.pending(),
        )

    @staticmethod
    def _termination(foul: Turn | None, place: Sequence[int | None]) -> Termination:
        if foul is not None:
            return Termination.of(foul.verdict)
        return Termination.SCORE if place.count(1) == 1 else Termination.DRAW

    def _reason(
        self, foul: Turn | None, scores: Sequence[int | None], place: Sequence[int | None]
    ) -> str:
        """Why the game ended, in one sentence."""
        if foul is not None:
            phrase = PHRASES.get(foul.verdict)
            words = printable(foul.reason) if foul.verdict is Verdict.MALFORMED else foul.reason
            told = f"{phrase} at ply {foul.ply}: {words}" if phrase else words
            return f"{self.game.label(foul.seat)} {told}"
        joint = " to " if len(scores) == 2 else ", "
        words = joint.join("-" if score is None else str(score) for score in scores)
        words += f" {self.game.info.score_name}"
        if place.count(1) != 1:
            return f"a draw, {words}"
        return f"{self.game.label(place.index(1))} wins, {words}"

    # Small things

    def _check(self) -> None:
        """Raise QuartetError for a table that does not fit the game."""
        info = self.game.info
        if len(self._seats) != info.players:
            raise QuartetError(f"{info.name} has {info.players} players, not {len(self._seats)}")
        if all(player is None for player in self._seats):
            raise QuartetError("somebody must play: all seats are empty")
        for option, value in self.start.options.items():
            if option not in info.options:
                known = ", ".join(info.options) or "none"
                raise TextError(f"{info.name} has no option {option!r}; there are: {known}")
            if type(value) is not type(info.options[option].default):
                raise TextError(f"option {option} of {info.name} cannot be {value!r}")

    def _goes_on(self, after: Position | None) -> bool:
        """Whether the game goes on behind a turn that led to `after`, None where it was lost."""
        return after is not None or not self._foul_ends

    def _plays(self, seat: int) -> bool:
        """Whether somebody sits there who is not disqualified."""
        return self._seats[seat] is not None and seat not in self.disqualified

    def _runs(self, seat: int) -> bool:
        """Whether a seat has a clock for the whole game, and it runs."""
        player = self._seats[seat]
        return not self.table.per_move and player is not None and player.clocked

    def _note_same_engine(self) -> None:
        """Two versions under test can silently be one: where both find the same file first."""
        sitting = [player for _, player in self._sitting]
        if len(sitting) != len(SIDES) or all(player.built_in for player in sitting):
            return
        for path in sorted(sitting[0].loaded() & sitting[1].loaded()):
            self._notes.append(f"both sides have loaded the same engine, {path}")

    def _all_notes(self) -> list[str]:
        return self._notes + [
            f"{self.game.label(seat)} {note}"
            for seat, player in self._sitting
            for note in dict.fromkeys(player.notes)
        ]


def milliseconds(seconds: float) -> int:
    """Whole milliseconds of a clock, of which a begun one counts, and at least one."""
    return max(1, math.ceil(1000 * seconds))
