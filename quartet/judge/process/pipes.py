"""Standard streams of persistent programs; no program can block the judge.

Output is read as it comes, up to a bound. Input waits here until the program reads it. A `Hub`
moves the bytes of all programs of a game, so that a program can write while another one has the
turn.
"""

from __future__ import annotations

import os
import queue
import select
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress

CHUNK = 1 << 16
"""Bytes per read."""
LINE_LIMIT = 1 << 16
"""Bytes of standard output that are read before they are asked for. A longer line is no answer; a
program that writes more blocks."""
STDERR_LIMIT = 1 << 16
"""Bytes of a program's standard error that are kept. The rest is read and dropped, so that the
program never blocks."""
BACKLOG = 64
"""Chunks that reading threads may be ahead."""
DEATH_SECONDS = 5.0
"""Seconds that a killed process may take to die, and its pipes may stay open. Only one that hangs
inside the kernel needs them."""


class StderrLog:
    """The standard error of a program, line by line.

    Attributes:
        lines: Lines kept; the last one may say that more was dropped.
        size: Size in bytes, with what was dropped.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.size = 0
        self._begun = bytearray()

    def feed(self, chunk: bytes) -> None:
        """Add bytes."""
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
        """Take the rest as a line; no more bytes will come."""
        if self._begun:
            self.lines.append(_decode(self._begun))
            self._begun.clear()


class Pipes:
    """Input and output of one program.

    Attributes:
        received: Standard output that has not been asked for.
        unsent: Standard input that has not been sent.
        written: True if the program has written anything to standard output.
        ended: True if no more output will come.
        stdin_closed: True if the program can receive no more.
        stderr: Standard error.
    """

    def __init__(self) -> None:
        self.received = bytearray()
        self.unsent = bytearray()
        self.written = False
        self.ended = False
        self.stdin_closed = False
        self.stderr = StderrLog()

    @property
    def full(self) -> bool:
        """Return True if no more is read until a line has been asked for."""
        return len(self.received) >= LINE_LIMIT

    def line(self) -> bytes | None:
        """Return the next line without its end, None if it is not complete.

        At the end of the output the rest is a line.
        """
        end = self.received.find(b"\n")
        if end < 0:
            if not self.ended or not self.received:
                return None
            end = len(self.received)
        line = bytes(self.received[:end])
        del self.received[: end + 1]
        return line.removesuffix(b"\r")


class Hub(ABC):
    """Mover of the bytes of all programs of a game.

    Attributes:
        watchers: Called before every wait; each returns the seconds until it wants to be called
            again.
        lag: Seconds until what a program has written can be moved.
    """

    lag = 0.0

    def __init__(self) -> None:
        self.watchers: list[Callable[[], float]] = []

    def wait(self, seconds: float) -> bool:
        """Wait until bytes have been moved, the time is up, or a watcher is due.

        Returns:
            True if bytes have been moved.
        """
        return self.move(min([seconds, *(watcher() for watcher in self.watchers)]))

    @abstractmethod
    def move(self, seconds: float) -> bool:
        """As `wait`, without watchers."""

    @abstractmethod
    def connect(self, pipes: Pipes, stdin: int, stdout: int, stderr: int) -> None:
        """Begin to serve these descriptors, which the caller keeps open until `disconnect`."""

    @abstractmethod
    def disconnect(self, pipes: Pipes, *descriptors: int) -> None:
        """Stop serving descriptors of a dead program."""

    @abstractmethod
    def send(self, pipes: Pipes) -> None:
        """Send `pipes.unsent`: what fits now, the rest later. Never block."""


class PollHub(Hub):
    """A hub for systems that can wait for many pipes at a time."""

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
        self._register(stderr, select.POLLIN, lambda: _read_stderr(pipes, stderr))

    def disconnect(self, pipes: Pipes, *descriptors: int) -> None:
        self._inputs.pop(pipes, None)
        for descriptor in descriptors:
            self._paused.pop(descriptor, None)
            self._unregister(descriptor)

    def watch(self, descriptor: int, notice: Callable[[], None]) -> None:
        """Call `notice` once, when a descriptor that is not a program's pipe becomes readable."""

        def handle() -> bool:
            notice()
            return False

        self._register(descriptor, select.POLLIN, handle)

    def send(self, pipes: Pipes) -> None:
        stdin = self._inputs[pipes]
        if pipes.stdin_closed:
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
        """Call `handler` at every event, until it returns False."""
        self._handlers[descriptor] = handler
        self._poll.register(descriptor, event)

    def _unregister(self, descriptor: int) -> None:
        if self._handlers.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)


class ThreadHub(Hub):
    """A hub for systems that cannot wait for pipes: each pipe has a thread."""

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
            threading.Thread(target=self._read_all, args=(stderr, pipes.stderr.feed), daemon=True),
        ]
        for thread in self._threads[pipes]:
            thread.start()

    def disconnect(self, pipes: Pipes, *descriptors: int) -> None:  # noqa: ARG002
        self._outgoing.pop(pipes).put(None)
        threads = self._threads.pop(pipes)
        deadline = time.monotonic() + DEATH_SECONDS
        while any(thread.is_alive() for thread in threads) and time.monotonic() < deadline:
            self.move(0.01)

    def send(self, pipes: Pipes) -> None:
        if not pipes.stdin_closed:
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
                pipes.stdin_closed = True
                return


def hub() -> Hub:
    """Return a hub for this system."""
    return ThreadHub() if sys.platform == "win32" else PollHub()


def _take(pipes: Pipes, chunk: bytes) -> None:
    """Add standard output from a thread; drop what is too far ahead, for the thread must not
    block."""
    pipes.written |= bool(chunk)
    if not chunk:
        pipes.ended = True
    elif not pipes.full:
        pipes.received += chunk


def _read(descriptor: int) -> bytes | None:
    """Return the available bytes; none at the end; None if there are none yet."""
    try:
        return os.read(descriptor, CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _read_stderr(pipes: Pipes, stderr: int) -> bool:
    """Read the available bytes; return False at the end."""
    chunk = _read(stderr)
    if chunk:
        pipes.stderr.feed(chunk)
    return chunk is None or bool(chunk)


def _write(pipes: Pipes, stdin: int) -> bool:
    """Write what the pipe takes; return True if there is more to write."""
    with suppress(BlockingIOError):
        try:
            del pipes.unsent[: os.write(stdin, pipes.unsent)]
        except BrokenPipeError:
            pipes.stdin_closed = True
            pipes.unsent.clear()
    return bool(pipes.unsent)


def _decode(line: bytes | bytearray) -> str:
    """Return a line as text without control characters."""
    text = line.decode("utf-8", "replace").rstrip("\r").replace("\t", " ")
    return "".join(character if character.isprintable() else "?" for character in text)
