"""Replays of logs: each gives the answers of a log, and compares every judged turn with it.

Logs of real judges deviate in known ways, which are accepted with a note: passes that are printed
twice or not at all, no FINISH, no end.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from core.errors import QuartetError, RuleError, TextError
from core.messages import SIDES, Abort, Debug, Entry, Finish, Init, Ply, Score, Tag, Winner
from quartet.judge.game import Start
from quartet.judge.judging import verdict_of
from quartet.judge.logs import jsonl
from quartet.judge.logs.checked import CheckedLog
from quartet.judge.match import Match
from quartet.judge.process.folder import AnswerFile
from quartet.judge.process.once import Ending, ProcessResult
from quartet.judge.seats.files import judged
from quartet.judge.seats.logged import LoggedSeat
from quartet.judge.seats.seat import Answer, ForfeitError, NotReadyError, Seat
from quartet.judge.table import Penalty, TableRules, table_rules
from quartet.judge.turn import Turn, Verdict

DOUBLED = "passes are printed twice"
OMITTED = "passes are not printed"
NO_FINISH = "there is no FINISH"
NO_SCORES = "there is no final score"
TORN = "the last line is incomplete"
ABORTED = "the game was aborted"
FIRST_TURN_LINE = 2
"""Line of the first turn in a JSON Lines log."""


class DisagreementError(RuleError):
    """The log can be read, but disagrees with the rules."""


class EndOfLogError(QuartetError):
    """The log has no more turns, but the game has not ended."""


class LogReplay:
    """A log that is read while its game is judged again.

    Attributes:
        line: The present line, from 1.
        asked: A seat, and the player who is asked on it; None to follow the log on all seats.
    """

    line = 1
    asked: tuple[int, Seat] | None = None

    def __init__(self, checked: CheckedLog, data: bytes) -> None:
        self.checked, self.data = checked, data

    def read(self) -> None:
        """Check the whole log. Raises TextError and RuleError."""
        match = self.start()
        try:
            for turn in match.play():
                self.compare(turn)
        except EndOfLogError:
            pass
        self.finish(match)

    def start(self) -> Match:
        """Return the match at its start, and set it in the CheckedLog."""
        raise NotImplementedError

    def open(self, match: Match, seat: int) -> None:
        """Begin the game. Raises NotReadyError if the log says that the seat was not ready."""

    def answer(self, match: Match) -> Answer:
        """Return the log's answer of the seat to move.

        Raises:
            DisagreementError: The log has no turn that fits.
            EndOfLogError: The log ends here.
            ForfeitError: The log ends here, by a forfeit of another seat.
        """
        raise NotImplementedError

    def compare(self, turn: Turn) -> None:
        """Raise DisagreementError if a judged turn is not the log's."""

    def finish(self, match: Match) -> None:
        """Check what is known only at the end of the log."""

    def match(
        self, names: Sequence[str | None], table: TableRules, start: Start, seats: int
    ) -> Match:
        """Return the match whose answers are the log's."""
        players: list[Seat | None] = [
            None if name is None else LoggedSeat(self) for name in names[:seats]
        ]
        if self.asked is not None:
            players[self.asked[0]] = self.asked[1]
        checked = self.checked
        checked.match = Match(
            checked.game,
            players,
            names,
            table,
            start,
            rules=checked.rules,
            watchers=checked.watchers,
        )
        return checked.match


class OfficialReplay(LogReplay):
    """The log of a line-protocol judge."""

    def __init__(self, checked: CheckedLog, data: bytes) -> None:
        super().__init__(checked, data)
        self.lines = data.decode("utf-8-sig", "replace").split("\n")
        self.line = 0
        self.waiting: Entry | None = None
        self.finished = False
        self.abort: Abort | None = None
        self.scores: dict[int, int] = {}
        self.outcome: tuple[Winner, int] | None = None

    def start(self) -> Match:
        entry = self.next()
        if not isinstance(entry, Init):
            raise DisagreementError("INIT must come first")
        names = [self.checked.tags.get(side, "").removeprefix("COMMAND: ") for side in SIDES]
        table = table_rules(self.checked.game.info)
        return self.match(names, table, Start(0, {}, entry.text), len(SIDES))

    def next(self) -> Entry | None:
        """Return the next entry about the game, None at the end of the log. Raises TextError."""
        if self.waiting is not None:
            entry, self.waiting = self.waiting, None
            return entry
        while self.line < len(self.lines):
            self.line += 1
            line = self.lines[self.line - 1]
            if not line.strip():
                continue
            try:
                entry = self.checked.game.protocol.parse_entry(line.rstrip("\r"))
            except TextError:
                began = self.checked.match is not None and not self.finished
                if self.line == len(self.lines) and began:
                    self.checked.note(TORN)  # its writer was stopped
                    return None
                raise
            if isinstance(entry, Winner):
                self.outcome = entry, self.line
            elif isinstance(entry, Tag):
                self.checked.tags[entry.name] = entry.text
            elif not isinstance(entry, Debug):
                return entry
        return None

    def answer(self, match: Match) -> Answer:
        position, pass_move = match.position, match.game.pass_move
        entry = self.next()
        while self.is_doubled(entry, match):
            self.checked.note(DOUBLED)
            entry = self.next()
        match entry:
            case None:
                raise EndOfLogError
            case Ply() if entry.seat == position.to_move:
                return Answer(move=entry.move, ms=entry.ms, reveals=True, drawn=entry.drawn)
            case Abort():
                self.abort, code = entry, entry.reason
                verdict, reason = verdict_of(code), code or "no reason given"
                if entry.seat != position.to_move:
                    raise ForfeitError(
                        Turn(position.ply, entry.seat, verdict=verdict, reason=reason, code=code)
                    )
                return Answer(verdict=verdict, reason=reason, code=code)
            case Init():
                raise DisagreementError("a second INIT")
        if pass_move in position.legal():
            self.waiting = entry
            self.checked.note(OMITTED)
            return Answer(move=pass_move, ms=0, reveals=True)
        if isinstance(entry, Ply):
            side = SIDES[entry.seat]
            raise DisagreementError(f"{side} moves, but it is the other's turn")
        raise DisagreementError("the log ends the game, but it is not over")

    def is_doubled(self, entry: Entry | None, match: Match) -> bool:
        """Return True if an entry repeats the pass that was just played."""
        if not isinstance(entry, Ply) or entry.move != match.game.pass_move or not match.turns:
            return False
        last = match.turns[-1]
        return (last.seat, last.move) == (entry.seat, entry.move)

    def compare(self, turn: Turn) -> None:
        _require(self.abort is not None or not turn.verdict.lost, turn.reason)

    def finish(self, match: Match) -> None:
        over = match.position.over
        while (entry := self.next()) is not None:
            self.take(entry, match)
        if self.abort is not None:
            words = self.abort.reason or "no reason given"
            self.checked.note(f"{SIDES[self.abort.seat]} forfeited the game: {words}")
        else:
            if not self.finished:
                self.checked.note(NO_FINISH)
            if not over:
                self.checked.note(f"{ABORTED} after {match.position.ply} plies")
            elif len(self.scores) < match.game.info.players:
                self.checked.note(NO_SCORES)
        if self.outcome is None or match.result is None:
            return
        outcome, self.line = self.outcome
        winner = match.result.winner
        said, known = _name(outcome.winner), _name(winner)
        _require(winner == outcome.winner, f"the winner is {said}, by the rules {known}")

    def take(self, entry: Entry, match: Match) -> None:
        """Check an entry after the last turn."""
        match entry:
            case Ply():
                if self.is_doubled(entry, match):
                    self.checked.note(DOUBLED)
                    return
                if not (self.finished or self.scores or self.abort):
                    match.position.play(entry.move)  # raises: the game is over
                raise DisagreementError("a move after the end of the log")
            case Finish():
                _require(not self.finished, "a second FINISH")
                self.finished = True
            case Score():
                side = SIDES[entry.seat]
                _require(entry.seat not in self.scores, f"a second score of {side}")
                self.scores[entry.seat] = entry.score
                expected = match.position.scores()[entry.seat]
                _require(
                    self.abort is not None or entry.score == expected,
                    f"{side} has {entry.score} {match.game.info.score_name}, by the rules {expected}",
                )
            case Abort():
                _require(not match.position.over, "a forfeit after the end of the game")
                self.abort = entry
            case Init():
                raise DisagreementError("a second INIT")


class JsonlReplay(LogReplay):
    """A JSON Lines log of this toolkit, of any game."""

    def start(self) -> Match:
        self.log = jsonl.read_log(self.data)
        self.number = 0
        game, head = self.checked.game, self.log.header
        _require(
            head.game == game.info.name, f"this is a game of {head.game}, not of {game.info.name}"
        )
        return self.match(head.players, head.table(game), head.start(), len(head.players))

    @property
    def logged(self) -> Turn:
        """The present turn."""
        return self.log.turns[self.number]

    def open(self, match: Match, seat: int) -> None:
        forfeit = next((turn for turn in self.log.turns[:1] if turn.verdict.lost), None)
        if match.table.penalty is Penalty.GAME and forfeit is not None and forfeit.seat == seat:
            raise NotReadyError(forfeit.verdict, forfeit.reason, forfeit.code)

    def answer(self, match: Match) -> Answer:
        self.number = len(match.turns)
        self.line = FIRST_TURN_LINE + self.number
        if self.number == len(self.log.turns):
            raise EndOfLogError
        turn, position = self.logged, match.position
        self.require_next(turn, position.ply, position.to_move)
        if match.game.info.exchange is None:
            return Answer(
                move=turn.move,
                verdict=turn.verdict if turn.verdict.lost else Verdict.OK,
                reason=turn.reason,
                code=turn.code,
                seconds=turn.seconds,
                ms=turn.ms,
                reveals=True,
                drawn=turn.drawn,
            )
        _require(turn.input == position.text(), "the input is not what the rules would send")
        return msgspec.structs.replace(
            self.again(turn), seconds=turn.seconds, left_behind=turn.left_behind
        )

    @staticmethod
    def require_next(turn: Turn, ply: int, seat: int) -> None:
        """Raise DisagreementError if a logged turn is not of this ply and seat."""
        _require(
            (turn.ply, turn.seat) == (ply, seat),
            f"a turn of seat {turn.seat} at ply {turn.ply}, where seat {seat} has ply {ply}",
        )

    @staticmethod
    def again(turn: Turn) -> Answer:
        """Judge the program's output again; trust the log for what only the clock could tell."""
        if turn.verdict in {Verdict.LATE, Verdict.MEMORY, Verdict.RESIGNED} or (
            turn.verdict is Verdict.CRASHED and turn.exit is None
        ):
            return Answer(verdict=turn.verdict, reason=turn.reason)
        data = None if turn.output is None else turn.output.encode("latin-1", "replace")
        exit_status = turn.exit or 0  # humans and built-in players have none
        stderr = turn.stderr.encode("utf-8", "replace")
        outcome = ProcessResult(Ending.EXITED, 0.0, exit=exit_status, stderr=stderr)
        return judged(AnswerFile(data, turn.output_size), outcome, 0.0, 0.0)

    def compare(self, turn: Turn) -> None:
        self.line = FIRST_TURN_LINE + self.number
        if self.number == len(self.log.turns):
            raise EndOfLogError  # a pass that the log does not have yet
        logged = self.logged
        self.require_next(logged, turn.ply, turn.seat)
        verdict, said = turn.verdict, logged.verdict
        _require(
            said.lost == (logged.move is None),
            f"verdict {said.value!r} and move {logged.move} do not fit together",
        )
        _require(
            (verdict is Verdict.PASS) == (said is Verdict.PASS),
            "a turn passes if, and only if, no move is possible",
        )
        _require(
            said is verdict,
            f"verdict {said.value!r}, but the answer is {verdict.value!r}: "
            f"{turn.reason or turn.move}",
        )
        _require(turn.move == logged.move, f"move {logged.move}, but the answer says {turn.move}")
        self.number += 1

    def finish(self, match: Match) -> None:
        self.line = FIRST_TURN_LINE + self.number
        _require(self.number >= len(self.log.turns), "a turn after the end of the game")
        logged = self.log.result
        if logged is None:
            where = ", in the middle of a line" if self.log.cut else ""
            self.checked.note(f"{ABORTED} after {match.position.ply} plies{where}")
            return
        _require(match.result is not None, "the result comes before the end of the game")
        for name in ("plies", "scores", "places", "shares", "lost", "disqualified"):
            said, known = getattr(logged, name), getattr(match.result, name)
            _require(said == known, f"{name} {said}, by the rules {known}")


def _require(condition: bool, message: str) -> None:
    """Raise DisagreementError unless a condition is true."""
    if not condition:
        raise DisagreementError(message)


def _name(seat: int | None) -> str:
    return "no player" if seat is None else SIDES[seat]
