"""The state of one review or analysis, as its worker process reports it."""

from __future__ import annotations

import asyncio
import secrets

import msgspec

from core.errors import QuartetError
from quartet.judge.turn import UNREADABLE
from quartet.review.document import read
from quartet.web.data_folder import RECORD, DataFolder, Record
from quartet.web.events import Topic
from quartet.web.jobs import Job
from quartet.web.payloads import ReviewRequest, Source
from quartet.web.views import Json

REVIEWS, DOCUMENT = "reviews", "review.json"
ANALYSES = "analyses"  # never stored


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
    def payload(self) -> ReviewRequest:
        """The request."""
        return self.record.payload

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

    def shown(self) -> Json:
        """Return everything that a new follower needs."""
        document = self.document
        return {
            "id": self.id,
            "from": self.payload.source,
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
            "from": self.payload.source,
            "game": record.game,
            "players": record.players,
            "turns": record.total,
            "state": self.state,
            "started": record.time,
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
