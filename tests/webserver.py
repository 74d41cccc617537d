"""Run `quartet serve`, and call its API as clients do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx
import psutil

from tests.games import ROOT
from tests.processes import is_tracker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ENOUGH = 90.0
"""Seconds after which a test gives up."""


@dataclass
class Page:
    """A server and a client.

    Attributes:
        process: The server's process.
        address: The server's address with the token.
        base: The address without the token.
        token: The token.
        client: A client that sends the token.
    """

    process: subprocess.Popen[str]
    address: str
    base: str = field(init=False)
    token: str = field(init=False)
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.base, _, self.token = self.address.partition("/?token=")
        headers = {"Authorization": f"Bearer {self.token}"}
        self.client = httpx.Client(base_url=self.base, headers=headers, timeout=ENOUGH)

    @property
    def port(self) -> int:
        return int(self.base.rpartition(":")[2])

    def get(self, path: str, code: int = 200, **query: Any) -> Any:
        """Send a GET request; return the answer."""
        return self._json(self.client.get(path, params=query), code)

    def post(self, path: str, data: Any = None, code: int = 200) -> Any:
        """Send a POST request; return the answer."""
        return self._json(self.client.post(path, json=data or {}), code)

    def delete(self, path: str) -> Any:
        """Send a DELETE request; return the answer."""
        return self._json(self.client.delete(path), 200)

    @staticmethod
    def _json(response: httpx.Response, code: int) -> Any:
        assert response.status_code == code, response.text
        return response.json()

    def upload(self, data: bytes, name: str = "game.log", code: int = 201) -> Any:
        """Upload a log."""
        kind = {"Content-Type": "application/octet-stream"}
        found = self.client.post("/api/logs", params={"name": name}, content=data, headers=kind)
        return self._json(found, code)

    def match(self, game: str, *seats: dict[str, Any], **more: Any) -> str:
        """Start a match; return its id."""
        found = self.post("/api/matches", {"game": game, "seats": seats, **more}, 201)
        return str(found["id"])

    def state(self, match: str) -> Any:
        return self.get(f"/api/matches/{match}")

    def asking(self, match: str) -> Any:
        """Wait until a human is asked; return None if the match has ended.

        How long the human has been asked is left out: it is never the same twice.
        """
        asking = wait_for(
            lambda: (
                (found["asking"] or found["ended"]) and found
                if (found := self.state(match))
                else None
            )
        )["asking"]
        return asking and {key: asking[key] for key in asking if key != "since_ms"}

    def ended(self, match: str) -> Any:
        """Wait until a match has ended; return its state."""
        return wait_for(lambda: found if (found := self.state(match))["ended"] else None)

    def kill_workers(self) -> None:
        """Kill all workers, the spare one too, and wait until the server knows that."""
        workers = [
            process
            for process in psutil.Process(self.process.pid).children()
            if not is_tracker(process)
        ]
        for process in workers:
            process.kill()
        wait_for(lambda: not any(process.is_running() for process in workers))

    @contextmanager
    def follow(self, *topics: str, after: str = "") -> Iterator[Follower]:
        """Follow some topics, at once or after the event with an id."""
        follower = Follower(self, topics, after)
        try:
            if not after:
                wait_for(lambda: follower.events)
            yield follower
        finally:
            follower.close()


class Follower:
    """Receives events as a browser's tab does.

    Attributes:
        events: Name and data of the events so far.
        last: Id of the last event.
    """

    def __init__(self, page: Page, topics: tuple[str, ...], after: str) -> None:
        self.events: list[tuple[str, Any]] = []
        self.last = after
        headers = {"Authorization": f"Bearer {page.token}"}
        if after:
            headers["Last-Event-ID"] = after
        self._client = httpx.Client(base_url=page.base, headers=headers, timeout=ENOUGH)
        self._open = True
        self._thread = threading.Thread(target=self._listen, args=(topics,), daemon=True)
        self._thread.start()

    def _listen(self, topics: tuple[str, ...]) -> None:
        event = data = key = ""
        try:
            query = {"topic": topics}
            with self._client.stream("GET", "/api/events", params=query) as got:
                for line in got.iter_lines():
                    if not self._open:
                        return
                    name, _, value = line.partition(": ")
                    if name == "event":
                        event = value
                    elif name == "data":
                        data = value
                    elif name == "id":
                        key = value
                    elif not line and data:
                        self.last = key or self.last
                        self.events.append((event, json.loads(data)))
                        event = data = key = ""
        except httpx.HTTPError:
            return

    def named(self, *names: str) -> list[Any]:
        """Return the data of the events of these names."""
        return [data for name, data in list(self.events) if name in names]

    def until(self, *names: str, number: int = 1) -> list[Any]:
        """Wait for `number` events of these names; return their data."""
        wait_for(lambda: len(self.named(*names)) >= number)
        return self.named(*names)

    def close(self) -> None:
        self._open = False
        self._client.close()


def wait_for(look: Callable[[], Any], seconds: float = ENOUGH) -> Any:
    """Call `look` until it returns a true value; return that."""
    until = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < until, "timed out"
        time.sleep(0.02)
    return found


@contextmanager
def serving(
    *arguments: str, cwd: Any = None, stderr: int | None = None, own_data: bool = True
) -> Iterator[Page]:
    """Run `quartet serve`; afterwards it has ended. Without --data its data folder is new."""
    if own_data and "--data" not in arguments:
        arguments += ("--data", tempfile.mkdtemp())
    process = subprocess.Popen(
        [sys.executable, "-m", "quartet", "serve", *arguments],
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    page = Page(process, process.stdout.readline().strip())
    try:
        yield page
    finally:
        page.client.close()
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(ENOUGH)
        process.stdout.close()
        if process.stderr is not None:
            process.stderr.close()
