"""What happens, for whoever follows it: topics, and streams of server-sent events that go on where
they were broken off."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

KEPT = 400
"""Events of a topic that can be had again."""
SILENCE = 10.0
"""Seconds after which a stream says that it is there."""


class Topic:
    """Something that can be followed.

    Attributes:
        name: str. number: int; of the last event. followers: int; streams that follow it now.
        left: float; when the last of them left, on the clock of `time.monotonic`.
    """

    def __init__(self, name: str, state: Callable[[], dict[str, Any]]) -> None:
        """`state` gives what a follower must know that has heard nothing yet."""
        self.name = name
        # later servers at the same address have higher numbers
        self.number = int(time.time() * 1000)
        self.followers = 0
        self.left = time.monotonic()
        self._state = state
        self._kept: deque[tuple[int, bytes]] = deque(maxlen=KEPT)
        self._bells: set[asyncio.Event] = set()

    def publish(self, event: str, **data: Any) -> None:
        """Tell all followers."""
        self.number += 1
        self._kept.append((self.number, self._block(event, data)))
        for bell in self._bells:
            bell.set()

    def publish_state(self) -> None:
        """Tell all followers everything anew."""
        self.publish("state", **self._state())

    def since(self, number: int | None) -> list[tuple[int, bytes]]:
        """All events after this one, with their numbers; where they are not known any more, or
        nothing was heard yet, the state."""
        if number == self.number:
            return []
        first = self._kept[0][0] if self._kept else self.number + 1
        if number is None or not first - 1 <= number <= self.number:
            return [(self.number, self._block("state", self._state()))]
        return [(kept, block) for kept, block in self._kept if kept > number]

    def join(self, bell: asyncio.Event) -> None:
        """A stream follows it; the bell rings when there is something new."""
        self.followers += 1
        self._bells.add(bell)

    def leave(self, bell: asyncio.Event) -> None:
        """A stream follows it no more."""
        self.followers -= 1
        self._bells.discard(bell)
        self.left = time.monotonic()

    def _block(self, event: str, data: dict[str, Any]) -> bytes:
        body = msgspec.json.encode({"topic": self.name, "seq": self.number, **data})
        return b"event: " + event.encode() + b"\ndata: " + body + b"\n"


class Streams:
    """All streams that go on.

    Attributes:
        closed: bool; whether they are to end.
    """

    def __init__(self) -> None:
        self.closed = False
        self.bells: set[asyncio.Event] = set()

    def close(self) -> None:
        """End all, and what comes after."""
        self.closed = True
        for bell in self.bells:
            bell.set()


async def stream(
    streams: Streams, topics: Sequence[Topic], unknown: Sequence[str], last: dict[str, int]
) -> AsyncIterator[bytes]:
    """Server-sent events of some topics.

    Args:
        streams: among which it is.
        topics: to follow. unknown: names of others that were asked for; they are told to be gone.
        last: what was heard last, by topic.
    """
    heard: dict[str, int | None] = {topic.name: last.get(topic.name) for topic in topics}
    bell = asyncio.Event()
    streams.bells.add(bell)
    for topic in topics:
        topic.join(bell)
    try:
        yield b"retry: 1000\n\n"
        for name in unknown:
            body = msgspec.json.encode({"topic": name, "error": "there is no such thing any more"})
            yield b"event: gone\ndata: " + body + b"\n\n"
        while not streams.closed:
            bell.clear()
            for topic in topics:
                for number, block in topic.since(heard[topic.name]):
                    heard[topic.name] = number
                    yield block + b"id: " + write_id(heard) + b"\n\n"
            try:
                await asyncio.wait_for(bell.wait(), SILENCE)
            except TimeoutError:
                yield b": here\n\n"
    finally:
        streams.bells.discard(bell)
        for topic in topics:
            topic.leave(bell)


def write_id(heard: dict[str, int | None]) -> bytes:
    """What was heard last, as the id of an event."""
    return ";".join(f"{name}={number}" for name, number in heard.items() if number).encode()


def read_id(text: str) -> dict[str, int]:
    """The reverse of `write_id`; what makes no sense is left away."""
    pairs = [part.rpartition("=") for part in text.split(";")]
    return {
        name: int(number) for name, _, number in pairs if number.isdecimal() and len(number) < 16
    }
