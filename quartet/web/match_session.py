"""The state of one match, as its worker process reports it."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Mapping
from typing import Any

from quartet.judge.logs import jsonl
from quartet.web import views
from quartet.web.data_folder import RECORD, DataFolder
from quartet.web.errors import Refused
from quartet.web.events import Topic
from quartet.web.jobs import DIED, ENDED, Job, Jobs
from quartet.web.match_record import MatchRecord

MATCHES, LOG = "matches", "log.jsonl"


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
        self.record, self._data = record, data
        self.topic = Topic(f"match/{self.id}", lambda: {"state": self.shown()})
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.job: Job | None = None
        self._view: views.Json = {}
        self._log = b""
        self._torn = False  # the file may lack a part of the log
        self._asking: views.Json | None = None
        self._thinking: views.Json | None = None

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
    def view(self) -> views.Json:
        """The game as browsers show it. Raises QuartetError."""
        if not self._view:
            log, record = jsonl.read_log(self.log), self.record
            viewer = views.Viewer(log.header, runs=record.running_clocks, engines=record.engines)
            self._view = self._about(viewer.replay(log.turns, log.result).view)
        return self._view

    def _about(self, view: views.Json) -> views.Json:
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
        record = self.record
        for seat, who in enumerate(record.seats):
            if who.kind == "program":
                if who.name not in programs:
                    # in the data folder it is still running
                    record.error = f'to resume, restart with --player "{who.name}=COMMAND"'
                    record.ended = True
                    return
                record.seats[seat] = who._replace(command=programs[who.name])
        if record.pace == "step":
            record.pace = "pause"
        self.job = jobs.start((record, self.log), self.receive)

    async def request(self, do: str, **data: Any) -> views.Json:
        """Send the worker a request, and return its answer. Raises Refused."""
        if self.job is None:
            raise Refused(ENDED)
        return await self.job.request(do, **data)

    def keep(self) -> None:
        """Write the match into the data folder."""
        self.kept = True
        self._torn = not self._data.write(MATCHES, self.id, LOG, self.log)
        self._note()

    def unload(self) -> None:
        """Drop what can be read from the data folder again."""
        if self.kept and not self._torn:
            self._view, self._log = {}, b""
            self.topic.forget()

    def shown(self) -> views.Json:
        """Return everything that a new follower needs."""
        return {
            "id": self.id,
            "view": self.view,
            "asking": self._asking and _timed(self._asking),
            "thinking": self._thinking and _timed(self._thinking),
            "pace": self.record.pace,
            "delay": self.record.delay,
            "people": self.record.humans,
            "guests": self.record.guests,
            "ended": self.ended,
            "error": self.record.error,
            "rematch": self.record.rematch,
        }

    def seats(self, links: list[str] | None) -> list[int]:
        """Return the seats that these keys open; all for None, which is the server's token."""
        who = enumerate(self.record.seats)
        return [seat for seat, one in who if links is None or (one.link and one.link in links)]

    def line(self) -> views.Json:
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

    def receive(self, event: str, data: views.Json) -> None:
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
                asking = data["asking"]
                self._asking = asking and {**asking, "since": time.monotonic()}
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

    def finish(self, result: views.Json | None, error: str) -> None:
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
            self.keep()
        elif self.kept and log:
            self._torn = not self._data.append(MATCHES, self.id, LOG, log)

    def _note(self) -> None:
        if self.kept:
            self._data.write(MATCHES, self.id, RECORD, self.record)


def _timed(state: views.Json) -> views.Json:
    """Return a state with the milliseconds that it has lasted, instead of its start."""
    since_ms = round(1000 * (time.monotonic() - state["since"]))
    return {**{key: state[key] for key in state if key != "since"}, "since_ms": since_ms}
