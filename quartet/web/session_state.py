"""The state of reviews and analyses, as their workers report it, and tables of sessions."""

from __future__ import annotations

import asyncio
import secrets
from typing import Generic, TypeVar

import msgspec

from core.errors import QuartetError
from quartet.judge.turn import UNREADABLE
from quartet.review.document import read
from quartet.web.data_folder import RECORD, DataFolder, Record
from quartet.web.errors import Refused
from quartet.web.events import Topic
from quartet.web.jobs import Job
from quartet.web.match_session import MatchSession
from quartet.web.payloads import ReviewRequest, Source
from quartet.web.views import Json

REVIEWS, DOCUMENT = "reviews", "review.json"
ANALYSES = "analyses"  # never stored
MAX_LOADED = 100
"""Sessions that have ended and are wholly in memory, of one kind."""


class ReviewRecord(Record, kw_only=True):
    """A review in the data folder, next to its document.

    Attributes:
        payload: The request.
        total: Number of turns.
        done: True if there is a document; otherwise the review is running.
    """

    payload: ReviewRequest
    total: int
    done: bool = False


class ReviewSession:
    """A review.

    Attributes:
        id: Id in addresses.
        topic: Events for browsers.
        record: What is known without the document.
        state: waiting, running, done or failed.
    """

    def __init__(self, key: str, record: ReviewRecord, data: DataFolder) -> None:
        self.id, self.record, self._data = key, record, data
        self.topic = Topic(f"review/{key}", lambda: {"review": self.shown()})
        self.state = "done" if record.done else "waiting"
        self.work: asyncio.Task[None]
        self._error = ""
        self._document = b""
        self._turns: dict[int, msgspec.Raw] = {}
        self._data.write(REVIEWS, key, RECORD, record)

    @property
    def ended(self) -> bool:
        """True if nothing more will happen."""
        return self.state in {"done", "failed"}

    @property
    def document(self) -> bytes:
        """The whole review as JSON; empty until it is done."""
        if self.state == "done" and not self._document:
            try:
                self._document = self._data.read(REVIEWS, self.id, DOCUMENT)
                read(self._document)
            except (QuartetError, *UNREADABLE) as error:
                self.state, self._error = "failed", f"the stored review is damaged: {error}"
                self._document = b""
        return self._document

    def unload(self) -> None:
        """Drop what can be read from the data folder again."""
        self._document = b""
        self._turns = {}
        self.topic.forget()

    def shown(self) -> Json:
        """Return everything that a new follower needs."""
        document = self.document
        return {
            "id": self.id,
            "from": self.record.payload.source,
            "state": self.state,
            "done": len(self._turns),
            "total": self.record.total,
            "turns": {} if document else self._turns,
            "document": msgspec.Raw(document) if document else None,
            "error": self._error,
        }

    def line(self) -> Json:
        """Return a line of the list of reviews."""
        record = self.record
        return {
            "id": self.id,
            "from": self.record.payload.source,
            "game": record.game,
            "players": record.players,
            "turns": record.total,
            "state": self.state,
            "started": record.time,
            "nodes": record.payload.nodes,
        }

    def receive(self, event: str, data: Json) -> None:
        """Take a turn from the worker."""
        turn = self._turns[data["number"]] = msgspec.Raw(data["turn"])
        self.topic.publish(event, number=data["number"], turn=turn)

    def start(self) -> None:
        """Note that a worker has begun."""
        self.state = "running"
        self.topic.publish_state()

    def finish(self, document: bytes) -> None:
        """Take the whole review."""
        self._document, self.state, self.record.done = document, "done", True
        self._data.write(REVIEWS, self.id, DOCUMENT, document)
        self._data.write(REVIEWS, self.id, RECORD, self.record)
        self.topic.publish("end", document=msgspec.Raw(document))

    def fail(self, error: str) -> None:
        """Note why there is no review; the data folder forgets it."""
        self.state, self._error = "failed", error
        self._data.remove(REVIEWS, self.id)
        self.topic.publish("failed", error=error)


class AnalysisSession:
    """An analysis.

    Attributes:
        id: Id in addresses.
        topic: Events for browsers.
        ended: True if nothing more will happen.
        end: Best move, candidates and error, as far as they are known.
        worker: Where it runs; None while it waits.
    """

    def __init__(self, source: Source) -> None:
        self.id = secrets.token_hex(4)
        self.topic = Topic(f"analysis/{self.id}", lambda: {"analysis": self.shown()})
        self.ended = False
        self.end: Json = {"best": None, "candidates": [], "error": ""}
        self.worker: Job | None = None
        self.work: asyncio.Task[None]
        self._source = source
        self._lines: dict[int, Json] = {}

    def unload(self) -> None:
        """Keep everything: an analysis is small."""

    def shown(self) -> Json:
        """Return everything that a new follower needs."""
        return {
            "id": self.id,
            "from": self._source,
            "lines": [self._lines[rank] for rank in sorted(self._lines)],
            "over": self.ended,
            **self.end,
        }

    def receive(self, event: str, data: Json) -> None:
        """Take a line from the worker."""
        self._lines[data["line"]["rank"]] = data["line"]
        self.topic.publish(event, **data)

    def finish(self) -> None:
        """Note that the search has ended."""
        self.ended = True
        self.topic.publish("end", **self.end)


SessionT = TypeVar("SessionT", MatchSession, ReviewSession, AnalysisSession)


class SessionTable(dict[str, SessionT], Generic[SessionT]):
    """Sessions of one kind, by id. A missing one raises Refused."""

    def __init__(self, kind: str, folder: str, limit: int, data: DataFolder) -> None:
        """Make an empty table.

        Args:
            kind: What a session is called in messages.
            folder: Kind of its entries in the data folder.
            limit: Sessions that have ended; the oldest are deleted first.
            data: The data folder.
        """
        super().__init__()
        self._kind, self._folder, self._limit, self._data = kind, folder, limit, data

    def __missing__(self, key: str) -> SessionT:
        raise Refused(f"this {self._kind} does not exist any more", 404)

    def add(self, session: SessionT) -> Json:
        """Add a session, and return its id; delete the oldest of those that have ended."""
        self[session.id] = session
        ended = [key for key, old in self.items() if old.ended]
        for key in ended[: max(0, len(ended) - self._limit)]:
            self.remove(key)
        for key in ended[-self._limit : -MAX_LOADED]:
            self[key].unload()
        return {"id": session.id}

    def remove(self, key: str) -> None:
        """Delete a session, in the data folder, too."""
        del self[key]
        self._data.remove(self._folder, key)

    async def shown(self, id: str) -> Json:  # noqa: A002
        """Return a session as the page shows it. Raises Refused."""
        return self[id].shown()

    @property
    def running(self) -> list[SessionT]:
        """The sessions that have not ended."""
        return [session for session in self.values() if not session.ended]
