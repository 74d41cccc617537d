"""Worker processes, as the page's server sees them: what they tell arrives in its event loop."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
from itertools import count
from typing import TYPE_CHECKING, Any

from quartet.arena import run
from quartet.web import worker
from quartet.web.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

    from quartet.web.views import Json

DIED = "its process has died"
END_SECONDS = 5.0
"""What a worker has for ending its programs before it is killed."""


class Job:
    """A worker process with something to do.

    Attributes:
        over: bool; whether nothing more will come.
    """

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=worker.main, args=(theirs,), daemon=True)
        with run.no_ctrl_c():
            self._process.start()
        theirs.close()
        self._loop: asyncio.AbstractEventLoop
        self._tell: Callable[[str, Json], None]
        self._numbers = count()
        self._asked: dict[int, asyncio.Future[Json]] = {}
        self._sending = asyncio.Lock()
        self._reader: threading.Thread | None = None
        self._closing = threading.Lock()
        self.over = False

    @property
    def lives(self) -> bool:
        """Whether there is a process."""
        return self._process.is_alive()

    def begin(self, kind: str, spec: Any, tell: Callable[[str, Json], None]) -> None:
        """Have it do something; `tell` gets every event with its data, in this loop, the last one
        with the name "over"."""
        self._loop, self._tell = asyncio.get_running_loop(), tell
        self._connection.send((kind, spec))
        self._reader = threading.Thread(target=self._read, args=(self._connection,), daemon=True)
        self._reader.start()

    async def ask(self, do: str, **data: Any) -> Json:
        """The worker's answer to a request. Raises Refused."""
        if self.over:
            raise Refused("it is over")
        number = next(self._numbers)
        self._asked[number] = future = self._loop.create_future()
        async with self._sending:
            try:
                await asyncio.to_thread(self._connection.send, {"do": do, "number": number, **data})
            except OSError:
                raise Refused(DIED) from None
        found: Json = await future
        if "error" in found:
            raise Refused(found["error"], found["status"])
        return found

    def close(self) -> None:
        """End the process with all that it has started. May be called again, by any thread but the
        reader: the connection is closed once, when nobody reads it any more, since its descriptor
        may be another's a moment later."""
        with self._closing:
            self._process.terminate()
            self._process.join(END_SECONDS)
            if self._process.is_alive():
                self._process.kill()
                self._process.join()
            if self._reader is not None:
                self._reader.join()
            self._connection.close()

    def _read(self, connection: Connection) -> None:
        while True:
            try:
                event, data = connection.recv()
            except (EOFError, OSError):
                event, data = "over", {}
            try:
                self._loop.call_soon_threadsafe(self._hear, event, data)
            except RuntimeError:  # the loop has ended
                return
            if event == "over":
                return

    def _hear(self, event: str, data: Json) -> None:
        if event == "reply":
            future = self._asked.pop(data.pop("number"), None)
            if future is not None and not future.done():
                future.set_result(data)
            return
        if event == "over":
            self.over = True
            for future in self._asked.values():
                if not future.done():
                    future.set_result({"error": DIED, "status": 409})
            self._asked.clear()
        self._tell(event, data)


class Jobs:
    """All workers; one more is kept ready, so that nobody waits for a process to start."""

    def __init__(self) -> None:
        self._spare: Job | None = None
        self._all: set[Job] = set()
        self._closed = False

    def prepare(self) -> None:
        """Have one ready."""
        is_there = self._spare is not None and self._spare.lives
        if not is_there and not self._closed:
            self._spare = Job()

    def start(self, kind: str, spec: Any, tell: Callable[[str, Json], None]) -> Job:
        """As `Job.begin`."""
        self.prepare()
        job, self._spare = self._spare, None
        assert job is not None  # noqa: S101  (it was prepared)
        self._all.add(job)

        def hear(event: str, data: Json) -> None:
            if event == "over":
                self._all.discard(job)
                if not self._closed:
                    asyncio.get_running_loop().run_in_executor(None, job.close)
            tell(event, data)

        job.begin(kind, spec, hear)
        asyncio.get_running_loop().call_later(0.1, self.prepare)
        return job

    async def end(self, job: Job) -> None:
        """End one."""
        await asyncio.to_thread(job.close)

    async def close(self) -> None:
        """End all."""
        self._closed = True
        jobs = [*self._all, *([self._spare] if self._spare else [])]
        await asyncio.gather(*(asyncio.to_thread(job.close) for job in jobs))
