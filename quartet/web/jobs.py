"""Worker processes as the server sees them. Their events arrive in its event loop."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any

from quartet.arena.processes import no_ctrl_c
from quartet.web import worker
from quartet.web.errors import Refused
from quartet.web.match_record import MatchRecord
from quartet.web.views import Json

Receive = Callable[[str, Json], None]
DIED = "its process has died"
ENDED = "this has ended"
END_SECONDS = 5.0
"""Seconds in which a worker must end its programs before it is killed."""


def ignore(event: str, data: Json) -> None:
    """Do nothing with an event."""


class Job:
    """A worker process.

    Attributes:
        over: True after the last event.
    """

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=worker.main, args=(theirs,), daemon=True)
        with no_ctrl_c():
            self._process.start()
        theirs.close()
        self._loop = asyncio.get_running_loop()
        self._receive: Receive = ignore
        self._numbers = count()
        self._pending: dict[int, tuple[asyncio.Future[Json], Receive]] = {}
        self._sending = asyncio.Lock()
        self._closing = threading.Lock()
        self.over = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def is_alive(self) -> bool:
        """True if it can take a task. After a kill this is known at once, and `over` later."""
        return not self.over and self._process.is_alive()

    def begin(self, match: tuple[MatchRecord, bytes] | None, receive: Receive) -> None:
        """Give the worker its task.

        Args:
            match: The match to play, and its log so far; None for a worker that does what is
                requested.
            receive: Takes every event in this event loop; the last one is "over".
        """
        self._receive = receive
        with suppress(OSError):  # it has just died: "over" follows
            self._connection.send(match)

    async def request(self, do: str, receive: Receive = ignore, **data: Any) -> Json:
        """Send the worker a request, and return its answer. Raises Refused.

        Args:
            do: What the worker must do.
            receive: Takes the events that the request causes.
            data: Arguments.
        """
        if self.over:
            raise Refused(ENDED)
        number = next(self._numbers)
        answer = self._loop.create_future()
        self._pending[number] = answer, receive
        message = {"do": do, "request": number, **data}
        async with self._sending:
            try:
                await asyncio.to_thread(self._connection.send, message)
            except OSError:
                raise Refused(DIED) from None
        found: Json = await answer
        if "error" in found:
            raise Refused(found["error"], found["status"])
        return found

    def close(self) -> None:
        """End the process with all that it has started.

        May be called again, from any thread but the reader. The connection is closed last, when
        nothing reads from it: the system may give its descriptor to another one at once.
        """
        with self._closing:
            self._process.terminate()
            self._process.join(END_SECONDS)
            if self._process.is_alive():
                self._process.kill()
                self._process.join()
            self._reader.join()
            self._connection.close()

    def _read(self) -> None:
        with suppress(RuntimeError):  # the loop has ended
            with suppress(EOFError, OSError):
                while True:
                    self._loop.call_soon_threadsafe(self._take, *self._connection.recv())
            self._loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        """Note that the process has ended, and release what belonged to it."""
        self.over = True
        self._loop.run_in_executor(None, self.close)
        for answer, _ in self._pending.values():
            if not answer.done():
                answer.set_result({"error": DIED, "status": 409})
        self._receive("over", {})

    def _take(self, event: str, data: Json) -> None:
        number = data.pop("request", None)
        if number is None:
            self._receive(event, data)
            return
        answer, receive = self._pending[number]
        if event == "reply":
            del self._pending[number]
        if answer.done():  # the request was cancelled
            return
        if event == "reply":
            answer.set_result(data)
        else:
            receive(event, data)


class Jobs:
    """All workers. A spare one is kept ready, because a process takes long to start."""

    def __init__(self) -> None:
        self._spare: Job | None = None
        self._all: list[Job] = []
        self._closed = False

    def prepare(self) -> Job | None:
        """Start the spare worker if there is none."""
        if not self._closed and (self._spare is None or not self._spare.is_alive):
            self._spare = Job()
            self._all = [*(job for job in self._all if not job.over), self._spare]
        return self._spare

    def start(
        self, match: tuple[MatchRecord, bytes] | None = None, receive: Receive = ignore
    ) -> Job:
        """Start a task in a worker; arguments as for `Job.begin`."""
        job = self.prepare()
        assert job is not None  # noqa: S101  (nothing starts after `close`)
        self._spare = None
        job.begin(match, receive)
        asyncio.get_running_loop().call_later(0.1, self.prepare)
        return job

    async def close(self) -> None:
        """End all workers."""
        self._closed = True
        await asyncio.gather(*(asyncio.to_thread(job.close) for job in self._all))
