"""Checking the log of a line judge against the reference rules, move by move. It knows no game.

Logs of real judges have their whims, and are taken with a note: every pass twice, no passes at all,
no FINISH, no end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from core.errors import RuleError, TextError
from core.messages import SIDES, Abort, Debug, Entry, Finish, Init, Outcome, Ply, Score, Tag
from core.rules import ChancePosition, DrawnPosition, GameInfo, LineProtocol, Move, places

DOUBLED = "passes are printed twice"
OMITTED = "passes are not printed"
NO_FINISH = "there is no FINISH"
NO_SCORES = "there is no final score"
TORN = "the last line is torn"


class DisagreementError(RuleError):
    """The log says something that the rules do not; the message names the line."""


@dataclass
class Replay:
    """A log as far as it was read.

    Attributes:
        positions: the start position, and the one after every ply.
        plies: what was played, passes that the log omits included (in 0 ms).
        notes: the log's whims, a sentence each.
        tags: the header: name -> text.
        abort: the foul by which the game ended, None where it did not.
        complaint: where and how the log disagrees with the rules, in one sentence that begins with
            the line; None when it agrees.
    """

    positions: list[DrawnPosition] = field(default_factory=list)
    plies: list[Ply] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)
    abort: Abort | None = None
    complaint: str | None = None

    @property
    def agrees(self) -> bool:
        """Whether all that the log says is right."""
        return self.complaint is None

    def sentence(self, score_name: str) -> str:
        """What came out, for the command line; `score_name` as in GameInfo."""
        if self.complaint is not None:
            return self.complaint
        scores = " ".join(map(str, self.positions[-1].scores()))
        notes = "".join(f"; {note}" for note in self.notes)
        return f"ok, {len(self.plies)} plies, {score_name} {scores}{notes}"


def replay(
    text: str, info: GameInfo, protocol: LineProtocol, rules: type[DrawnPosition], pass_move: Move
) -> Replay:
    """Play a log after, up to its end or the first line that disagrees. `pass_move` is the game's
    PASS. It never raises for a bad log."""
    reader = _Reader(info, protocol, rules, pass_move)
    try:
        reader.read(text)
    except (RuleError, TextError) as error:
        reader.replay.complaint = f"line {reader.line}: {error}"
    return reader.replay


class _Reader:
    """The state of reading one log; its methods raise TextError and RuleError for the line at
    hand."""

    def __init__(
        self, info: GameInfo, protocol: LineProtocol, rules: type[DrawnPosition], pass_move: Move
    ) -> None:
        self.info = info
        self.protocol = protocol
        self.rules = rules
        self.pass_move = pass_move
        self.line = 1
        self.replay = Replay()
        self.finished = False
        self.scores: dict[int, tuple[int, int]] = {}
        """Seat -> its score by the log, and the line that says so."""
        self.outcome: tuple[Outcome, int] | None = None

    def read(self, text: str) -> None:
        lines = text.split("\n")
        for self.line, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                entry = self.protocol.parse_entry(line.rstrip("\r"))
            except TextError:
                if self.line == len(lines) and self.replay.positions and not self.finished:
                    self.note(TORN)  # whoever wrote it was stopped
                    break
                raise
            self.take(entry)
        self.end()

    def take(self, entry: Entry) -> None:
        match entry:
            case Init():
                if self.replay.positions:
                    raise DisagreementError("a second INIT")
                self.replay.positions.append(self.rules.parse(entry.text))
            case Ply():
                self.ply(entry)
            case Finish():
                if self.finished:
                    raise DisagreementError("a second FINISH")
                self.finished = True
                self.must_be_over()
            case Score():
                if entry.seat in self.scores:
                    raise DisagreementError(f"a second score of {SIDES[entry.seat]}")
                self.scores[entry.seat] = entry.score, self.line
                self.check_score(entry)
            case Abort():
                if self.position.over:
                    raise DisagreementError("a foul after the end of the game")
                self.replay.abort = entry
                self.note(
                    f"{SIDES[entry.seat]} lost by a foul: {entry.reason or 'no reason given'}"
                )
            case Outcome():
                self.outcome = entry, self.line
            case Tag():
                self.replay.tags[entry.name] = entry.text
            case Debug():
                pass

    @property
    def position(self) -> DrawnPosition:
        if not self.replay.positions:
            raise DisagreementError("INIT must come first")
        return self.replay.positions[-1]

    def ply(self, entry: Ply) -> None:
        last = self.replay.plies[-1] if self.replay.plies else None
        if (
            entry.move == self.pass_move
            and last is not None
            and (last.seat, last.move) == (entry.seat, entry.move)
        ):
            self.note(DOUBLED)
            return
        if self.finished or self.scores or self.replay.abort:
            raise DisagreementError("a move after the end of the log")
        if entry.seat != self.position.to_move and self.pass_move in self.position.legal():
            self.play(Ply(self.position.to_move, self.pass_move, None, 0))
            self.note(OMITTED)
        if entry.seat != self.position.to_move:
            raise DisagreementError(f"{SIDES[entry.seat]} moves, but it is the other's turn")
        self.play(entry)

    def play(self, ply: Ply) -> None:
        position = self.position.play(ply.move)
        if self.info.chance:
            position = cast("ChancePosition", position).reveal(ply.drawn)
        self.replay.positions.append(position)
        self.replay.plies.append(ply)

    def must_be_over(self) -> None:
        """The log says that the game has ended: any passes that it lacks are the last ones."""
        if self.replay.abort is not None:
            return
        while not self.position.over and self.pass_move in self.position.legal():
            self.play(Ply(self.position.to_move, self.pass_move, None, 0))
            self.note(OMITTED)
        if not self.position.over:
            raise DisagreementError("the log ends the game, but it is not over")

    def check_score(self, entry: Score) -> None:
        self.must_be_over()
        expected = self.position.scores()[entry.seat]
        if self.replay.abort is None and entry.score != expected:
            raise DisagreementError(
                f"{SIDES[entry.seat]} has {entry.score} {self.info.score_name}, by the rules {expected}"
            )

    def end(self) -> None:
        """What only the whole log can tell."""
        position = self.position
        if self.replay.abort is None:
            if not self.finished:
                self.note(NO_FINISH)
            if not position.over:
                self.note(f"the game was broken off after {position.ply} plies")
            elif len(self.scores) < self.info.players:
                self.note(NO_SCORES)
        if self.outcome is None:
            return
        outcome, self.line = self.outcome
        winner = self.winner()
        if winner != outcome.winner and (position.over or self.replay.abort is not None):
            raise DisagreementError(
                f"the winner is {_name(outcome.winner)}, by the rules {_name(winner)}"
            )

    def winner(self) -> int | None:
        if self.replay.abort is not None:
            return 1 - self.replay.abort.seat
        place = places(self.position.scores(), lower_wins=self.info.lower_wins)
        return place.index(1) if place.count(1) == 1 else None

    def note(self, text: str) -> None:
        if text not in self.replay.notes:
            self.replay.notes.append(text)


def _name(seat: int | None) -> str:
    return "nobody" if seat is None else SIDES[seat]
