"""Checks the log of a game, the real judge's or ours: the match is judged again, with what the log
says for answers. It is the code that judges games, on another source.

Logs of real judges have their whims, and are taken with a note: every pass twice, no passes at all,
no FINISH, no end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from core.errors import QuartetError, RuleError, TextError
from core.messages import SIDES, Abort, Debug, Entry, Finish, Init, Outcome, Ply, Score, Tag
from quartet import registry
from quartet.judge import game as games
from quartet.judge.game import Game, Start
from quartet.judge.logs import jsonl
from quartet.judge.match import Match
from quartet.judge.process.folder import Answer as FileAnswer
from quartet.judge.process.once import Ending, Run
from quartet.judge.seats.asked import AskedSeat
from quartet.judge.seats.files import judged
from quartet.judge.seats.logged import LoggedSeat
from quartet.judge.seats.seat import Answer, NotReadyError, Seat
from quartet.judge.table import Penalty, table_rules
from quartet.judge.turn import Turn, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.rules import Position
    from quartet.judge.match import Watcher
    from quartet.judge.table import TableRules

DOUBLED = "passes are printed twice"
OMITTED = "passes are not printed"
NO_FINISH = "there is no FINISH"
NO_SCORES = "there is no final score"
TORN = "the last line is torn"
BROKEN = "the game was broken off"
FIRST_TURN_LINE = 2
"""Of a log of ours."""


class DisagreementError(RuleError):
    """The log can be read, but says something that the rules do not."""


class EndOfLogError(QuartetError):
    """The log has no more turns, though the game is not over."""


class CheckedLog:
    """A log as far as it agrees with the rules.

    Attributes:
        game: Game.
        match: Match | None; the game played again, None where not even its start could be read.
        notes: list[str]; the log's whims, a sentence each.
        tags: dict[str, str]; of the header.
        complaint: str | None; where and how the log cannot be read or disagrees with the rules, in
            one sentence that begins with the line; None when it agrees.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self.match: Match | None = None
        self.notes: list[str] = []
        self.tags: dict[str, str] = {}
        self.complaint: str | None = None
        self.watchers: Sequence[Watcher] = ()
        self.rules: type[Position] | None = None

    @property
    def agrees(self) -> bool:
        """Whether all that the log says is right."""
        return self.complaint is None

    @property
    def turns(self) -> list[Turn]:
        """What was played, passes that the log omits included (in 0 ms)."""
        return [] if self.match is None else self.match.turns

    @property
    def positions(self) -> list[Any]:
        """The start position, and the one after every turn; empty where there is no start."""
        return [] if self.match is None else [*self.match.positions, self.match.position]

    def sentence(self) -> str:
        """What came out, for the command line."""
        if self.complaint is not None or self.match is None:
            return self.complaint or "there is no game"
        scores, place, _ = self.match.standing()
        name = self.game.info.score_name
        words = f"{self.match.position.ply} plies, {name} {_joined(scores)}"
        if len(scores) > len(SIDES):
            words += f", places {_joined(place)}"
        return f"ok, {words}" + "".join(f"; {note}" for note in self.notes)

    def note(self, text: str) -> None:
        """One more whim, each once."""
        if text not in self.notes:
            self.notes.append(text)


def check(
    game: Game,
    data: bytes,
    watchers: Sequence[Watcher] = (),
    *,
    rules: type[Position] | None = None,
) -> CheckedLog:
    """Play a log again, up to its end or the first line that disagrees.

    It never raises for a bad log.

    Args:
        game: Game; that the log is of.
        data: bytes; the content of the log's file.
        watchers: Sequence[Watcher]; of the match.
        rules: the class of the positions, by default that of the reference rules.
    """
    checked = CheckedLog(game)
    checked.watchers, checked.rules = watchers, rules
    reader = _tape(checked, data)
    try:
        reader.read()
    except QuartetError as error:
        said = str(error)
        checked.complaint = said if said.startswith("line ") else f"line {reader.line}: {said}"
        other = None if checked.turns else origin(data, game.info.name)
        if other is not None:
            checked.complaint = f"line 1: this is a game of {other}, not of {game.info.name}"
    return checked


def question(game: Game, data: bytes, player: Seat, seat: int, ply: int, *, follows: bool) -> Match:
    """The match of a log that agrees, with a player on one seat who is asked at a ply.

    Playing it raises AskedError with what the player has answered.

    Args:
        game: Game; data: bytes; the log.
        player: Seat; who is asked.
        seat: int; that is to move at `ply`.
        ply: int; where to ask.
        follows: bool; whether the player must play its way there.
    """
    tape = _tape(CheckedLog(game), data)
    tape.asked = seat, AskedSeat(player, tape, ply, follows=follows)
    return tape.start()


def _tape(checked: CheckedLog, data: bytes) -> _Tape:
    """The reader for a log."""
    ours = data.lstrip()[:1] == b"{" or checked.game.info.lines is None
    return (_Ours if ours else _Official)(checked, data)


def origin(data: bytes, but: str = "") -> str | None:
    """The game that a log is of, by its first lines; None where that cannot be told.

    Args:
        data: bytes; the log.
        but: str; a game that is not asked.
    """
    for name in registry.GAMES:
        if name != but and _begins(games.load(name), data):
            return name
    return None


def _begins(game: Game, data: bytes) -> bool:
    """Whether a log begins as those of a game do."""
    checked = CheckedLog(game)
    try:
        if data.lstrip()[:1] == b"{":
            first = data.split(b"\n", 1)[0] + b"\n"
            return jsonl.read_log(first).header.game == game.info.name
        if game.info.lines is None:
            return False
        _Official(checked, data).start()
    except QuartetError:
        return False
    return checked.match is not None


class _Tape:
    """A log that is read while its game is judged again.

    Attributes:
        line: int; the one at hand, from 1.
    """

    line = 1
    asked: tuple[int, Seat] | None = None

    def __init__(self, checked: CheckedLog, data: bytes) -> None:
        self.checked, self.data = checked, data

    def read(self) -> None:
        """Read all of it. Raises TextError and RuleError."""
        match = self.start()
        try:
            for turn in match.play():
                self.compare(turn)
        except EndOfLogError:
            pass
        self.finish(match)

    def start(self) -> Match:
        """The match of the log, at its start; the CheckedLog has it, too."""
        raise NotImplementedError

    def open(self, match: Match, seat: int) -> None:
        """As `quartet.judge.seats.logged.Tape`."""

    def answer(self, match: Match) -> Answer:
        """As `quartet.judge.seats.logged.Tape`."""
        raise NotImplementedError

    def compare(self, turn: Turn) -> None:
        """Raise DisagreementError where the turn that was judged is not the one of the log."""

    def finish(self, match: Match) -> None:
        """What only the whole log can tell."""

    def match(
        self, names: Sequence[str | None], table: TableRules, start: Start, seats: int
    ) -> Match:
        """The match whose answers the log tells."""
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


class _Official(_Tape):
    """The log of a judge that speaks lines."""

    def __init__(self, checked: CheckedLog, data: bytes) -> None:
        super().__init__(checked, data)
        self.lines = data.decode("utf-8-sig", "replace").split("\n")
        self.line = 0
        self.waiting: Entry | None = None
        self.finished = False
        self.abort: Abort | None = None
        self.scores: dict[int, int] = {}
        self.outcome: tuple[Outcome, int] | None = None

    def start(self) -> Match:
        game = self.checked.game
        while True:
            entry = self.next()
            match entry:
                case None:
                    raise DisagreementError("INIT must come first")
                case Init():
                    tags = self.checked.tags
                    names = [tags.get(side, "").removeprefix("COMMAND: ") for side in SIDES]
                    start = Start(0, {}, entry.text)
                    return self.match(names, table_rules(game.info), start, len(SIDES))
                case Ply() | Finish() | Score() | Abort():
                    raise DisagreementError("INIT must come first")

    def next(self) -> Entry | None:
        """The next entry that is about the game; None at the end of the log. Raises TextError."""
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
                    self.checked.note(TORN)  # whoever wrote it was stopped
                    return None
                raise
            match entry:
                case Outcome():
                    self.outcome = entry, self.line
                case Tag():
                    self.checked.tags[entry.name] = entry.text
                case Debug():
                    pass
                case _:
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
                self.abort = entry
                if entry.seat != position.to_move:
                    self.waiting = entry
                    raise EndOfLogError
                words = entry.reason or "no reason given"
                return Answer(verdict=Verdict.CRASHED, reason=words, code=entry.reason)
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
        """Whether a pass is the one that was just played, printed once more."""
        if not isinstance(entry, Ply) or entry.move != match.game.pass_move or not match.turns:
            return False
        last = match.turns[-1]
        return (last.seat, last.move) == (entry.seat, entry.move)

    def compare(self, turn: Turn) -> None:
        if turn.verdict.lost and self.abort is None:
            raise DisagreementError(turn.reason)

    def finish(self, match: Match) -> None:
        over = match.position.over
        while (entry := self.next()) is not None:
            self.take(entry, match)
        if self.abort is not None:
            words = self.abort.reason or "no reason given"
            self.checked.note(f"{SIDES[self.abort.seat]} lost by a foul: {words}")
        else:
            if not self.finished:
                self.checked.note(NO_FINISH)
            if not over:
                self.checked.note(f"{BROKEN} after {match.position.ply} plies")
            elif len(self.scores) < match.game.info.players:
                self.checked.note(NO_SCORES)
        if self.outcome is None or not (over or self.abort is not None):
            return
        outcome, self.line = self.outcome
        winner = self.winner(match)
        if winner != outcome.winner:
            said, known = _name(outcome.winner), _name(winner)
            raise DisagreementError(f"the winner is {said}, by the rules {known}")

    def take(self, entry: Entry, match: Match) -> None:
        """An entry after the last turn."""
        match entry:
            case Ply():
                if self.is_doubled(entry, match):
                    self.checked.note(DOUBLED)
                    return
                if not (self.finished or self.scores or self.abort):
                    match.position.play(entry.move)  # says that the game is over
                raise DisagreementError("a move after the end of the log")
            case Finish():
                if self.finished:
                    raise DisagreementError("a second FINISH")
                self.finished = True
            case Score():
                side = SIDES[entry.seat]
                if entry.seat in self.scores:
                    raise DisagreementError(f"a second score of {side}")
                self.scores[entry.seat] = entry.score
                expected = match.position.scores()[entry.seat]
                if self.abort is None and entry.score != expected:
                    name = match.game.info.score_name
                    raise DisagreementError(
                        f"{side} has {entry.score} {name}, by the rules {expected}"
                    )
            case Abort():
                if match.position.over:
                    raise DisagreementError("a foul after the end of the game")
                self.abort = entry
            case Init():
                raise DisagreementError("a second INIT")

    def winner(self, match: Match) -> int | None:
        """Who has won by the rules, None for a draw."""
        if self.abort is not None:
            return 1 - self.abort.seat
        place = match.standing()[1]
        return place.index(1) if place.count(1) == 1 else None


class _Ours(_Tape):
    """A log of ours, of any game."""

    def start(self) -> Match:
        self.log = jsonl.read_log(self.data)
        self.number = 0
        game, head = self.checked.game, self.log.header
        if head.game != game.info.name:
            raise DisagreementError(f"this is a game of {head.game}, not of {game.info.name}")
        ms = [1000 * head.seconds] * game.info.players
        table = table_rules(game.info, ms=ms, megabytes=head.megabytes, disqualify=head.disqualify)
        start = Start(head.seed, head.options, head.position or None)
        return self.match(head.players, table, start, len(head.players))

    @property
    def logged(self) -> Turn:
        """The turn at hand."""
        return self.log.turns[self.number]

    def open(self, match: Match, seat: int) -> None:
        foul = next((turn for turn in self.log.turns[:1] if turn.verdict.lost), None)
        if match.table.foul is Penalty.GAME and foul is not None and foul.seat == seat:
            raise NotReadyError(foul.verdict, foul.reason, foul.code)

    def answer(self, match: Match) -> Answer:
        self.number = len(match.turns)
        if self.number == len(self.log.turns):
            self.line = FIRST_TURN_LINE + self.number
            raise EndOfLogError
        turn, position = self.next_turn(), match.position
        if (turn.ply, turn.seat) != (position.ply, position.to_move):
            raise DisagreementError(
                f"a turn of seat {turn.seat} at ply {turn.ply}, where seat {position.to_move} "
                f"has ply {position.ply}"
            )
        if match.game.info.exchange is None:
            foul = turn.verdict if turn.verdict.lost else Verdict.OK
            return Answer(
                move=turn.move,
                verdict=foul,
                reason=turn.reason,
                code=turn.code,
                seconds=turn.seconds,
                ms=turn.ms,
                reveals=True,
                drawn=turn.drawn,
            )
        if turn.input != position.text():
            raise DisagreementError("the input is not what the rules would send")
        return msgspec.structs.replace(
            self.again(turn), seconds=turn.seconds, left_behind=turn.left_behind
        )

    def next_turn(self) -> Turn:
        self.line = FIRST_TURN_LINE + self.number
        return self.logged

    @staticmethod
    def again(turn: Turn) -> Answer:
        """What was left by the program, judged once more; what only the clock could tell, as
        told."""
        data = None if turn.output is None else turn.output.encode("latin-1", "replace")
        file = FileAnswer(data, turn.output_size)
        if turn.verdict in {Verdict.LATE, Verdict.MEMORY, Verdict.RESIGNED}:
            return Answer(verdict=turn.verdict, reason=turn.reason)
        if turn.verdict is Verdict.CRASHED and turn.exit is None:
            return Answer(verdict=turn.verdict, reason=turn.reason)
        exit_status = turn.exit or 0  # persons and built-in players have none
        stderr = turn.stderr.encode("latin-1", "replace")
        return judged(file, Run(Ending.EXITED, 0.0, exit=exit_status, stderr=stderr), 0.0, 0.0)

    def compare(self, turn: Turn) -> None:
        self.line = FIRST_TURN_LINE + self.number
        if self.number == len(self.log.turns):
            raise EndOfLogError  # a pass that the log has not come to
        logged = self.logged
        if (turn.ply, turn.seat) != (logged.ply, logged.seat):
            raise DisagreementError(
                f"a turn of seat {logged.seat} at ply {logged.ply}, where seat {turn.seat} has "
                f"ply {turn.ply}"
            )
        if logged.verdict.lost != (logged.move is None):
            raise DisagreementError(
                f"verdict {logged.verdict.value!r} and move {logged.move} do not fit together"
            )
        if (turn.verdict is Verdict.PASS) != (logged.verdict is Verdict.PASS):
            raise DisagreementError("a turn passes if, and only if, no move is possible")
        if turn.verdict is not logged.verdict:
            raise DisagreementError(
                f"verdict {logged.verdict.value!r}, but the answer is {turn.verdict.value!r}: "
                f"{turn.reason or turn.move}"
            )
        if turn.move != logged.move:
            raise DisagreementError(f"move {logged.move}, but the answer says {turn.move}")
        self.number += 1

    def finish(self, match: Match) -> None:
        self.line = FIRST_TURN_LINE + self.number
        if self.number < len(self.log.turns):
            raise DisagreementError("a turn after the end of the game")
        logged = self.log.result
        if logged is None:
            where = ", in the middle of a line" if self.log.cut else ""
            self.checked.note(f"{BROKEN} after {match.position.ply} plies{where}")
            return
        if match.result is None:
            raise DisagreementError("the result stands before the end of the game")
        for name in ("plies", "scores", "places", "shares", "lost", "disqualified"):
            said, known = getattr(logged, name), getattr(match.result, name)
            if said != known:
                raise DisagreementError(f"{name} {said}, by the rules {known}")


def _joined(values: list[int | None]) -> str:
    return " ".join("-" if value is None else str(value) for value in values)


def _name(seat: int | None) -> str:
    return "nobody" if seat is None else SIDES[seat]
