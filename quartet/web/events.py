"""Topics and streams of server-sent events. A stream that was interrupted resumes."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import msgspec

MAX_EVENTS = 400
"""Events of a topic that can be repeated."""
SILENCE = 10.0
"""Seconds without an event after which a stream sends a sign of life."""


class Topic:
    """Something that streams can follow.

    Attributes:
        name: Name in addresses.
        left: When it was last followed, on the clock of `time.monotonic`.
    """

    def __init__(self, name: str, state: Callable[[], dict[str, Any]]) -> None:
        """`state` returns what a new follower needs."""
        self.name = name
        # a later server at the same address continues with higher numbers
        self.number = int(time.time() * 1000)
        self.left = time.monotonic()
        self._state = state
        self._recent: deque[tuple[int, bytes]] = deque(maxlen=MAX_EVENTS)
        self._bells: set[asyncio.Event] = set()

    @property
    def unwatched_for(self) -> float:
        """Seconds since the last stream has left; 0 while one follows."""
        return 0.0 if self._bells else time.monotonic() - self.left

    def publish(self, event: str, **data: Any) -> None:
        """Send an event to all followers."""
        self.number += 1
        self._recent.append((self.number, self._block(event, data)))
        for bell in self._bells:
            bell.set()

    def publish_state(self) -> None:
        """Send the whole state to all followers."""
        self.publish("state", **self._state())

    def since(self, number: int | None) -> list[tuple[int, bytes]]:
        """Return the events after `number`, with their numbers.

        If they are not in memory any more, or `number` is None, return the state instead.
        """
        if number == self.number:
            return []
        first = self._recent[0][0] if self._recent else self.number + 1
        if number is None or not first - 1 <= number <= self.number:
            return [(self.number, self._block("state", self._state()))]
        return [(kept, block) for kept, block in self._recent if kept > number]

    def forget(self) -> None:
        """Drop the events: a stream that resumes gets the state."""
        self._recent.clear()

    def join(self, bell: asyncio.Event) -> None:
        """Add a follower; `bell` is set at every event."""
        self._bells.add(bell)

    def leave(self, bell: asyncio.Event) -> None:
        """Remove a follower."""
        self._bells.discard(bell)
        self.left = time.monotonic()

    def _block(self, event: str, data: dict[str, Any]) -> bytes:
        body = msgspec.json.encode({"topic": self.name, "seq": self.number, **data})
        return b"event: " + event.encode() + b"\ndata: " + body + b"\n"


class Streams:
    """All open streams.

    Attributes:
        closed: True if they must end.
    """

    def __init__(self) -> None:
        self.closed = False
        self.bells: set[asyncio.Event] = set()

    def close(self) -> None:
        """End all streams, and those that begin later."""
        self.closed = True
        for bell in self.bells:
            bell.set()


async def stream(
    streams: Streams, topics: Sequence[Topic], unknown: Sequence[str], last: dict[str, int]
) -> AsyncIterator[bytes]:
    """Yield the server-sent events of some topics.

    Args:
        streams: The server's streams.
        topics: Topics to follow.
        unknown: Requested topics that do not exist; each gets an event `gone`.
        last: Number of the last event that the browser received, by topic.
    """
    received: dict[str, int | None] = {topic.name: last.get(topic.name) for topic in topics}
    bell = asyncio.Event()
    streams.bells.add(bell)
    for topic in topics:
        topic.join(bell)
    try:
        yield b"retry: 1000\n\n"
        for name in unknown:
            body = msgspec.json.encode({"topic": name, "error": "this does not exist any more"})
            yield b"event: gone\ndata: " + body + b"\n\n"
        while not streams.closed:
            bell.clear()
            for topic in topics:
                for number, block in topic.since(received[topic.name]):
                    received[topic.name] = number
                    yield block + b"id: " + write_id(received) + b"\n\n"
            try:
                await asyncio.wait_for(bell.wait(), SILENCE)
            except TimeoutError:
                yield b": here\n\n"
    finally:
        streams.bells.discard(bell)
        for topic in topics:
            topic.leave(bell)


def write_id(received: dict[str, int | None]) -> bytes:
    """Return the id of an event: the number of the last one of every topic."""
    return ";".join(f"{name}={number}" for name, number in received.items() if number).encode()


def read_id(text: str) -> dict[str, int]:
    """Reverse `write_id`; ignore what is malformed."""
    pairs = [part.rpartition("=") for part in text.split(";")]
    return {
        name: int(number) for name, _, number in pairs if number.isdecimal() and len(number) < 16
    }
