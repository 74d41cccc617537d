"""The worker that plays one match, with the humans at the page."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future

from core.errors import QuartetError
from core.limits import SearchInfo
from core.native.clock import now
from core.rules import Move
from quartet.judge import game as games
from quartet.judge.logs import jsonl, official
from quartet.judge.match import Match
from quartet.judge.seats import seating
from quartet.judge.seats.engine import EngineSeat, hint
from quartet.judge.seats.person import PersonSeat
from quartet.judge.seats.players import PERSON, PlayerSpec
from quartet.judge.seats.seat import ResignError, Seat, TakeBackError
from quartet.judge.seats.seating import SeatSetup
from quartet.judge.table import table_rules
from quartet.judge.turn import Turn, Verdict
from quartet.web import views
from quartet.web.errors import Refused
from quartet.web.link import Link
from quartet.web.match_record import MatchRecord

REPORT_EVERY = 0.1
"""Seconds between two reports of a running search."""
SLACK = 0.01
"""Seconds that a human's clock may run on, so that the match certainly sees it used up."""


class MatchWorker:
    """Plays the match, sends the server what happens, and takes moves from it."""

    def __init__(self, link: Link, record: MatchRecord, log: bytes) -> None:
        """`log` is the game so far, if it is resumed."""
        self._link, self._record, self._log = link, record, log
        self._game = games.load(record.game)
        self._scene = games.scene(record.game)
        self._lock = threading.RLock()
        self._asked: Future[Move] | None = None  # while a human is asked for a move
        self._resigned: set[int] = set()
        self._pace, self._delay, self._steps = str(record.pace), record.delay, 0
        self._pace_changed = threading.Condition()
        self._reported = 0.0
        self._match: Match
        self._viewer: views.Viewer

    def run(self) -> None:
        """Play the match to its end; the last event is `end`."""
        record, game, error, text, result = self._record, self._game, "", "", None
        names = [None if who.kind == "nobody" else who.name for who in record.seats]
        try:
            table = table_rules(
                game.info,
                ms=[record.payload.clock] * len(names),
                cpu=record.payload.cpu,
                disqualify=record.payload.disqualify,
            )
            turns = jsonl.read_log(self._log).turns if self._log else ()
            self._resigned = {turn.seat for turn in turns if turn.verdict is Verdict.RESIGNED}
            with Match(
                game, self._seats(), names, table, record.start, watchers=[self], recorded=turns
            ) as self._match:
                if self._match.position.over:
                    raise QuartetError("the game is over in this position")  # noqa: TRY301
                threading.Thread(target=self._link.serve, args=(self._answer,), daemon=True).start()
                if not turns:
                    self.taken_back(self._match)
                self._match.play_out()
            text = "" if game.info.lines is None else self._text()
            result = self._viewer.view["result"]
        except QuartetError as failure:
            error = str(failure)
        self._link.send("end", result=result, error=error, text=text)
        self._link.close()

    # The match calls these as its watcher.

    def begin(self, match: Match) -> None:
        """Do nothing: `taken_back` sends the state."""

    def turn(self, match: Match, turn: Turn) -> None:
        """Send the turn, and wait for the next one."""
        self._link.send("turn", log=jsonl.line(turn), **self._viewer.turn(turn))
        self._before_turn(match)

    def taken_back(self, match: Match) -> None:
        """Send the whole view, and wait for the next turn."""
        record = self._record
        header = jsonl.header(match)
        viewer = views.Viewer(header, runs=record.running_clocks, engines=record.engines)
        self._viewer = viewer.replay(match.turns)
        log = b"".join(map(jsonl.line, (header, *match.turns)))
        self._link.send("view", view=self._viewer.view, log=log)
        self._before_turn(match)

    def end(self, match: Match) -> None:
        assert match.result is not None  # noqa: S101  (the game has ended)
        self._viewer.end(match.result)
        self._link.send("result", log=jsonl.line(match.result))

    # The pace.

    def _before_turn(self, match: Match) -> None:
        """Wait before a turn of a player that is no human."""
        if match.next_turn() and match.position.to_move not in self._record.humans:
            self._wait()
            self._link.send("thinking", seat=match.position.to_move, info=None)

    def _wait(self) -> None:
        until = time.monotonic() + self._delay / 1000
        with self._pace_changed:
            while not self._steps:
                left = until - time.monotonic() if self._pace == "run" else None
                if left is not None and left <= 0:
                    return
                self._pace_changed.wait(None if left is None else min(left, threading.TIMEOUT_MAX))
            self._steps -= 1

    # The players.

    def _seats(self) -> list[Seat | None]:
        """Make the seats. Raises QuartetError."""
        record, game = self._record, self._game
        programs = [
            SeatSetup(PlayerSpec.parse(record.game, who.command), seed=record.seed)
            if who.kind == "program"
            else None
            for who in record.seats
        ]
        seats = seating.seats_of(game, programs, record.start)
        for number, who in enumerate(record.seats):
            if who.kind == "person":
                seats[number] = PersonSeat(self._choose, clocked=record.payload.person_clock)
            elif who.kind == "engine":
                seats[number] = engine = EngineSeat(
                    record.game,
                    who.command,
                    record.seed,
                    nodes=who.nodes,
                    seconds=who.seconds,
                    clock=not who.is_limited,
                    report=self._report,
                )
                engine.clocked = not who.is_limited
        return seats

    def _report(self, info: SearchInfo) -> None:
        """Send what an engine has found so far."""
        if info.rank > 1 or now() < self._reported + REPORT_EVERY:
            return
        self._reported = now()
        position = self._match.position
        seat = position.to_move
        self._link.send("thinking", seat=seat, info=self._viewer.info(info, seat, position))

    def _text(self) -> str:
        """Return the judge's log, with the names of humans."""
        humans = [who for who in self._record.seats if who.kind == "person"]
        named = any(who.link or who.name != PERSON for who in humans)
        return official.text(self._match, named=named)

    # The humans.

    def _choose(self, match: Match) -> Move:
        """Ask a human for a move."""
        seat, step = match.position.to_move, len(match.turns)
        if seat in self._resigned:
            raise ResignError
        last = None
        if step:
            last = {name: self._viewer.view["turns"][-1][name] for name in ("seat", "parts")}
        position = views.position(match.game, match.position, last, secret=match.game.info.chance)
        asking = {
            "seat": seat,
            "step": step,
            "position": position,
            "can_undo": match.can_take_back and not self._record.guests,
        }
        answer: Future[Move] = Future()
        with self._lock:
            self._asked = answer
        self._link.send("asking", asking=asking)
        left = match.clocks[seat] / 1000 + SLACK if self._record.payload.person_clock else None
        try:
            return answer.result(None if left is None else min(left, threading.TIMEOUT_MAX))
        except TimeoutError:
            with self._lock:
                self._stop_asking()
            raise

    def _stop_asking(self) -> None:
        self._asked = None
        self._link.send("asking", asking=None)

    def _answer(self, request: views.Json) -> views.Json | None:
        """Do what the page requests. Raises QuartetError."""
        action = request["do"]
        if action == "pace":
            with self._pace_changed:
                self._pace, self._delay = request["pace"], request["delay"]
                self._steps = int(self._pace == "step")
                self._pace_changed.notify_all()
            self._link.send("pace", pace=self._pace, delay=self._delay)
            return {}
        if action == "text":
            return {"text": self._text()}
        with self._lock:
            if action == "resign":
                return self._resign(request["seat"], request["seats"])
            match, asked = self._match, self._asked
            allowed = request["seats"]
            if asked is None or (allowed is not None and match.position.to_move not in allowed):
                raise Refused("it is not your turn")
            if request["step"] != len(match.turns):
                raise Refused(f"the game is at step {len(match.turns)}: reload the page")
            if action in {"hint", "undo"} and self._record.guests:
                raise Refused("a game with a guest has no hints, and no move is taken back")
            if action == "hint":
                args = request, self._hint
                threading.Thread(target=self._link.answer, args=args, daemon=True).start()
                return None
            if action == "undo":
                if not match.can_take_back:
                    raise Refused("no move can be taken back here")
                asked.set_exception(TakeBackError())
            else:
                asked.set_result(self._move(match, request))
            self._stop_asking()
        return {}

    def _move(self, match: Match, request: views.Json) -> Move:
        """Return the requested move if it is legal. Raises QuartetError."""
        if request["parts"] is not None:
            return views.move_of(self._scene, match.position, request["parts"])
        move = self._scene.read(request["text"], match.position)
        match.position.play(move)
        return move

    def _resign(self, seat: int | None, allowed: list[int] | None) -> views.Json:
        """Resign for a human; `allowed` are the seats of a guest who asks for it."""
        humans = self._record.humans if allowed is None else allowed
        asked = None if self._asked is None else self._match.position.to_move
        if seat is None:
            seat = humans[0] if asked is None and len(humans) == 1 else asked
        if seat not in humans or self._match.result is not None:
            raise Refused("no human plays on this seat")
        self._resigned.add(seat)
        if self._asked is not None and seat == asked:
            self._asked.set_exception(ResignError())
            self._stop_asking()
        return {}

    def _hint(self, _: views.Json) -> views.Json:
        position = self._match.position
        return views.written(self._scene, hint(self._match, position), position)
