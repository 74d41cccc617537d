"""The connection of a worker process to the page's server."""

from __future__ import annotations

import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from core.errors import QuartetError
from quartet.web.errors import answer_to
from quartet.web.views import Json


class Link:
    """The connection to the page's server. All threads may send."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sending = threading.Lock()
        self._answering = threading.Lock()

    def send(self, event: str, **data: Any) -> None:
        """Send an event."""
        with self._sending:
            self._connection.send((event, data))

    def answer(self, request: Json, handler: Callable[[Json], Json | None]) -> None:
        """Answer a request with what a handler returns; with nothing if that is None."""
        try:
            found = handler(request)
        except QuartetError as error:
            content, status = answer_to(error)
            found = {**content, "status": status}
        if found is not None:
            self.send("reply", request=request["request"], **found)

    def serve(self, handler: Callable[[Json], Json | None]) -> None:
        """Answer requests until the server closes the connection."""
        while True:
            try:
                request = self._connection.recv()
            except (EOFError, OSError):
                return
            with self._answering:
                self.answer(request, handler)

    def close(self) -> None:
        """Wait until the current request is answered, and answer no other."""
        self._answering.acquire()
