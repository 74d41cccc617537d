"""One game between two programs that live as long as it lasts and speak lines, as the NYPC and
ALPHANO judges play it.

Decisions, where the real judges leave something open:
- Every ply takes whole milliseconds, a begun one counts: nothing on the wire is ever 0, and a
  program that answers when its last millisecond has begun has one left for the next ply.
- The programs are started one after the other, each when its READY is due; the limit of READY runs
from the start of the process.
- Lines that come before they are asked for are kept, and are the next answers: the real judges read
from a pipe, too.
- A player that is dead is found out when it is asked; a game that ends before that is scored.
- After a foul the offender is killed, the other one gets FINISH.
- A program that does not end after FINISH is asked to after 1 s and killed after 2 s. That, or an
  exit status other than 0, is noted; the score stands, as in the official tools (NYPC's graders
  demand status 0).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Self, cast

from core.errors import IllegalMoveError, QuartetError, TextError
from core.messages import (
    SIDES,
    Abort,
    Debug,
    Drew,
    Entry,
    Finish,
    Init,
    Message,
    Opponent,
    Outcome,
    Ply,
    Ready,
    Score,
    Tag,
    Turn,
)
from core.rules import ChancePosition, DrawnPosition, Move, places, shares
from quartet.judge.conversation import Conversation, Farewell, NotStartedError, Reply, Word
from quartet.judge.pipes import Hub, hub
from quartet.judge.process import describe_exit
from quartet.judge.program import printable
from quartet.judge.verdict import Termination

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from core.rules import LineJudge
    from quartet.judge.game import LineGame

LATE_CODE, MEMORY_CODE, ILLEGAL_CODE = "TLE", "MLE", "Not legal"
"""What the log says of a foul for which the game's protocol has no code."""
PATIENCE, PATIENCE_SECONDS = 4.0, 1.0
"""Where the clock counts processor time, the wall clock may run this much faster, and so many
seconds more, before a program that sleeps, or gets no processor, is given up."""


@dataclass(frozen=True)
class Terms:
    """What a player is allowed.

    Attributes:
        ready_ms: until the answer to READY; clock_ms: for all its moves together.
        megabytes: resident memory of all its processes, in units of 2**20 bytes, None for no limit.
        cpu: whether the clocks count processor time of all its processes and threads, as NYPC's
            graders say (also what it uses while the opponent thinks), instead of wall clock, as the
            tools do.
    """

    ready_ms: int
    clock_ms: int
    megabytes: float | None = None
    cpu: bool = False

    @classmethod
    def of(cls, judge: LineJudge) -> Terms:
        """What the game's judge allows."""
        return cls(judge.ready_ms, judge.clock_ms, judge.megabytes)


@dataclass(frozen=True)
class Contestant:
    """A program that plays.

    Attributes:
        name: what the log calls it.
        command: a string for the system's shell or a list of arguments; cwd: the folder to run it
            in, ours by default; env: on top of our environment.
    """

    name: str
    command: str | Sequence[str]
    cwd: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class LineTurn:
    """A ply that was played.

    Attributes:
        ply, seat: when, and whose.
        answer: the line; move: what it says; drawn: what chance gave then.
        ms: what the ply took from the clock.
        seconds: wall clock from when the call was sent until the answer was read.
    """

    ply: int
    seat: int
    answer: str
    move: Move
    drawn: int | None
    ms: int
    seconds: float


@dataclass(frozen=True)
class LineResult:
    """How a game ended.

    Attributes:
        termination: why; sentence: the same for people.
        plies: that were played; scores: by the last position, None after an error of the judge.
        winner: the seat, None when nobody has won; shares: of the win, they add up to 1, or to 0
            after an error of the judge.
        offender: the seat that lost by a foul, or None; code: what the log calls it.
        overloaded: whether the foul is a time-out for which the machine is to blame, at least in
            part. It counts all the same.
        notes: what else was not as it should be, a sentence each.
        farewells: what became of the programs, None for one that was never started.
        remarks: what each program said on standard error: the ply, and the line.
    """

    termination: Termination
    sentence: str
    plies: int
    scores: tuple[int | None, ...]
    winner: int | None
    shares: tuple[float, ...]
    offender: int | None
    code: str
    overloaded: bool
    notes: tuple[str, ...]
    farewells: tuple[Farewell | None, ...]
    remarks: tuple[tuple[tuple[int, str], ...], ...]


class _Ending(NamedTuple):
    """How a game ended, before the programs have."""

    termination: Termination
    sentence: str
    offender: int | None = None
    code: str = ""
    overloaded: bool = False


class FoulError(Exception):
    """A seat has lost by a foul."""

    def __init__(
        self,
        seat: int,
        termination: Termination,
        sentence: str,
        code: str,
        *,
        overloaded: bool = False,
    ) -> None:
        super().__init__(sentence)
        self.ending = _Ending(termination, f"{SIDES[seat]} {sentence}", seat, code, overloaded)


class Duel:
    """A game in progress. Use it in a `with`; no process of the players lives after it.

    Attributes:
        position: the present position.
        clocks: milliseconds that the seats have left.
        entries: the log so far; `log` has it as text.
        result: how the game ended, None while it has not.
    """

    def __init__(
        self,
        game: LineGame,
        players: Sequence[Contestant],
        terms: Terms,
        position: DrawnPosition,
        *,
        clocks: Sequence[int] | None = None,
        with_hub: Hub | None = None,
    ) -> None:
        """A game from `position` on; `clocks` gives every seat its own instead of the terms'.
        Raises QuartetError where there are not two players."""
        if len(players) != len(SIDES):
            raise QuartetError(f"{game.info.name} has {len(SIDES)} players, not {len(players)}")
        self.position = position
        self._budgets = tuple(clocks or [terms.clock_ms] * len(SIDES))
        self.clocks = list(self._budgets)
        self.result: LineResult | None = None
        self.entries: list[Entry] = [
            Tag(side, f"COMMAND: {' '.join(player.name.split())}")
            for side, player in zip(SIDES, players, strict=True)
        ]
        self._game = game
        self._players = players
        self._terms = terms
        self._hub = with_hub or hub()
        self._programs: dict[int, Conversation] = {}
        self._charged = [0.0] * len(SIDES)
        self._remarked = [0] * len(SIDES)
        self._notes: list[str] = []
        self.entries.append(Init(position.text()))

    def turns(self) -> Iterator[LineTurn]:
        """Play the game to its end, ply by ply; then `result` is there. Raises nothing: an error of
        ours is a result, too."""
        try:
            for seat in range(len(SIDES)):
                self._start(seat)
            if self._game.judge.init:
                for seat in range(len(SIDES)):
                    self._say(seat, Init(self.position.text()))
            while not self.position.over:
                yield self._turn()
            ending = self._score()
        except FoulError as foul:
            ending = foul.ending
        except Exception as error:  # noqa: BLE001  (whatever it is, the players are not to blame)
            ending = _Ending(
                Termination.JUDGE, f"the judge failed: {type(error).__name__}: {error}"
            )
        self._finish(ending)

    def log(self) -> str:
        """The log as the game's judge writes it; of a game that goes on, or was broken off, so far
        as it is."""
        lines = [self._game.protocol.format_entry(entry) for entry in self.entries]
        return "".join(line + "\n" for line in lines if line is not None)

    def close(self) -> None:
        """End the programs."""
        for program in self._programs.values():
            program.end(at_once=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # Asking

    def _start(self, seat: int) -> None:
        """Start a program and wait until it is ready."""
        player, terms = self._players[seat], self._terms
        try:
            program = Conversation(
                self._hub, player.command, cwd=player.cwd, env=player.env, megabytes=terms.megabytes
            )
        except NotStartedError as error:
            raise FoulError(
                seat,
                Termination.RE,
                f"cannot be started: {error.strerror}",
                self._empty_code(seat, ready=True),
            ) from error
        self._programs[seat] = program
        self._say(seat, Ready(seat))
        limit = terms.ready_ms / 1000
        if terms.cpu:
            reply = program.receive(_patience(limit), since=program.started, cpu_until=limit)
        else:
            reply = program.receive(limit, since=program.started)
        answer = self._answer(
            seat, reply, terms.ready_ms, time.perf_counter() - program.started, ready=True
        )
        try:
            self._game.protocol.check_ready(answer)
        except TextError as error:
            raise FoulError(seat, Termination.RE, f"was not ready: {error}", error.code) from error
        program.begin_load()
        self._charged[seat] = reply.cpu
        self._collect_remarks()

    def _turn(self) -> LineTurn:
        """Call the seat to move, and let its move happen."""
        turn, self.position = self._ask()
        self._tell(turn.seat, turn.move, turn.drawn, turn.ms)
        self._collect_remarks()
        self.entries.append(Ply(turn.seat, turn.move, turn.drawn, turn.ms))
        return turn

    def _ask(self) -> tuple[LineTurn, DrawnPosition]:
        """Call the seat to move; gives its move and the position that it leads to. Raises
        FoulError."""
        ply, seat = self.position.ply, self.position.to_move
        program, left = self._programs[seat], self.clocks[seat]
        for each in self._programs.values():
            each.pipes.remarks.ply = ply
        self._hub.move(0)
        if program.pipes.received:
            self._note(f"{SIDES[seat]} says something before it is asked")
        reply = self._call(seat)
        answer = self._answer(
            seat, reply, left, (self._budgets[seat] - left) / 1000 + reply.seconds
        )
        move, after = self._parse(seat, answer)
        ms = self._charge(seat, reply)
        drawn = cast("ChancePosition", after).drawn if self._game.info.chance else None
        return LineTurn(ply, seat, answer, move, drawn, ms, reply.seconds), after

    def _tell(self, seat: int, move: Move, drawn: int | None, ms: int) -> None:
        """A seat has moved: both hear what they do not know."""
        if self._game.info.chance:
            self._say(seat, Drew(drawn))
        self._say(1 - seat, Opponent(move, drawn, ms), more=True)

    def _call(self, seat: int) -> Reply:
        """Say that it is the seat's turn, and wait for the answer."""
        program, left = self._programs[seat], self.clocks[seat]
        if not self._terms.cpu:
            started = time.perf_counter()  # waking the program may cost us the processor
            self._say(seat, Turn(left, self.clocks[1 - seat]))
            return program.receive(left / 1000, since=started)
        used = program.cpu() - self._charged[seat]
        started = time.perf_counter()
        self._say(seat, Turn(max(1, left - math.ceil(used * 1000)), self.clocks[1 - seat]))
        return program.receive(
            _patience(left / 1000), since=started, cpu_until=self._charged[seat] + left / 1000
        )

    def _charge(self, seat: int, reply: Reply) -> int:
        """Take what a ply took from the seat's clock; gives the milliseconds."""
        seconds = reply.seconds
        if self._terms.cpu:
            seconds, self._charged[seat] = reply.cpu - self._charged[seat], reply.cpu
        ms = max(1, math.ceil(seconds * 1000))
        self.clocks[seat] = max(1, self.clocks[seat] - ms)
        return ms

    def _answer(
        self, seat: int, reply: Reply, limit_ms: int, waited: float, *, ready: bool = False
    ) -> str:
        """The line that has come, as text. Raises FoulError when none has; `waited` is the wall
        clock it has had in all."""
        if reply.word is Word.LINE and reply.line is not None:
            return reply.line.decode("ascii", "replace")
        program = self._programs[seat]
        when = "before it was ready" if ready else f"at ply {self.position.ply}"
        if reply.word is Word.LATE:
            kind = "processor time" if self._terms.cpu else "wall clock"
            sentence = f"gave no answer {when} within {limit_ms} ms of {kind}"
            overload = program.overload(waited)
            sentence += f"; {overload}" if overload else ""
            raise FoulError(
                seat, Termination.TLE, sentence, LATE_CODE, overloaded=overload is not None
            )
        if reply.word is Word.MEMORY:
            sentence = (
                f"held {program.megabytes:.0f} MB {when}, more than {self._terms.megabytes:g}"
            )
            raise FoulError(seat, Termination.MEMORY, sentence, MEMORY_CODE)
        if reply.word is Word.FLOOD:
            sentence = f"wrote a line without end {when}"
        else:
            status = program.last_words()
            sentence = (
                f"closed its output {when}"
                if status is None
                else f"ended {when}: {describe_exit(status)}"
            )
            words = [text for _, text in program.pipes.remarks.lines if text.strip()]
            sentence += f": {printable(words[-1])}" if words else ""
        raise FoulError(seat, Termination.RE, sentence, self._empty_code(seat, ready=ready))

    def _parse(self, seat: int, answer: str) -> tuple[Move, DrawnPosition]:
        """The move, and the position that it leads to. Raises FoulError."""
        where = f"at ply {self.position.ply}"
        try:
            move = self._game.protocol.parse_answer(answer, seat)
            return move, self.position.play(move)
        except TextError as error:
            raise FoulError(
                seat,
                Termination.RE,
                f"gave a bad answer {where}: {printable(str(error))}",
                error.code,
            ) from error
        except IllegalMoveError as error:
            raise FoulError(
                seat,
                Termination.ILLEGAL,
                f"made an illegal move {where}: {error}",
                error.code or ILLEGAL_CODE,
            ) from error

    def _empty_code(self, seat: int, *, ready: bool) -> str:
        """What the game's judge calls an answer that does not come: to it, the end of the output is
        an empty line."""
        try:
            if ready:
                self._game.protocol.check_ready("")
            else:
                self._game.protocol.parse_answer("", seat)
        except TextError as error:
            return error.code
        return ""

    def _say(self, seat: int, message: Message, *, more: bool = False) -> None:
        """Speak to the program of a seat, where there is one; `more` will follow at once."""
        if seat in self._programs:
            self._programs[seat].send(self._game.protocol.format_message(message, seat), more=more)

    # Ending

    def _score(self) -> _Ending:
        """How the game ended that was played to its end."""
        scores, name = self.position.scores(), self._game.info.score_name
        words = " to ".join(map(str, scores))
        winner = self._winner(None)
        if winner is None:
            return _Ending(Termination.DRAW, f"a draw, {words} {name}")
        return _Ending(Termination.SCORE, f"{SIDES[winner]} wins, {words} {name}")

    def _winner(self, offender: int | None) -> int | None:
        if offender is not None:
            return 1 - offender
        place = places(self.position.scores(), lower_wins=self._game.info.lower_wins)
        return place.index(1) if place.count(1) == 1 else None

    def _finish(self, ending: _Ending) -> None:
        """End the programs, complete the log, and set the result."""
        termination = ending.termination
        if termination is not Termination.JUDGE:
            for seat, program in self._programs.items():
                if seat != ending.offender:
                    program.dismiss(self._game.protocol.format_message(Finish(), seat))
        farewells: list[Farewell | None] = [None] * len(SIDES)
        for seat, program in self._programs.items():
            killed = termination is Termination.JUDGE or seat == ending.offender
            farewells[seat] = farewell = program.end(at_once=killed)
            if not killed:
                self._note_farewell(SIDES[seat], farewell)
        self._collect_remarks()
        scores: tuple[int | None, ...] = (None,) * len(SIDES)
        winner, share = None, [0.0] * len(SIDES)
        if termination is not Termination.JUDGE:
            scores = self.position.scores()
            winner = self._winner(ending.offender)
            place = places(
                scores,
                lower_wins=self._game.info.lower_wins,
                out=() if ending.offender is None else (ending.offender,),
            )
            share = shares(place)
            self.entries.insert(len(SIDES), Outcome(winner))
        if termination.foul and ending.offender is not None:
            self.entries.append(Abort(ending.offender, ending.code))
        elif termination is not Termination.JUDGE:
            self.entries += [
                Finish(),
                *(Score(seat, score or 0) for seat, score in enumerate(scores)),
            ]
        self.result = LineResult(
            termination,
            ending.sentence,
            self.position.ply,
            scores,
            winner,
            tuple(share),
            ending.offender,
            ending.code,
            ending.overloaded,
            tuple(self._notes),
            tuple(farewells),
            tuple(
                tuple(self._programs[seat].pipes.remarks.lines) if seat in self._programs else ()
                for seat in range(len(SIDES))
            ),
        )

    def _note_farewell(self, side: str, farewell: Farewell) -> None:
        if farewell.exit is None:
            self._note(f"{side} had to be killed after FINISH")
        elif farewell.asked:
            self._note(f"{side} had to be asked to end after FINISH")
        elif farewell.exit != 0:
            self._note(f"{side} ended with {describe_exit(farewell.exit)} after FINISH")
        if farewell.left_behind:
            self._note(
                f"{side} left {farewell.left_behind} process{'' if farewell.left_behind == 1 else 'es'} running"
            )

    def _collect_remarks(self) -> None:
        """What the programs have said on standard error since the last time goes into the log."""
        for seat, program in self._programs.items():
            lines = program.pipes.remarks.lines
            if len(lines) > self._remarked[seat]:
                self.entries += [Debug(seat, text) for _, text in lines[self._remarked[seat] :]]
                self._remarked[seat] = len(lines)

    def _note(self, text: str) -> None:
        if text not in self._notes:
            self._notes.append(text)


def _patience(seconds: float) -> float:
    """Seconds of wall clock for so many seconds of processor time."""
    return PATIENCE * seconds + PATIENCE_SECONDS
