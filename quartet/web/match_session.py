"""The state of one match, as its worker process reports it."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Mapping

import msgspec

from core.errors import QuartetError
from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.logs import jsonl
from quartet.judge.process.words import printable
from quartet.web import views
from quartet.web.data_folder import RECORD, DataFolder, Record
from quartet.web.errors import Refused
from quartet.web.events import Topic
from quartet.web.jobs import DIED, Job, Jobs
from quartet.web.match_worker import MatchSpec, SeatSpec
from quartet.web.payloads import Delay, MatchRequest, Pace, Source
from quartet.web.players import seat_spec
from quartet.web.sources import Sources
from quartet.web.views import Json

MATCHES, LOG = "matches", "log.jsonl"


class MatchRecord(Record, kw_only=True):
    """A match in the data folder, next to its log.

    Attributes:
        payload: The request.
        seats: Who plays.
        seed, options, position: The start.
        pace, delay: As humans have set them last.
        turns: Number of turns, if the match has ended.
        places: Places of all seats, if the match was played to its end.
        ended: True if nothing more will happen.
        error: Why the match was aborted.
        text: The judge's log.
        rematch: Id of the match that follows with the same players; empty if there is none.
    """

    payload: MatchRequest
    seats: list[SeatSpec]
    seed: int
    options: dict[str, bool | int]
    position: str | None
    pace: Pace
    delay: Delay
    turns: int = 0
    places: list[int | None] | None = None
    ended: bool = False
    error: str = ""
    text: str = ""
    rematch: str = ""

    @property
    def spec(self) -> MatchSpec:
        """The match to play."""
        pace = "pause" if self.pace == "step" else self.pace
        payload = msgspec.structs.replace(self.payload, pace=pace, delay=self.delay)
        return MatchSpec(payload, self.seats, Start(self.seed, self.options, self.position))


class MatchSession:
    """A match.

    Attributes:
        id: Id in addresses.
        topic: Events for browsers.
        ready: Done when the first view has arrived, or the match could not start.
        record: What is known without the log.
        job: Where it is played; None if it had ended before the server started.
        kept: True if it is in the data folder.
    """

    def __init__(self, record: MatchRecord, data: DataFolder, id_: str = "") -> None:
        """`id_` is that of a match in the data folder; a new match is not there before `keep`."""
        self.id, self.kept = id_ or secrets.token_hex(4), bool(id_)
        self.record, self._data, self.spec = record, data, record.spec
        self.topic = Topic(f"match/{self.id}", lambda: {"state": self.shown()})
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.job: Job | None = None
        self._view: Json = {}
        self._log = b""
        self._torn = False  # the file may lack a part of the log
        self._asking: Json | None = None
        self._thinking: Json | None = None

    @property
    def ended(self) -> bool:
        """True if nothing more will happen."""
        return self.record.ended

    @property
    def log(self) -> bytes:
        """The game so far in the toolkit's format. Raises QuartetError."""
        self._log = self._log or self._data.read(MATCHES, self.id, LOG)
        return self._log

    @property
    def view(self) -> Json:
        """The game as browsers show it. Raises QuartetError."""
        if not self._view:
            log, spec = jsonl.read_log(self.log), self.spec
            viewer = views.of_header(log.header, spec.engines, runs=spec.running_clocks)
            for turn in log.turns:
                viewer.turn(turn)
            if log.result is not None:
                viewer.end(log.result)
            self._view = self._about(viewer.view)
        return self._view

    def _about(self, view: Json) -> Json:
        return {"source": {"match": self.id}, "started": self.record.time, **view}

    def resume(self, jobs: Jobs, programs: Mapping[str, str]) -> None:
        """Continue on a new server if the match has not ended. Raises QuartetError.

        Args:
            jobs: Workers.
            programs: Commands of the programs that may play, by name.
        """
        if self.ended:
            return
        if self.view["result"] is not None:  # the last server was killed before it noted the end
            self.ready.set_result(None)
            self.finish(self.view["result"], "")
            return
        for seat, who in enumerate(self.spec.seats):
            if who.kind == "program":
                if who.name not in programs:
                    # in the data folder it is still running
                    error = f"to resume, restart with --player {who.name}=COMMAND"
                    self.record.ended, self.record.error = True, error
                    return
                self.spec.seats[seat] = who._replace(command=programs[who.name])
        self.record.pace = self.spec.payload.pace
        self.job = jobs.start(self.spec._replace(log=self.log), self.receive)

    def keep(self) -> None:
        """Write the match into the data folder."""
        self.kept = True
        self._torn = not self._data.write(MATCHES, self.id, LOG, self.log)
        self._data.write(MATCHES, self.id, RECORD, self.record)

    def unload(self) -> None:
        """Drop what can be read from the data folder again."""
        if self.kept and not self._torn:
            self._view, self._log = {}, b""

    def shown(self) -> Json:
        """Return everything that a new follower needs."""
        thinking = self._thinking and {
            "seat": self._thinking["seat"],
            "since_ms": round(1000 * (time.monotonic() - self._thinking["since"])),
        }
        return {
            "id": self.id,
            "view": self.view,
            "asking": self._asking,
            "thinking": thinking,
            "pace": self.record.pace,
            "delay": self.record.delay,
            "people": self.spec.humans,
            "guests": self.spec.guests,
            "ended": self.ended,
            "error": self.record.error,
            "rematch": self.record.rematch,
        }

    def seats(self, links: list[str] | None) -> list[int]:
        """Return the seats that these keys open; all for None, which is the server's token."""
        who = enumerate(self.spec.seats)
        return [seat for seat, one in who if links is None or (one.link and one.link in links)]

    def line(self) -> Json:
        """Return a line of the list of matches."""
        record = self.record
        return {
            "id": self.id,
            "game": record.game,
            "players": record.players,
            "turns": len(self._view["turns"]) if self._view else record.turns,
            "over": self.ended,
            "started": record.time,
            "places": record.places,
            "error": record.error,
        }

    def receive(self, event: str, data: Json) -> None:
        """Take an event of the worker."""
        self._add_log(data.pop("log", b""), whole=event == "view")
        if event == "view":
            self._view = self._about(data["view"])
            self._thinking = None
            if not self.ready.done():
                self.ready.set_result(None)
            self.topic.publish_state()
        elif event == "turn":
            self._thinking = None
            views.grow(self.view, data)
            self.topic.publish("turn", **data)
        elif event == "end":
            self.record.text = data["text"]
            self.finish(data["result"], data["error"])
        elif event == "over":
            self.finish(None, DIED)
        elif event != "result":
            if event == "asking":
                self._asking = data["asking"]
            elif event == "pace":
                self.record.pace, self.record.delay = data["pace"], data["delay"]
                self._note()
            elif data["info"] is None:
                self._thinking = {"seat": data["seat"], "since": time.monotonic()}
            self.topic.publish(event, **data)

    def start_rematch(self, match: str) -> None:
        """Note which match follows."""
        self.record.rematch = match
        self._note()
        self.topic.publish("rematch", id=match)

    def finish(self, result: Json | None, error: str) -> None:
        """Note how the match ended; only the first call counts."""
        if self.ended:
            return
        self.record.ended, self.record.error = True, error
        self._asking = self._thinking = None
        has_begun = self.ready.done()
        if not has_begun:
            self.ready.set_exception(Refused(error or DIED, 422))
            self.ready.exception()
            if not self.kept:
                return
        self.view["result"] = result
        self.record.turns = len(self.view["turns"])
        self.record.places = None if result is None else result["places"]
        if has_begun:  # a match that could not resume may do so on the next server
            self._note()
        self.topic.publish("end", result=result, error=error)

    def _add_log(self, log: bytes, *, whole: bool) -> None:
        """Take the whole log, or new lines of it."""
        self._log = log if whole else self._log + log
        if self.kept and (whole or (log and self._torn)):
            was_torn = self._torn
            self._torn = not self._data.write(MATCHES, self.id, LOG, self._log)
            if was_torn and not self._torn:
                self._note()
        elif self.kept and log:
            self._torn = not self._data.append(MATCHES, self.id, LOG, log)

    def _note(self) -> None:
        if self.kept:
            self._data.write(MATCHES, self.id, RECORD, self.record)


def match_record(
    payload: MatchRequest, sources: Sources, programs: Mapping[str, str]
) -> MatchRecord:
    """Return a new match; `programs` are commands by name. Raises QuartetError."""
    game = games.load(payload.game)
    views.check_options(game, payload.options)
    if len(payload.seats) != game.info.players:
        raise QuartetError(f"{payload.game} has {game.info.players} seats")
    seats = [seat_spec(game, seat, programs) for seat in payload.seats]
    start = Start(payload.seed, payload.options)
    if payload.source is not None:
        located = sources.located(payload.source)
        if located.game is not game:
            raise Refused(f"this is a position of {located.game.info.name}", 400)
        start, shift = located.start(), located.shift
        seats = [*seats[shift:], *seats[:shift]]
        payload = msgspec.structs.replace(
            payload,
            seats=[*payload.seats[shift:], *payload.seats[:shift]],
            source=Source(game=payload.game, position=start.text, options=dict(start.options)),
        )
    return MatchRecord(
        game=payload.game,
        players=[None if seat.kind == "nobody" else printable(seat.name) for seat in seats],
        time=time.time(),
        payload=payload,
        seats=seats,
        seed=start.seed,
        options=dict(start.options),
        position=start.text,
        pace=payload.pace,
        delay=payload.delay,
    )
