"""All runs in a folder. A run and its running games are read while a browser follows them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from core.errors import QuartetError
from quartet.arena import catalogue, records
from quartet.judge.logs import jsonl
from quartet.judge.logs.jsonl import Header
from quartet.web import views
from quartet.web.errors import Refused
from quartet.web.events import Topic
from quartet.web.run_reader import RunReader

Events = list[tuple[str, views.Json]]
Look = Callable[[], Events]

LIST_EVERY, RUN_EVERY, LIVE_EVERY = 2.0, 1.0, 0.25
"""Seconds between two checks of the list of runs, of a run, and of a running game."""
UNWATCHED = 5.0
"""Seconds until an unwatched topic is no longer read."""
REST = 20
"""Pause after a check, in times of the processor time that it took: the players need the cores."""
MAX_MISSING = 20
"""Looks at a game that has neither a live file nor a record before it counts as missing."""

MAX_DIGITS = 9
"""Digits of the number of a game."""


class FollowedRuns:
    """The runs in a folder, and the topics that browsers follow."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._readers: dict[str, RunReader] = {}
        self._topics: dict[str, Topic] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def lines(self) -> list[views.Json]:
        """Return a line for every run, the newest first."""
        return [reader.line() for reader in self._all().values()]

    def reader(self, name: str) -> RunReader:
        """Return the run of that name. Raises Refused."""
        readers = self._readers if name in self._readers else self._all()
        if name not in readers:
            raise Refused("there is no such run", 404)
        return readers[name]

    async def topic(self, name: str) -> Topic | None:
        """Return the topic of the list, a run or a running game, None if there is none."""
        if name not in self._topics:
            try:
                every, look = await asyncio.to_thread(self._look, name)
                first = await asyncio.to_thread(look)
            except QuartetError:
                return None
            if name not in self._topics:  # another request may have been quicker
                state: views.Json = {"view": None}
                _note(state, first)
                self._topics[name] = topic = Topic(name, lambda: state)
                self._tasks[name] = asyncio.create_task(self._follow(topic, state, every, look))
        self._topics[name].left = time.monotonic()
        return self._topics[name]

    def close(self) -> None:
        """Stop reading."""
        for task in list(self._tasks.values()):
            task.cancel()

    def _look(self, name: str) -> tuple[float, Look]:
        """Return how often a topic is read, in seconds, and what reads it. Raises Refused."""
        kind, _, rest = name.partition("/")
        run, _, number = rest.rpartition("/")
        if kind == "live" and number.isdecimal() and len(number) <= MAX_DIGITS:
            return LIVE_EVERY, LiveGame(self.reader(run), int(number)).events
        if kind == "run":
            return RUN_EVERY, _run_events(self.reader(rest)).__next__
        if name == "runs":
            return LIST_EVERY, lambda: [("state", {"runs": self.lines()})]
        raise Refused("there is no such topic", 404)

    async def _follow(self, topic: Topic, state: views.Json, every: float, look: Look) -> None:
        """Publish what is new, for as long as a browser follows."""
        pause = every
        try:
            while topic.unwatched_for <= UNWATCHED:
                await asyncio.sleep(pause)
                events, took = await asyncio.to_thread(_timed, look)
                for event, data in events:
                    if event != "state" or state | data != state:
                        topic.publish(event, **data)
                _note(state, events)
                pause = max(every, REST * took)
        except Exception as error:
            topic.publish("gone", error=str(error))
            if not isinstance(error, QuartetError):
                raise
        finally:
            del self._topics[topic.name], self._tasks[topic.name]

    def _all(self) -> dict[str, RunReader]:
        """Return the runs by name, the newest first."""
        if self._folder is None or not self._folder.is_dir():
            return {}
        found = [
            path for path in self._folder.iterdir() if path.is_dir() and catalogue.is_run(path)
        ]
        found.sort(key=catalogue.last_change, reverse=True)
        self._readers = {
            path.name: self._readers.get(path.name) or RunReader(path) for path in found
        }
        return self._readers


class LiveGame:
    """A running game of a run, read from its file."""

    def __init__(self, reader: RunReader, number: int) -> None:
        self._reader, self._number = reader, number
        self._file = reader.folder / records.live_name(number)
        self._viewer: views.Viewer | None = None
        self._over = False
        self._patience = MAX_MISSING

    @property
    def view(self) -> views.Json | None:
        """The game so far, None before its file begins."""
        return None if self._viewer is None else self._viewer.view

    def events(self) -> Events:
        """Return what is new. Raises QuartetError if the file is damaged."""
        if self._over:
            return []
        try:
            data = self._file.read_bytes()
        except OSError:
            self._over = True
            if self.view is not None and self.view["result"] is not None:
                return []
            return self._recorded()
        if b"\n" not in data:  # the game begins, or begins again
            self._viewer = None
            return []
        log = jsonl.read_log(data)
        seen = 0 if self._viewer is None else len(self._viewer.view["turns"])
        if self._viewer is None or len(log.turns) < seen:  # restarted, or turns were taken back
            self._viewer = self._begun(log.header).replay(log.turns, log.result)
            return [("state", {"view": self.view})]
        events = [("turn", self._viewer.turn(turn)) for turn in log.turns[seen:]]
        if log.result is not None and self._viewer.view["result"] is None:
            events.append(("end", {"result": self._viewer.end(log.result)}))
        return events

    def _recorded(self) -> Events:
        """Return the end of the game, with turns that its file had not shown."""
        try:
            view = self._reader.view(self._number)
        except QuartetError:
            result = self._reader.end(self._number)
            # The record may follow in a moment, or a resumed run may play the game again.
            if result is None and self._patience > 0:
                self._patience -= 1
                self._over = False
                return []
            return [("end", {"result": result})]
        for turn, seen in zip(view["turns"], self.view["turns"] if self.view else (), strict=False):
            turn["info"] = seen["info"]
        return [("state", {"view": view}), ("end", {"result": view["result"]})]

    def _begun(self, header: Header) -> views.Viewer:
        """Return the viewer of the game before its first turn."""
        commands = self._reader.commands()
        engines = {s: commands.get(name or "", "") for s, name in enumerate(header.players)}
        clocks = self._reader.clocks(self._number, header.players)
        viewer = views.Viewer(header, engines=engines, ms=clocks)
        source = {"run": self._reader.name, "number": self._number}
        viewer.view = {"source": source, **viewer.view}
        return viewer


def _run_events(reader: RunReader) -> Iterator[Events]:
    seen, live = -1, None
    while True:
        shown = reader.shown()
        is_new, seen = reader.changed != seen, reader.changed
        is_live, live = shown["live"] != live, shown["live"]
        if is_new:
            yield [("state", {"run": shown})]
        else:
            yield [("live", {"live": live})] if is_live else []
        reader.rate()


def _timed(look: Look) -> tuple[Events, float]:
    """Return what is new, and the seconds of processor time that it took to find out."""
    started = time.thread_time()
    return look(), time.thread_time() - started


def _note(state: views.Json, events: Events) -> None:
    """Keep the latest state for new followers."""
    for event, data in events:
        if event == "state":
            state.update(data)
        elif event == "live":
            state["run"] = {**state["run"], **data}
