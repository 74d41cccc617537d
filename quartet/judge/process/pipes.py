"""The standard streams of running programs: lines in, lines out, and none of them can hold up the
judge.

What a program writes is taken as it comes, up to a bound; what it is sent waits here until it takes
it. A `Hub` moves the bytes of all programs of a game at once, so that one that computes, or floods
its standard error, is served while another one has the turn.
"""

from __future__ import annotations

import os
import queue
import select
import sys
import threading
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

CHUNK = 1 << 16
"""Bytes that are read at a time."""
LINE_LIMIT = 1 << 16
"""Bytes of standard output that are taken ahead of the questions. A longer line is no answer; a
program that is further ahead waits."""
STDERR_LIMIT = 1 << 16
"""Bytes of standard error that are kept, in a whole game; the rest is read and dropped, so that the
program is never held up."""
BACKLOG = 64
"""Chunks that threads may have read ahead of us."""
DEATH_SECONDS = 5.0
"""How long the pipes of a program that has been ended may stay open. Only a process that hangs
inside the kernel holds them."""


class Remarks:
    """What a program says on its standard error, line by line.

    Attributes:
        lines: list[str]; that are kept; the last one may say that more was dropped.
        size: all bytes.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.size = 0
        self._begun = bytearray()

    def feed(self, chunk: bytes) -> None:
        """More bytes have come."""
        if self.size > STDERR_LIMIT:
            self.size += len(chunk)
            return
        self._begun += chunk[: STDERR_LIMIT - self.size]
        self.size += len(chunk)
        *whole, rest = self._begun.split(b"\n")
        self._begun = bytearray(rest)
        self.lines += [_decode(line) for line in whole]
        if self.size > STDERR_LIMIT:
            self.finish()
            self.lines.append(f"(only the first {STDERR_LIMIT} bytes are kept)")

    def finish(self) -> None:
        """No more bytes will come: a line without an end is a line."""
        if self._begun:
            self.lines.append(_decode(self._begun))
            self._begun.clear()


class Pipes:
    """Both ends of a conversation with one program, as far as it has come through.

    Attributes:
        received: standard output that has not been asked for yet; unsent: standard input that has
            not been taken yet.
        written: bool; whether anything has been received at all.
        ended: nothing more will be received; deaf: nothing more can be sent.
        remarks: standard error.
    """

    def __init__(self) -> None:
        self.received = bytearray()
        self.unsent = bytearray()
        self.written = False
        self.ended = False
        self.deaf = False
        self.remarks = Remarks()

    @property
    def full(self) -> bool:
        """Whether no more is taken until a line has been asked for."""
        return len(self.received) >= LINE_LIMIT

    def line(self) -> bytes | None:
        """The next line without its end, None when no whole one has come. At the end of all output
        the rest is a line."""
        end = self.received.find(b"\n")
        if end < 0:
            if not self.ended or not self.received:
                return None
            end = len(self.received)
        line = bytes(self.received[:end])
        del self.received[: end + 1]
        return line.removesuffix(b"\r")


class Hub(ABC):
    """Moves the bytes of all programs of a game.

    Attributes:
        watchers: called before every wait; each does what it is time for, and gives the seconds
            until it wants to be called again.
        lag: seconds after which whatever a program has written is there to be moved.
    """

    lag = 0.0

    def __init__(self) -> None:
        self.watchers: list[Callable[[], float]] = []

    def wait(self, seconds: float) -> bool:
        """Move bytes until some have been moved, the time is up, or a watcher wants to be called;
        whether any have been moved."""
        return self.move(min([seconds, *(watcher() for watcher in self.watchers)]))

    @abstractmethod
    def move(self, seconds: float) -> bool:
        """The same without watchers."""

    @abstractmethod
    def connect(self, pipes: Pipes, stdin: int, stdout: int, stderr: int) -> None:
        """Serve these descriptors; they remain the caller's, and must be open until
        `disconnect`."""

    @abstractmethod
    def disconnect(self, pipes: Pipes, *descriptors: int) -> None:
        """Serve them no more. The program has been ended."""

    @abstractmethod
    def send(self, pipes: Pipes) -> None:
        """Send of `pipes.unsent` what the program takes now, and the rest when it takes it. Never
        blocks."""


class PollHub(Hub):
    """Moves bytes where the system can wait for many pipes at a time."""

    def __init__(self) -> None:
        super().__init__()
        self._poll = select.poll()
        self._handlers: dict[int, Callable[[], bool]] = {}
        self._paused: dict[int, tuple[Pipes, Callable[[], bool]]] = {}
        self._inputs: dict[Pipes, int] = {}

    def connect(self, pipes: Pipes, stdin: int, stdout: int, stderr: int) -> None:
        for descriptor in (stdin, stdout, stderr):
            os.set_blocking(descriptor, False)
        self._inputs[pipes] = stdin
        self._register(stdout, select.POLLIN, lambda: self._receive(pipes, stdout))
        self._register(stderr, select.POLLIN, lambda: _read_remarks(pipes, stderr))

    def disconnect(self, pipes: Pipes, *descriptors: int) -> None:
        self._inputs.pop(pipes, None)
        for descriptor in descriptors:
            self._paused.pop(descriptor, None)
            self._unregister(descriptor)

    def watch(self, descriptor: int, notice: Callable[[], None]) -> None:
        """Call `notice`, once, when there is something to read; it is no pipe of a program."""

        def handle() -> bool:
            notice()
            return False

        self._register(descriptor, select.POLLIN, handle)

    def send(self, pipes: Pipes) -> None:
        stdin = self._inputs[pipes]
        if pipes.deaf:
            pipes.unsent.clear()
        elif stdin not in self._handlers and _write(pipes, stdin):
            self._register(stdin, select.POLLOUT, lambda: _write(pipes, stdin))

    def move(self, seconds: float) -> bool:
        for descriptor, (pipes, handle) in list(self._paused.items()):
            if not pipes.full:
                del self._paused[descriptor]
                self._register(descriptor, select.POLLIN, handle)
        events = self._poll.poll(max(0.0, seconds) * 1000)
        for descriptor, _ in events:
            handler = self._handlers.get(descriptor)
            if handler is not None and not handler():
                self._unregister(descriptor)
        return bool(events)

    def _receive(self, pipes: Pipes, stdout: int) -> bool:
        chunk = _read(stdout)
        if chunk is None:
            return True
        pipes.received += chunk
        pipes.written |= bool(chunk)
        pipes.ended = not chunk
        if chunk and pipes.full:
            self._paused[stdout] = pipes, self._handlers[stdout]
            return False
        return bool(chunk)

    def _register(self, descriptor: int, event: int, handler: Callable[[], bool]) -> None:
        """Call `handler` whenever the event happens, until it returns False."""
        self._handlers[descriptor] = handler
        self._poll.register(descriptor, event)

    def _unregister(self, descriptor: int) -> None:
        if self._handlers.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)


class ThreadHub(Hub):
    """Moves bytes where the system cannot wait for pipes: every pipe has a thread that does."""

    lag = 0.05

    def __init__(self) -> None:
        super().__init__()
        self._arrived: queue.Queue[tuple[Callable[[bytes], None], bytes]] = queue.Queue(BACKLOG)
        self._outgoing: dict[Pipes, queue.SimpleQueue[bytes | None]] = {}
        self._threads: dict[Pipes, list[threading.Thread]] = {}

    def connect(self, pipes: Pipes, stdin: int, stdout: int, stderr: int) -> None:
        self._outgoing[pipes] = queue.SimpleQueue()
        self._threads[pipes] = [
            threading.Thread(target=self._write_all, args=(pipes, stdin), daemon=True),
            threading.Thread(
                target=self._read_all, args=(stdout, lambda chunk: _take(pipes, chunk)), daemon=True
            ),
            threading.Thread(target=self._read_all, args=(stderr, pipes.remarks.feed), daemon=True),
        ]
        for thread in self._threads[pipes]:
            thread.start()

    # As the other hub.
    def disconnect(self, pipes: Pipes, *descriptors: int) -> None:  # noqa: ARG002
        self._outgoing.pop(pipes).put(None)
        threads = self._threads.pop(pipes)
        deadline = time.monotonic() + DEATH_SECONDS
        while any(thread.is_alive() for thread in threads) and time.monotonic() < deadline:
            self.move(0.01)

    def send(self, pipes: Pipes) -> None:
        if not pipes.deaf:
            self._outgoing[pipes].put(bytes(pipes.unsent))
        pipes.unsent.clear()

    def move(self, seconds: float) -> bool:
        try:
            take, chunk = (
                self._arrived.get(timeout=seconds) if seconds > 0 else self._arrived.get_nowait()
            )
        except queue.Empty:
            return False
        take(chunk)
        with suppress(queue.Empty):
            for _ in range(BACKLOG):
                take, chunk = self._arrived.get_nowait()
                take(chunk)
        return True

    def _read_all(self, descriptor: int, take: Callable[[bytes], None]) -> None:
        chunk = b"-"
        while chunk:
            try:
                chunk = os.read(descriptor, CHUNK)
            except OSError:
                chunk = b""
            self._arrived.put((take, chunk))

    def _write_all(self, pipes: Pipes, stdin: int) -> None:
        outgoing = self._outgoing[pipes]
        while (data := outgoing.get()) is not None:
            try:
                while data:
                    data = data[os.write(stdin, data) :]
            except OSError:
                pipes.deaf = True
                return


def hub() -> Hub:
    """What serves this system."""
    return ThreadHub() if sys.platform == "win32" else PollHub()


def _take(pipes: Pipes, chunk: bytes) -> None:
    """Standard output has come from a thread; what a program says too far ahead is lost, for the
    thread cannot be held up alone."""
    pipes.written |= bool(chunk)
    if not chunk:
        pipes.ended = True
    elif not pipes.full:
        pipes.received += chunk


def _read(descriptor: int) -> bytes | None:
    """What there is, empty at the end, None when there is nothing yet."""
    try:
        return os.read(descriptor, CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _read_remarks(pipes: Pipes, stderr: int) -> bool:
    """Read what there is; whether there may be more."""
    chunk = _read(stderr)
    if chunk:
        pipes.remarks.feed(chunk)
    return chunk is None or bool(chunk)


def _write(pipes: Pipes, stdin: int) -> bool:
    """Write what the pipe takes; whether there is more to write."""
    with suppress(BlockingIOError):
        try:
            del pipes.unsent[: os.write(stdin, pipes.unsent)]
        except BrokenPipeError:
            pipes.deaf = True
            pipes.unsent.clear()
    return bool(pipes.unsent)


def _decode(line: bytes | bytearray) -> str:
    """A line as text that cannot disturb a terminal, nor a reader of lines."""
    text = line.decode("utf-8", "replace").rstrip("\r").replace("\t", " ")
    return "".join(character if character.isprintable() else "?" for character in text)
