"""A seat of a persistent program that speaks a line protocol, as for the NYPC and ALPHANO judges.

Decisions on what the real judges leave open:
- The limit of READY runs from the start of the process.
- Lines that come before they are asked for are the next answers: the real judges read from a pipe,
  too.
- A dead program is noticed when it is asked; a game that ends before that is scored.
- A program that runs on after FINISH gets SIGTERM after 1 s, and is killed after 2 s. That, or an
  exit status other than 0, is noted. The score counts, as in the official tools (NYPC's graders
  demand status 0).
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.errors import QuartetError, TextError
from core.limits import SearchInfo
from core.messages import Drew, Finish, Init, Message, Opponent, Ready, YourTurn
from core.rules import Position
from quartet.judge.judging import LATE_CODE, MEMORY_CODE, judge_answer
from quartet.judge.match import Match
from quartet.judge.process.folder import ANSWER_LIMIT
from quartet.judge.process.live import LiveProgram, NotStartedError, ReadStatus, Reply
from quartet.judge.process.pipes import Hub
from quartet.judge.process.words import describe_exit, last_words
from quartet.judge.seats.seat import Answer, NotReadyError, Seat, read_info
from quartet.judge.turn import ExitReport, Turn, Verdict

PATIENCE, PATIENCE_SECONDS = 4.0, 1.0
"""If the clock counts processor time, a program that sleeps, or gets no processor, is late after
PATIENCE times the limit plus PATIENCE_SECONDS of wall clock."""
ENGINE = "engine."
"""Prefix of the file name of a compiled engine."""
FLUSH = "; it is running and has written nothing: does it flush its output?"


@dataclass(frozen=True)
class Command:
    """The start of a program.

    Attributes:
        command: A string for the system's shell, or a list of arguments.
        cwd: Working directory [default: the current one].
        env: Additions to the environment.
    """

    command: str | Sequence[str]
    cwd: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)


class LineSeat(Seat):
    """A persistent program. All programs of a match share a hub."""

    def __init__(self, command: Command, hub: Hub) -> None:
        super().__init__()
        self._command = command
        self._hub = hub
        self._program: LiveProgram | None = None
        self._seat = 0
        self._charged = 0.0
        self._budget = 0
        self._reported = 0
        self._since = 0

    def open(self, match: Match, seat: int) -> None:
        """Start the program, and wait until it is ready. Raises NotReadyError."""
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
        """Send the start position, if this judge does."""
        if match.game.lines.init:
            self._say(match, Init(match.position.text()))

    def ask(self, match: Match) -> Answer:
        """Tell the program that it is its turn, and wait for the answer."""
        program, left = self._alive, match.clocks[self._seat]
        self._hub.move(0)
        if program.pipes.received:
            self.notes.append("writes before it is asked")
        reply = self._call(match)
        waited = (self._budget - left) / 1000 + reply.seconds
        answer = self._answer(match, reply, left, waited)
        if match.table.cpu and not answer.verdict.lost:
            self._charged = reply.cpu
        return answer

    def again(self, match: Match, turn: Turn) -> None:
        """Let the program find its recorded move again: no message tells it what it has played."""
        found = judge_answer(match.game, self.ask(match), match.position)
        if found.move != turn.move:
            raise QuartetError(
                f"the game cannot resume: the program of {match.game.label(self._seat)} does not "
                f"repeat its move of ply {turn.ply}"
            )

    def heard(self, match: Match, turn: Turn, before: Position) -> None:
        """Send the opponent's move, or the program's draw."""
        del before
        if self._program is None or turn.move is None:
            return
        if turn.seat != self._seat:
            self._say(match, Opponent(turn.move, turn.drawn, max(1, turn.ms)), more=True)
        elif match.game.info.chance:
            self._say(match, Drew(turn.drawn))

    def loaded(self) -> frozenset[str]:
        """Return the engine files that the program has loaded (Linux only)."""
        return frozenset() if self._program is None else self._program.loaded(ENGINE)

    def said(self) -> list[str]:
        """Return the lines of standard error since the last call."""
        if self._program is None:
            return []
        lines = self._program.pipes.stderr.lines
        if len(lines) == self._reported:
            return []
        new, self._reported = lines[self._reported :], len(lines)
        return new

    def dismiss(self, match: Match) -> None:
        """Send FINISH."""
        if self._program is not None:
            line = match.game.protocol.format_message(Finish(), self._seat)
            self._program.dismiss(line)

    def end(self, *, at_once: bool) -> ExitReport | None:
        """End the program, note irregularities, and report its exit."""
        if self._program is None:
            return None
        report = self._program.end(at_once=at_once)
        if not at_once:
            self._note(report)
        return report

    def close(self) -> None:
        """Kill the program, if it is running."""
        if self._program is not None:
            self._program.end(at_once=True)

    @property
    def _alive(self) -> LiveProgram:
        assert self._program is not None  # noqa: S101  (`open` comes first)
        return self._program

    def _call(self, match: Match) -> Reply:
        program, left = self._alive, match.clocks[self._seat]
        theirs = match.clocks[1 - self._seat]
        if not match.table.cpu:
            started = time.perf_counter()  # waking the program may cost the judge the processor
            self._say(match, YourTurn(left, theirs))
            return program.receive(left / 1000, since=started)
        used = program.cpu() - self._charged
        started = time.perf_counter()
        self._say(match, YourTurn(max(1, left - math.ceil(used * 1000)), theirs))
        until = self._charged + left / 1000
        return program.receive(_patience(left / 1000), since=started, cpu_until=until)

    def _answer(
        self, match: Match, reply: Reply, limit_ms: int, waited: float, *, ready: bool = False
    ) -> Answer:
        """Return the answer in a reply, or a forfeit.

        Args:
            match: The match.
            reply: What came of waiting for a line.
            limit_ms: Milliseconds that the program had.
            waited: Seconds of wall clock that the judge has waited for it in all.
            ready: True if the answer is to READY.
        """
        program = self._alive
        if reply.status is ReadStatus.LINE and reply.line is not None:
            charged = reply.cpu - self._charged if match.table.cpu else reply.seconds
            text = reply.line.decode("ascii", "replace")
            return Answer(
                text=text,
                seconds=reply.seconds,
                ms=max(1, math.ceil(1000 * charged)),
                output=text[:ANSWER_LIMIT],
                output_size=len(reply.line),
                info=self._info(program),
            )
        when = "before it was ready" if ready else f"at ply {match.position.ply}"
        if reply.status is ReadStatus.LATE:
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
        if reply.status is ReadStatus.MEMORY:
            limit = f"{match.table.megabytes:g}"
            reason = f"held {program.megabytes:.0f} MB {when}, more than {limit}"
            return Answer(
                verdict=Verdict.MEMORY, reason=reason, code=MEMORY_CODE, seconds=reply.seconds
            )
        if reply.status is ReadStatus.FLOOD:
            reason = f"wrote a line without end {when}"
        else:
            status = program.last_words()
            gone = status is None
            how = "" if status is None else describe_exit(status)
            reason = f"closed its output {when}" if gone else f"ended {when}: {how}"
            words = last_words(program.pipes.stderr.lines)
            reason += f": {words}" if words else ""
        code = self._empty_code(match, ready=ready)
        return Answer(verdict=Verdict.CRASHED, reason=reason, code=code, seconds=reply.seconds)

    def _info(self, program: LiveProgram) -> SearchInfo | None:
        """Return what the program reports of this search."""
        lines = program.pipes.stderr.lines
        if len(lines) == self._since:
            return None
        new, self._since = lines[self._since :], len(lines)
        return read_info("\n".join(new))

    @staticmethod
    def _empty_code(match: Match, *, ready: bool) -> str:
        """Return the judge's code for a missing answer: to it the end of output is an empty
        line."""
        try:
            if ready:
                match.game.protocol.check_ready("")
            else:
                match.game.protocol.parse_answer("", match.position.to_move)
        except TextError as error:
            return error.code
        return ""

    def _say(self, match: Match, message: Message, *, more: bool = False) -> None:
        """Send a message; with `more`, another one follows at once."""
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
    """Return the limit of wall clock for a limit of processor time, both in seconds."""
    return PATIENCE * seconds + PATIENCE_SECONDS
