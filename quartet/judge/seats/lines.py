"""A seat that is played by a program which lives as long as the game and speaks lines, as with the
NYPC and ALPHANO judges.

Decisions, where the real judges leave something open:
- The limit of READY runs from the start of the process.
- Lines that come before they are asked for are kept, and are the next answers: the real judges read
  from a pipe, too.
- A player that is dead is found out when it is asked; a game that ends before that is scored.
- A program that does not end after FINISH is asked to after 1 s and killed after 2 s. That, or an
  exit status other than 0, is noted; the score stands, as in the official tools (NYPC's graders
  demand status 0).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.errors import TextError
from core.messages import Drew, Finish, Init, Message, Opponent, Ready
from core.messages import Turn as Call
from quartet.judge.process.live import LiveProgram, NotStartedError, Reply, Word
from quartet.judge.process.words import describe_exit, last_words
from quartet.judge.seats.seat import Answer, NotReadyError, Seat, read_info
from quartet.judge.turn import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from core.limits import SearchInfo
    from core.rules import Position
    from quartet.judge.match import Match
    from quartet.judge.process.pipes import Hub
    from quartet.judge.turn import ExitReport, Turn

LATE_CODE, MEMORY_CODE = "TLE", "MLE"
"""What the log says of a foul for which the game's protocol has no code."""
PATIENCE, PATIENCE_SECONDS = 4.0, 1.0
"""Where the clock counts processor time, the wall clock may run this much faster, and so many
seconds more, before a program that sleeps, or gets no processor, is given up."""
ENGINE = "engine."
"""What the name of a compiled engine begins with."""
FLUSH = "; it lives and has written nothing: does it flush its output?"


@dataclass(frozen=True)
class Command:
    """How a program is started.

    Attributes:
        command: str | Sequence[str]; for the system's shell, or a list of arguments.
        cwd: Path | None; the folder to run it in, ours by default.
        env: Mapping[str, str]; on top of the environment that programs get.
    """

    command: str | Sequence[str]
    cwd: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)


class LineSeat(Seat):
    """One live program. All programs of a match share a hub."""

    def __init__(self, command: Command, hub: Hub) -> None:
        super().__init__()
        self._command = command
        self._hub = hub
        self._program: LiveProgram | None = None
        self._seat = 0
        self._charged = 0.0
        self._budget = 0
        self._remarked = 0
        self._since = 0

    def open(self, match: Match, seat: int) -> None:
        """Start the program and wait until it is ready. Raises NotReadyError."""
        table, command = match.table, self._command
        self._seat, self._budget = seat, match.clocks[seat]
        try:
            program = LiveProgram(
                self._hub,
                command.command,
                cwd=command.cwd,
                env=command.env,
                megabytes=table.megabytes,
            )
        except NotStartedError as error:
            code = self._empty_code(match, ready=True)
            reason = f"cannot be started: {error.strerror}"
            raise NotReadyError(Verdict.CRASHED, reason, code) from error
        self._program = program
        self._say(match, Ready(seat))
        limit = table.ready_ms / 1000
        if table.cpu:
            reply = program.receive(_patience(limit), since=program.started, cpu_until=limit)
        else:
            reply = program.receive(limit, since=program.started)
        waited = time.perf_counter() - program.started
        answer = self._answer(match, reply, table.ready_ms, waited, ready=True)
        if answer.verdict.lost:
            raise NotReadyError(
                answer.verdict, answer.reason, answer.code, overloaded=answer.overloaded
            )
        try:
            match.game.protocol.check_ready(answer.text or "")
        except TextError as error:
            reason = f"was not ready: {error}"
            raise NotReadyError(Verdict.CRASHED, reason, error.code) from error
        program.begin_load()
        self._charged = reply.cpu

    def begin(self, match: Match) -> None:
        """Say where the game begins, if this judge does."""
        if match.game.lines.init:
            self._say(match, Init(match.position.text()))

    def ask(self, match: Match) -> Answer:
        """Say that it is the seat's turn, and wait for the answer."""
        program, left = self._alive, match.clocks[self._seat]
        self._hub.move(0)
        if program.pipes.received:
            self.notes.append("says something before it is asked")
        reply = self._call(match)
        waited = (self._budget - left) / 1000 + reply.seconds
        answer = self._answer(match, reply, left, waited)
        if match.table.cpu and not answer.verdict.lost:
            self._charged = reply.cpu
        return answer

    def heard(self, match: Match, turn: Turn, before: Position) -> None:
        """Tell the program what it does not know."""
        del before
        if self._program is None or turn.move is None:
            return
        if turn.seat != self._seat:
            self._say(match, Opponent(turn.move, turn.drawn, max(1, turn.ms)), more=True)
        elif match.game.info.chance:
            self._say(match, Drew(turn.drawn))

    def loaded(self) -> frozenset[str]:
        """Files of engines that the program has loaded, where the system tells."""
        return frozenset() if self._program is None else self._program.loaded(ENGINE)

    def said(self) -> list[str]:
        """Lines of standard error that have come since the last call."""
        if self._program is None:
            return []
        lines = self._program.pipes.remarks.lines
        if len(lines) == self._remarked:
            return []
        new, self._remarked = lines[self._remarked :], len(lines)
        return new

    def dismiss(self, match: Match) -> None:
        """Say that the game is over."""
        if self._program is not None:
            line = match.game.protocol.format_message(Finish(), self._seat)
            self._program.dismiss(line)

    def end(self, *, at_once: bool) -> ExitReport | None:
        """What became of the program, which ends now; what is odd about that is noted."""
        if self._program is None:
            return None
        report = self._program.end(at_once=at_once)
        if not at_once:
            self._note(report)
        return report

    def close(self) -> None:
        """Kill the program, if it lives."""
        if self._program is not None:
            self._program.end(at_once=True)

    @property
    def _alive(self) -> LiveProgram:
        assert self._program is not None  # noqa: S101  (nobody is asked before `open`)
        return self._program

    def _call(self, match: Match) -> Reply:
        program, left = self._alive, match.clocks[self._seat]
        theirs = match.clocks[1 - self._seat]
        if not match.table.cpu:
            started = time.perf_counter()  # waking the program may cost us the processor
            self._say(match, Call(left, theirs))
            return program.receive(left / 1000, since=started)
        used = program.cpu() - self._charged
        started = time.perf_counter()
        self._say(match, Call(max(1, left - math.ceil(used * 1000)), theirs))
        until = self._charged + left / 1000
        return program.receive(_patience(left / 1000), since=started, cpu_until=until)

    def _answer(
        self, match: Match, reply: Reply, limit_ms: int, waited: float, *, ready: bool = False
    ) -> Answer:
        """The line that has come, or the foul that none has.

        Args:
            match: Match.
            reply: Reply.
            limit_ms: int; milliseconds that the program had.
            waited: float; seconds of wall clock that it has had in all.
            ready: bool; whether the answer is to READY.
        """
        program = self._alive
        if reply.word is Word.LINE and reply.line is not None:
            charged = reply.cpu - self._charged if match.table.cpu else reply.seconds
            text = reply.line.decode("ascii", "replace")
            return Answer(
                text=text,
                seconds=reply.seconds,
                ms=max(1, math.ceil(1000 * charged)),
                output=text,
                output_size=len(reply.line),
                info=self._info(program),
            )
        when = "before it was ready" if ready else f"at ply {match.position.ply}"
        if reply.word is Word.LATE:
            kind = "processor time" if match.table.cpu else "wall clock"
            reason = f"gave no answer {when} within {limit_ms} ms of {kind}"
            overload = program.overload(waited)
            reason += f"; {overload}" if overload else ""
            reason += FLUSH if not program.pipes.written else ""
            return Answer(
                verdict=Verdict.LATE,
                reason=reason,
                code=LATE_CODE,
                overloaded=overload is not None,
                seconds=reply.seconds,
            )
        if reply.word is Word.MEMORY:
            limit = f"{match.table.megabytes:g}"
            reason = f"held {program.megabytes:.0f} MB {when}, more than {limit}"
            return Answer(
                verdict=Verdict.MEMORY, reason=reason, code=MEMORY_CODE, seconds=reply.seconds
            )
        if reply.word is Word.FLOOD:
            reason = f"wrote a line without end {when}"
        else:
            status = program.last_words()
            gone = status is None
            how = "" if status is None else describe_exit(status)
            reason = f"closed its output {when}" if gone else f"ended {when}: {how}"
            words = last_words(program.pipes.remarks.lines)
            reason += f": {words}" if words else ""
        code = self._empty_code(match, ready=ready)
        return Answer(verdict=Verdict.CRASHED, reason=reason, code=code, seconds=reply.seconds)

    def _info(self, program: LiveProgram) -> SearchInfo | None:
        """What the program has told of this search."""
        lines = program.pipes.remarks.lines
        if len(lines) == self._since:
            return None
        new, self._since = lines[self._since :], len(lines)
        return read_info("\n".join(new))

    @staticmethod
    def _empty_code(match: Match, *, ready: bool) -> str:
        """What the game's judge calls an answer that does not come: to it, the end of the output is
        an empty line."""
        try:
            if ready:
                match.game.protocol.check_ready("")
            else:
                match.game.protocol.parse_answer("", match.position.to_move)
        except TextError as error:
            return error.code
        return ""

    def _say(self, match: Match, message: Message, *, more: bool = False) -> None:
        """Speak to the program; `more` will follow at once."""
        self._alive.send(match.game.protocol.format_message(message, self._seat), more=more)

    def _note(self, report: ExitReport) -> None:
        if report.exit is None:
            self.notes.append("had to be killed after FINISH")
        elif report.asked:
            self.notes.append("had to be asked to end after FINISH")
        elif report.exit != 0:
            self.notes.append(f"ended with {describe_exit(report.exit)} after FINISH")
        if report.left_behind:
            plural = "" if report.left_behind == 1 else "es"
            self.notes.append(f"left {report.left_behind} process{plural} running")


def _patience(seconds: float) -> float:
    """Seconds of wall clock for so many seconds of processor time."""
    return PATIENCE * seconds + PATIENCE_SECONDS
