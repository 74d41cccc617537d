"""A worker process of the page: it plays one match, or it is a desk, where positions are analysed and
logs reviewed, one after the other. What crashes or hangs here harms nobody else, and what it has
started ends with it."""

from __future__ import annotations

import queue
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import msgspec

from core.background import BackgroundSearch
from core.engine import parse_player
from core.errors import QuartetError
from core.limits import Limits
from core.native.clock import now
from quartet.arena import run
from quartet.judge import game as games
from quartet.judge.logs import jsonl, official
from quartet.judge.match import Match
from quartet.judge.process.pipes import hub
from quartet.judge.seats import players as seating
from quartet.judge.seats.engine import EngineSeat, hint
from quartet.judge.seats.person import PersonSeat
from quartet.judge.seats.players import Player
from quartet.judge.seats.seat import ResignError, TakeBackError
from quartet.judge.table import table_rules
from quartet.review import calibration as calibrations
from quartet.review import worker as reviewing
from quartet.review.document import read
from quartet.review.engines import BOT, Asker, Found
from quartet.review.reviewing import attempt, review
from quartet.web import views
from quartet.web.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

    from core.limits import SearchInfo
    from core.rules import Move
    from quartet.judge.game import Game, Start
    from quartet.judge.seats.seat import Seat
    from quartet.judge.turn import Turn
    from quartet.review.document import TurnReview
    from quartet.web.views import Json, Viewer

TOLD_EVERY = 0.1
"""Seconds between two of the outcomes that a search reports on its way."""
SLACK = 0.01
"""A person whose clock is up is waited for so many seconds more, so that it is certainly up."""


class SeatSpec(msgspec.Struct, frozen=True):
    """Who takes a seat of a match.

    Attributes:
        kind: str; person, engine, program or nobody. name: str; as it is shown.
        command: str; of an engine, with its options, or of a program.
        seconds: float | None; nodes: int | None; of every search of an engine.
    """

    kind: str
    name: str = ""
    command: str = ""
    seconds: float | None = None
    nodes: int | None = None


class MatchSpec(msgspec.Struct, frozen=True):
    """A match to play.

    Attributes:
        game: str. seats: tuple[SeatSpec, ...]. start: Start.
        ms: float | None; every clock, None for the judge's. person_clock: bool; whether persons
            have one. cpu, disqualify: bool; as in TableRules and `table_rules`.
        pace: str; run, pause or step. delay: int; milliseconds before every turn of no person.
    """

    game: str
    seats: tuple[SeatSpec, ...]
    start: Start
    ms: float | None = None
    person_clock: bool = False
    cpu: bool = False
    disqualify: bool = False
    pace: str = "run"
    delay: int = 0


class Link:
    """The way to the page's process; all threads may tell it something."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._answering = threading.Lock()

    def tell(self, event: str, **data: Any) -> None:
        """Something has happened."""
        with self._lock:
            self._connection.send((event, data))

    def serve(self, answer: Callable[[Json], Json | None]) -> None:
        """Answer every request by its number, until nobody asks any more; None: the answer comes
        later, by `reply`."""
        while True:
            try:
                request = self._connection.recv()
            except (EOFError, OSError):
                return
            with self._answering:
                try:
                    found = answer(request)
                except Refused as error:
                    self.reply(request, error=str(error), status=error.status)
                except QuartetError as error:
                    self.reply(request, error=str(error), status=422)
                else:
                    if found is not None:
                        self.reply(request, **found)

    def close(self) -> None:
        """Wait for the answer to what has ended the work, and give no other one."""
        self._answering.acquire()

    def reply(self, request: Json, **data: Any) -> None:
        """The answer to a request."""
        self.tell("reply", number=request["number"], **data)


def main(connection: Connection) -> None:
    """Wait for something to do, and do it."""
    run.start_worker()
    run.busy.set()
    link = Link(connection)
    try:
        kind, spec = connection.recv()
    except EOFError:
        return
    if kind == "desk":
        Desk(link).work()
    else:
        Table(link, spec).play()


class Table:
    """A match, as its watcher, with the persons at it."""

    def __init__(self, link: Link, spec: MatchSpec) -> None:
        self._link, self._spec = link, spec
        self._game = games.load(spec.game)
        self._lock = threading.RLock()
        self._moves: queue.Queue[Move | Exception] = queue.Queue()
        self._waiting: Match | None = None
        self._resigned: set[int] = set()
        self._pace, self._delay = spec.pace, spec.delay
        self._steps = int(spec.pace == "step")
        self._paced = threading.Condition()
        self._told = 0.0
        self._match: Match
        self._viewer: Viewer

    def play(self) -> None:
        """Play it to its end; the last thing told is `end`."""
        spec, game, error = self._spec, self._game, ""
        people = [seat for seat, who in enumerate(spec.seats) if who.kind == "person"]
        try:
            with ExitStack() as cleanup:
                seats = self._seats(cleanup)
                ms = [spec.ms] * len(seats)
                table = table_rules(game.info, ms=ms, cpu=spec.cpu, disqualify=spec.disqualify)
                names = [None if who.kind == "nobody" else who.name for who in spec.seats]
                self._match = Match(game, seats, names, table, spec.start, watchers=[self])
                if self._match.position.over:
                    raise QuartetError("the game is over in this position")  # noqa: TRY301
                self._begin(self._match)
                threading.Thread(target=self._link.serve, args=(self._answer,), daemon=True).start()
                for _ in self._paced_turns(people):
                    pass
        except QuartetError as failure:
            error = str(failure)
        text = ""
        if not error and game.info.lines is not None:
            text = official.text(self._match)
        result = None if error else self._viewer.view["result"]
        self._link.tell("end", result=result, error=error, text=text)
        self._link.close()

    # What the match tells its watchers.

    def begin(self, match: Match) -> None:
        """It was told already."""

    def _begin(self, match: Match) -> None:
        runs = [
            who.kind == "program"
            or (who.kind == "person" and self._spec.person_clock)
            or (who.kind == "engine" and who.seconds is None and who.nodes is None)
            for who in self._spec.seats
        ]
        engines = {s: w.command for s, w in enumerate(self._spec.seats) if w.kind == "engine"}
        self._runs, self._engines = runs, engines
        self._header = jsonl.line(jsonl.header(match))
        self._state(match)

    def turn(self, match: Match, turn: Turn) -> None:
        del match
        self._link.tell("turn", log=jsonl.line(turn), **self._viewer.turn(turn))

    def taken_back(self, match: Match) -> None:
        self._state(match)

    def end(self, match: Match) -> None:
        assert match.result is not None  # noqa: S101  (the game has ended)
        self._viewer.end(match.result)
        self._link.tell("result", log=jsonl.line(match.result))

    def _state(self, match: Match) -> None:
        """Everything anew."""
        self._viewer = views.of_match(match, runs=self._runs, engines=self._engines)
        for turn in match.turns:
            self._viewer.turn(turn)
        log = self._header + b"".join(map(jsonl.line, match.turns))
        self._link.tell("view", view=self._viewer.view, log=log)

    # The pace.

    def _paced_turns(self, people: list[int]) -> Any:
        """The turns of the match; before those of no person it waits as it was told."""
        turns = self._match.play()
        while True:
            match = self._match
            if match.result is None and match.next_turn():
                seat = match.position.to_move
                if seat not in people:
                    self._wait()
                    self._link.tell("thinking", seat=seat, info=None)
            try:
                yield next(turns)
            except StopIteration:
                return

    def _wait(self) -> None:
        with self._paced:
            until = time.monotonic() + self._delay / 1000
            while True:
                if self._pace == "run":
                    left = until - time.monotonic()
                    if left <= 0:
                        return
                    self._paced.wait(left)
                elif self._steps:
                    self._steps -= 1
                    return
                else:
                    self._paced.wait()

    # Who sits there.

    def _seats(self, cleanup: ExitStack) -> list[Seat | None]:
        """Raises QuartetError."""
        spec, game = self._spec, self._game
        commands = [who.command for who in spec.seats if who.kind == "program"]
        told = seating.start_environment(game, spec.start, commands)
        shared, seats = hub(), []
        for number, who in enumerate(spec.seats):
            seat: Seat | None = None
            if who.kind == "person":
                seat = PersonSeat(self._choose, clocked=spec.person_clock)
            elif who.kind == "program":
                player = Player(who.command, seed=spec.start.seed, env=told)
                seat = seating.program_seat(game, player, spec.start, number, shared)
            elif who.kind == "engine":
                bound = who.seconds is not None or who.nodes is not None
                seat = EngineSeat(
                    spec.game,
                    who.command,
                    spec.start.seed,
                    nodes=who.nodes,
                    seconds=who.seconds,
                    clock=not bound,
                    report=self._thinks,
                )
                seat.clocked = not bound
            if seat is not None:
                cleanup.callback(seat.close)
            seats.append(seat)
        return seats

    def _thinks(self, info: SearchInfo) -> None:
        """An engine tells what it has found so far."""
        if info.rank > 1 or now() < self._told + TOLD_EVERY:
            return
        self._told = now()
        position = self._match.position
        seat = position.to_move
        shown = self._viewer.info(info, seat, position)
        self._link.tell("thinking", seat=seat, info=shown)

    # Persons.

    def _choose(self, match: Match) -> Move:
        """Ask the person to move."""
        seat = match.position.to_move
        if seat in self._resigned:
            raise ResignError
        last = match.turns[-1] if match.turns else None
        parts = self._viewer.view["turns"][-1]["parts"] if last is not None else []
        asking = {
            "seat": seat,
            "step": len(match.turns),
            "position": views.position(
                match.game,
                match.position,
                None if last is None else {"seat": last.seat, "parts": parts},
                secret=match.game.info.chance,
            ),
            "can_undo": match.can_take_back,
        }
        with self._lock:
            self._waiting = match
        self._link.tell("asking", asking=asking)
        runs = self._spec.person_clock
        try:
            answer = self._moves.get(timeout=match.clocks[seat] / 1000 + SLACK if runs else None)
        except queue.Empty:
            with self._lock:
                self._enough()
            raise TimeoutError from None
        finally:
            self._moves = queue.Queue()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _answer(self, request: Json) -> Json | None:
        """What the page wants, in the thread that hears it. Raises Refused and QuartetError."""
        wanted = request["do"]
        if wanted == "pace":
            with self._paced:
                self._pace, self._delay = request["pace"], request["delay"]
                self._steps = int(self._pace == "step")
                self._paced.notify_all()
            self._link.tell("pace", pace=self._pace, delay=self._delay)
            return {}
        if wanted == "text":
            return {"text": official.text(self._match)}
        with self._lock:
            if wanted == "resign":
                return self._resign(request["seat"])
            match = self._waiting
            if match is None:
                raise Refused("nobody is asked for a move now")
            if request["step"] != len(match.turns):
                raise Refused(f"the game is at step {len(match.turns)} already")
            if wanted == "hint":
                threading.Thread(target=self._hint, args=(request, match), daemon=True).start()
                return None
            if wanted == "undo":
                if not match.can_take_back:
                    raise Refused("no move can be taken back here")
                self._moves.put(TakeBackError())
            else:
                self._moves.put(self._move(match, request))
            self._enough()
        return {}

    def _enough(self) -> None:
        """The person is asked no more."""
        self._waiting = None
        self._link.tell("asking", asking=None)

    @staticmethod
    def _move(match: Match, request: Json) -> Move:
        """Raises QuartetError."""
        scene = views.scenes(match.game.info.name)
        if request["parts"] is not None:
            move = scene.choices(match.position).get(tuple(request["parts"]))
            if move is None:
                raise Refused("this is no legal move", 422)
        else:
            move = scene.read(request["text"], match.position)
        match.position.play(move)
        return move

    def _resign(self, seat: int | None) -> Json:
        people = [s for s, who in enumerate(self._spec.seats) if who.kind == "person"]
        asked = None if self._waiting is None else self._waiting.position.to_move
        seat = asked if seat is None else seat
        seat = people[0] if seat is None and len(people) == 1 else seat
        if seat not in people or self._match.result is not None:
            raise Refused("no person sits there")
        self._resigned.add(seat)
        if seat == asked:
            self._moves.put(ResignError())
            self._enough()
        return {}

    def _hint(self, request: Json, match: Match) -> None:
        scene, position = views.scenes(match.game.info.name), match.position
        try:
            move = hint(match)
            parts = list(scene.parts(move, position))
            self._link.reply(request, move=scene.write(move, position), parts=parts)
        except QuartetError as error:
            self._link.reply(request, error=str(error), status=422)


class Desk:
    """Where positions are analysed and logs reviewed, one after the other."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._tasks: queue.Queue[Json] = queue.Queue()
        self._stopped = -1  # tasks up to this one are to end
        self._askers: dict[tuple[str, str, str], Asker] = {}

    def work(self) -> None:
        """Until the page is gone, or has us end."""
        threading.Thread(target=self._link.serve, args=(self._take,), daemon=True).start()
        while True:
            task = self._tasks.get()
            try:
                getattr(self, "_" + task["do"])(task)
            except QuartetError as error:
                self._link.tell("failed", error=str(error), task=task["task"])

    def _take(self, request: Json) -> Json:
        if request["do"] == "stop":
            self._stopped = request["task"]
        else:
            self._tasks.put(request)
        return {}

    def _review(self, task: Json) -> None:
        opinion = reviewing.known(task["game"], task["engine"], task["nodes"], "")

        def told(number: int, turn: TurnReview) -> None:
            data = msgspec.json.encode(turn)
            self._link.tell("turn", number=number, turn=data, task=task["task"])

        found = review(
            task["name"],
            task["data"],
            lambda _: [opinion],
            game=task["game"],
            candidates=task["candidates"],
            told=told,
        )
        self._link.tell("end", document=msgspec.json.encode(found), task=task["task"])

    def _attempt(self, task: Json) -> None:
        opinion = reviewing.known(task["game"], task["engine"], task["nodes"], "")
        document = read(task["document"])
        found = attempt(task["data"], document, opinion, task["turn"], task["text"])
        self._link.tell("end", attempt=found, task=task["task"])

    def _analyse(self, task: Json) -> None:
        """Tell every line of a search until it ends, or is to."""
        name, position = task["player"], task["position"]
        game = games.load(task["game"])
        key = game.info.name, name, repr(task["options"])
        if key not in self._askers:
            self._askers = {key: Asker(key[0], name)}  # one at a time: they hold much memory
            self._askers[key].begin(task["options"])
        asker = self._askers[key]
        told = _Lines(self._link, task["task"], game, name, position)
        seconds = task["seconds"]
        limits = Limits(
            deadline=None if seconds is None else now() + seconds,
            nodes=task["nodes"],
            multipv=task["lines"],
        )
        search = asker.search(position, limits, told.line)
        while not (search.wait(TOLD_EVERY / 2) or task["task"] <= self._stopped):
            told.flush()
        search.stop()
        told.end(asker, search)


class _Lines:
    """The lines of a search, the latest of every rank."""

    def __init__(self, link: Link, task: int, game: Game, player: str, position: Any) -> None:
        self._link, self._task, self._game, self._position = link, task, game, position
        self._scene = views.scenes(game.info.name)
        self._new: dict[int, Json] = {}
        self._lock = threading.Lock()
        bare = parse_player(player)[0]
        name = game.info.name
        self._known = calibrations.of_engine(name, BOT) if bare == BOT else None

    def line(self, found: Found, info: SearchInfo) -> None:
        """In the thread of the search."""
        row = self.row(found, info)
        with self._lock:
            self._new[info.rank] = row

    def flush(self) -> None:
        """Tell what is new."""
        with self._lock:
            new, self._new = self._new, {}
        for _, row in sorted(new.items()):
            self._link.tell("line", line=row, task=self._task)

    def end(self, asker: Asker, search: BackgroundSearch) -> None:
        """Tell what came out. Raises what the search raised."""
        found = asker.outcome(search, self._position)
        if 1 not in self._new:
            self.line(found, search.outcome())
        self.flush()
        best = self._words(found.move)
        listed = [
            {**self._words(move), "share": round(share, 4)}
            for move, share in asker.candidates(self._position)
        ]
        self._link.tell("end", best=best, candidates=listed, task=self._task)

    def row(self, found: Found, info: SearchInfo) -> Json:
        """A line as the page shows it; the share is of the side to move."""
        position, seats = self._position, self._game.info.players
        line = found.line or (() if found.move is None else (found.move,))
        words, parts = views.said(self._scene, line, position)
        shares = None
        if self._known is not None and (info.rank == 1 or seats == 2):
            shares = self._known.shares(found, position.ply, position.to_move, seats)
        return {
            "rank": info.rank,
            "depth": info.depth,
            "score": info.score,
            "share": None if shares is None else round(shares[position.to_move], 4),
            "shares": None if shares is None else [round(share, 4) for share in shares],
            "nodes": info.nodes,
            "nps": round(info.nps),
            "seconds": round(info.seconds, 3),
            "line": words,
            "parts": parts,
        }

    def _words(self, move: Move | None) -> Json:
        if move is None:
            return {"move": "-", "parts": []}
        move_parts = list(self._scene.parts(move, self._position))
        return {"move": self._scene.write(move, self._position), "parts": move_parts}
