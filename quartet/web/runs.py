"""The folders of runs as the page shows them. Records are read, and nothing else; what was read once
is not read again."""

from __future__ import annotations

import asyncio
import datetime as dt
import math
import re
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from core.errors import QuartetError, TextError
from quartet.arena import outcome, ratings, records, tuning
from quartet.arena import runs as recorded
from quartet.arena.curves import Curve, curves
from quartet.arena.runs import Filter, Run, known
from quartet.arena.standings import by_seat
from quartet.arena.unit import GameResult
from quartet.judge import game as games
from quartet.judge.logs import jsonl
from quartet.judge.logs.jsonl import Header
from quartet.judge.process.words import printable
from quartet.judge.turn import UNREADABLE, Result, Turn
from quartet.web import views
from quartet.web.errors import Refused
from quartet.web.events import Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from quartet.arena.outcome import Outcome
    from quartet.arena.ratings import Rating
    from quartet.web.views import Json, Viewer

LOOK_EVERY = 1.0
"""Seconds between two looks at what is followed."""
LIVE_EVERY = 0.25
"""The same for a game that goes on."""
ALONE = 5.0
"""Seconds after which nothing is looked at any more that nobody follows."""
REST = 20
"""After a look nothing is done for so many times as long as it took: who plays needs the cores."""
LOCK_EVERY = 5.0
"""Seconds between two looks at whether a process plays a run: for that, its lock is held for a
moment."""
SMALL = 2**20
"""Bytes of records that are read for the list of runs alone."""
SAID = re.compile(r"ply (\d+), (.*?): (.*)")
"""A line of the record of what programs said."""
RESAMPLES = 50
"""Of the bootstrap that gives ratings of more than two players their intervals."""
SORTS: dict[str, Callable[[GameResult], float]] = {
    "number": lambda game: game.number,
    "plies": lambda game: game.plies,
    "seconds": lambda game: game.seconds,
}
"""What games can be sorted by."""


class Reader:
    """One run. Its methods take long, and are called in threads, one at a time.

    Attributes:
        name: str; of the folder. changed: int; counts how often something new was found.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.name = folder, folder.name
        self.changed = 0
        self._lock = threading.RLock()
        self._stamp: tuple[Any, ...] = ()
        self._run = Run(folder, {}, [])
        self._offset, self._identity = 0, (0, 0)
        self._going = (float("-inf"), False)
        self._outcome: Outcome | None = None
        self._rated: tuple[list[Rating] | None, str | None] | None = None
        self._shown: Json = {}

    def look(self) -> None:
        """Read what is new. Raises QuartetError."""
        with self._lock:
            going = self._goes_on()
            stamp = (going, *map(_stamp, self._files()), len(self.live()) if going else 0)
            if stamp == self._stamp:
                return
            self._read(going=going)
            self._stamp = stamp
            self._outcome, self._rated, self._shown = None, None, {}
            self.changed += 1

    def line(self) -> Json:
        """Its line in the list."""
        with self._lock:
            big = sum(_size(file) for file in self._files()) > SMALL
            try:
                if not big or self._stamp:
                    self.look()
                    found = recorded.listed(self.folder, self._run, self._found())
                else:
                    found = self._counted()
            except QuartetError as error:
                found = {"kind": "?", "state": str(error)}
            return {
                "name": self.name,
                "kind": found["kind"],
                "game": found.get("game", "?"),
                "players": found.get("players") or [],
                "games": found.get("games", 0),
                "of": found.get("of"),
                "state": found["state"],
                "last": found.get("last", ""),
                "outcome": found.get("outcome", ""),
            }

    def shown(self) -> Json:
        """The run as the page shows it. Raises QuartetError."""
        with self._lock:
            self.look()
            if not self._shown:
                self._shown = self._make()
            return {**self._shown, "live": self.live()}

    def rate(self) -> bool:
        """Compute the ratings, where that takes long and nobody plays; whether there are new
        ones."""
        with self._lock:
            found = self._found()
            if found is None or self._rated is not None or self._run.going or not found.results:
                return False
        rated = found.rate(range(RESAMPLES))
        with self._lock:
            if found is self._outcome:
                self._rated, self._shown = rated, {}
                self.changed += 1
        return True

    def games(self, chosen: Filter, sort: str, *, down: bool, offset: int, limit: int) -> Json:
        """Games of the run, by a filter, a page of them. Raises Refused and QuartetError."""
        with self._lock:
            self.look()
            found = self._found()
            if found is None:
                raise Refused("this run has no games", 404)
            if chosen.player is not None and chosen.player not in found.names:
                raise Refused(f"nobody is called {chosen.player[:40]!r}", 404)
            taken = [game for game in self._run.results if chosen.takes(game, found.names)]
            taken.sort(key=SORTS[sort], reverse=down)
            page = taken[offset : offset + limit]
            return {"total": len(taken), "games": [_game(game, found) for game in page]}

    def series(self) -> Json:
        """The curves of the run. Raises Refused and QuartetError."""
        with self._lock:
            self.look()
            found = self._found()
        drawn = curves(found) if found is not None else self._parameters()
        if found is None and not drawn:
            raise Refused("this run has no curves", 404)
        return {
            "curves": [
                {
                    "name": curve.name,
                    "unit": curve.unit,
                    "games": [round(x, 2) for x in curve.games],
                    "values": list(map(known, curve.values)),
                    "low": list(map(known, curve.low)) or None,
                    "high": list(map(known, curve.high)) or None,
                    "bounds": curve.bounds,
                }
                for curve in drawn
            ]
        }

    def live(self) -> list[Json]:
        """The games that go on."""
        return [{"number": n, "turns": t} for n, t in recorded.live_games(self.folder)]

    def log(self, number: int) -> tuple[bytes, bool]:
        """The log of a game, and whether it goes on. Raises Refused."""
        for name, goes_on in ((records.log_name(number), False), (records.live_name(number), True)):
            try:
                return (self.folder / name).read_bytes(), goes_on
            except OSError:
                continue
        raise Refused(f"there is no game {number} in this run", 404)

    def result(self, number: int) -> GameResult | None:
        """The result of a game, None where it is not on record. Raises QuartetError."""
        with self._lock:
            self.look()
            return next((game for game in self._run.results if game.number == number), None)

    def complete(self, view: Json, number: int) -> None:
        """Tell what is on record of a game and not in its log: names, the reason of its end, and
        what programs said."""
        result = self.result(number)
        if result is None:
            return
        listed = [player["name"] for player in self._run.plan["players"]]
        names = [listed[player] for player in result.seats]
        view["players"] = names
        view["result"] = {**(view["result"] or {}), **_end(result)}
        try:
            said = (self.folder / records.stderr_name(number)).read_text("utf-8", "replace")
        except OSError:
            return
        turns = {turn["ply"]: turn for turn in view["turns"]}
        for ply, name, text in _remarks(said):
            turn = turns.get(ply)
            seat = names.index(name) if name in names else 0
            if turn is not None and len(turn["said"]) < views.MOST_LINES:
                turn["said"].append([turn["seat"] if names[turn["seat"]] == name else seat, text])

    def commands(self) -> dict[str, str]:
        """The players' programs, by name. Raises QuartetError."""
        with self._lock:
            self.look()
            return {p["name"]: p["command"] for p in self._run.plan.get("players", [])}

    # Reading.

    def _files(self) -> list[Path]:
        own = ("run.json", "plan.json", "games.jsonl")
        names = (*own, records.LINES, outcome.TEST, tuning.TRAJECTORY)
        return [self.folder / name for name in names]

    def _parameters(self) -> list[Curve]:
        """The parameters of a tuning as they move; none of another run. Raises QuartetError."""
        steps = tuning.read(self.folder)
        games = [float(step.games) for step in steps]
        names = steps[0].values if steps else {}
        return [
            Curve(name, "parameter", games, [s.values.get(name, math.nan) for s in steps], [], [])
            for name in names
        ]

    def _goes_on(self) -> bool:
        looked, going = self._going
        if time.monotonic() > looked + LOCK_EVERY:
            going = recorded.is_going(self.folder)
            self._going = time.monotonic(), going
        return going

    def _read(self, *, going: bool) -> None:
        """Read the plan, and the records that have come since."""
        if not (self.folder / "run.json").is_file():
            self._run = recorded.read(self.folder)
            return
        file = self.folder / "games.jsonl"
        try:
            plan = msgspec.json.decode((self.folder / "run.json").read_bytes(), type=dict[str, Any])
            about = file.stat()
            if (about.st_dev, about.st_ino) != self._identity or about.st_size < self._offset:
                self._offset, self._identity = 0, (about.st_dev, about.st_ino)
            results = self._run.results if self._offset else []
            with file.open("rb") as opened:
                opened.seek(self._offset)
                data = opened.read()
            whole = data.rfind(b"\n") + 1
            new = [msgspec.json.decode(line, type=GameResult) for line in data[:whole].splitlines()]
        except OSError as error:
            raise QuartetError(f"the records cannot be read: {error.strerror}") from error
        except UNREADABLE as error:
            raise TextError(f"the records cannot be read: {error}") from error
        self._offset += whole
        self._run = Run(self.folder, plan, [*results, *new], going=going)

    def _counted(self) -> Json:
        """The line of a run that has too many records to be read for it."""
        plan = msgspec.json.decode((self.folder / "run.json").read_bytes(), type=dict[str, Any])
        file = self.folder / "games.jsonl"
        last = dt.datetime.fromtimestamp(file.stat().st_mtime, dt.UTC).strftime("%Y-%m-%d %H:%M")
        return {
            "kind": str(plan.get("kind", "?")),
            "game": plan.get("game", "?"),
            "players": [player["name"] for player in plan.get("players", [])],
            "games": file.read_bytes().count(b"\n"),
            "state": "goes on" if self._goes_on() else "stopped",
            "last": last,
        }

    def _found(self) -> Outcome | None:
        """What the run has come to, None where it has no games. Raises TextError."""
        if self._outcome is None and self._run.shown:
            self._outcome = self._run.outcome()
        return self._outcome

    def _make(self) -> Json:
        run, found = self._run, self._found()
        game = run.plan.get("game")
        shown: Json = {
            "name": self.name,
            "kind": run.kind,
            "game": game,
            "title": games.load(game).info.title if isinstance(game, str) and game else "",
            "state": recorded.state_of(run, found),
            "recorded": len(run.results) if found is not None else run.samples,
            "of": recorded.units_of(run.plan) if found is None else found.total,
            "plan": run.plan,
            "standings": [],
            "crosstable": [],
            "test": None,
            "by_seat": [],
            "note": None,
        }
        if found is None:
            return shown
        is_pair = found.casting.seats == 2 and len(found.names) == 2
        if self._rated is None and (is_pair or found.kind == "sprt"):
            self._rated = found.rate(())  # of a pair that is quick, and needs no resamples
        rated, note = self._rated or (None, None)
        points, number = recorded.points_against(found.results, len(found.names))
        figures = recorded.figures(found.results, found.names, rated)
        shown |= {
            "standings": [
                {"rank": rank, **figures[player]} for rank, player in enumerate(found.order, 1)
            ],
            "names": found.names,
            "crosstable": [
                [{"points": p, "games": n} if n else None for p, n in zip(row, counts, strict=True)]
                for row, counts in zip(points, number, strict=True)
            ],
            "by_seat": by_seat(found.results),
            "note": note,
        }
        if found.test is not None:
            shown["test"] = recorded.test_figures(found.test, found.scores)
            pairs = {s: n for s, n in found.test.counts(found.scores).items() if n}
            if found.casting.seats == 2 and pairs:
                rating = ratings.elo(pairs)
                elo = [known(rating.elo), known(rating.low), known(rating.high)]
                shown["test"]["elo"] = elo
        return shown


class LiveGame:
    """A game that goes on, as its file tells it."""

    def __init__(self, reader: Reader, number: int) -> None:
        self.topic = Topic(f"live/{reader.name}/{number}", self._state)
        self._reader, self._number = reader, number
        self._file = reader.folder / records.live_name(number)
        self._offset = 0
        self._viewer: Viewer | None = None
        self._over = False

    def look(self) -> list[tuple[str, Json]]:
        """What is new, as events. Raises QuartetError where it is no log of ours."""
        if self._over:
            return []
        try:
            data = self._file.read_bytes()
        except OSError:
            self._over = True
            is_told = self._viewer is not None and self._viewer.view["result"] is not None
            return [] if is_told else [("end", {"result": self._recorded()})]
        events: list[tuple[str, Json]] = []
        if len(data) < self._offset:  # it begins anew, or turns were taken back
            self._offset, self._viewer = 0, None
        whole = data.rfind(b"\n") + 1
        is_new = self._viewer is None
        for text in data[self._offset : whole].splitlines():
            events += self._take(jsonl.read_record(text))
        self._offset = whole
        return [("state", self._state())] if is_new and self._viewer is not None else events

    def _take(self, record: Header | Turn | Result) -> list[tuple[str, Json]]:
        if isinstance(record, Header):
            known = self._reader.commands()
            engines = {s: known.get(name or "", "") for s, name in enumerate(record.players)}
            self._viewer = views.of_header(record, engines)
            source = {"run": self._reader.name, "number": self._number}
            self._viewer.view = {"source": source, **self._viewer.view}
        elif self._viewer is not None and isinstance(record, Turn):
            return [("turn", self._viewer.turn(record))]
        elif self._viewer is not None and isinstance(record, Result):
            return [("end", {"result": self._viewer.end(record)})]
        return []

    def _state(self) -> Json:
        return {"view": None if self._viewer is None else self._viewer.view}

    def _recorded(self) -> Json | None:
        result = self._reader.result(self._number)
        return None if result is None else _end(result)


class Runs:
    """All runs of a folder, and who follows them."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._readers: dict[str, Reader] = {}
        self._live: dict[str, LiveGame] = {}
        self._topics: dict[str, Topic] = {}
        self._states: dict[str, Json] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def lines(self) -> list[Json]:
        """A line for every run, the newest first."""
        return [reader.line() for reader in self._all()]

    def reader(self, name: str) -> Reader:
        """The run of that name. Raises Refused."""
        if name not in self._readers:
            self._all()
        if name not in self._readers:
            raise Refused("there is no such run", 404)
        return self._readers[name]

    async def topic(self, name: str) -> Topic | None:
        """The topic of the list, a run, or a game that goes on; it is looked after while somebody
        follows it. None where there is none."""
        if name in self._topics:
            self._topics[name].left = time.monotonic()
            return self._topics[name]
        try:
            look = await asyncio.to_thread(self._look, name)
            if look is None:
                return None
            topic, every, step = look
            for event, data in await asyncio.to_thread(step):
                if event == "state":
                    self._states[name] = data
        except (Refused, QuartetError):
            return None
        if name not in self._topics:
            self._topics[name] = topic
            self._tasks[name] = asyncio.create_task(self._follow(topic, every, step))
        return self._topics[name]

    def _look(self, name: str) -> tuple[Topic, float, Callable[[], list[tuple[str, Json]]]] | None:
        """A topic, how often it is to be looked at, and what gives its events."""
        kind, _, rest = name.partition("/")
        if kind == "live":
            run, _, number = rest.rpartition("/")
            if not number.isdecimal():
                return None
            live = LiveGame(self.reader(run), int(number))
            return live.topic, LIVE_EVERY, live.look
        topic = Topic(name, lambda: self._states[name])
        if name == "runs":
            last: list[Json] | None = None

            def listed() -> list[tuple[str, Json]]:
                nonlocal last
                before, last = last, self.lines()
                return [] if last == before else [("state", {"runs": last})]

            return topic, 2 * LOOK_EVERY, listed
        if kind == "run":
            reader, seen, live_seen = self.reader(rest), -1, ""

            def read() -> list[tuple[str, Json]]:
                nonlocal seen, live_seen
                shown = reader.shown()
                live = str(shown["live"])
                is_new, is_live = reader.changed != seen, live != live_seen
                seen, live_seen = reader.changed, live
                if is_new:
                    return [("state", {"run": shown})]
                return [("live", {"live": shown["live"]})] if is_live else []

            return topic, LOOK_EVERY, read
        return None

    async def _follow(
        self, topic: Topic, every: float, step: Callable[[], list[tuple[str, Json]]]
    ) -> None:
        """Look, as long as somebody follows."""
        pause = every
        try:
            while True:
                await asyncio.sleep(pause)
                if not topic.followers and time.monotonic() - topic.left > ALONE:
                    return
                started = time.monotonic()
                for event, data in await asyncio.to_thread(step):
                    if event == "state":
                        self._states[topic.name] = data
                    topic.publish(event, **data)
                pause = max(every, REST * (time.monotonic() - started))
                if topic.name.startswith("run/"):
                    await asyncio.to_thread(self.reader(topic.name[4:]).rate)
        except (QuartetError, Refused) as error:
            topic.publish("gone", error=str(error))
        finally:
            for kept in (self._topics, self._tasks, self._states):
                kept.pop(topic.name, None)

    async def close(self) -> None:
        """Look at nothing any more."""
        for task in list(self._tasks.values()):
            task.cancel()

    def _all(self) -> list[Reader]:
        """The runs there are, the newest first."""
        if self._folder is None or not self._folder.is_dir():
            return []
        found = [path for path in self._folder.iterdir() if path.is_dir() and recorded.is_run(path)]
        found.sort(key=recorded.last_change, reverse=True)
        for path in found:
            self._readers.setdefault(path.name, Reader(path))
        there = {path.name for path in found}
        for name in self._readers.keys() - there:
            self._readers.pop(name, None)
        return [self._readers[path.name] for path in found]


def _stamp(file: Path) -> tuple[int, int, int]:
    """What tells that a file has changed; zeros where there is none."""
    try:
        about = file.stat()
    except OSError:
        return 0, 0, 0
    return about.st_size, about.st_mtime_ns, about.st_ino


def _size(file: Path) -> int:
    return _stamp(file)[0]


def _end(result: GameResult) -> Json:
    """How a game ended, by its record."""
    return {
        "scores": result.scores,
        "places": result.places,
        "shares": result.shares,
        "reason": result.reason,
    }


def _remarks(text: str) -> Iterator[tuple[int, str, str]]:
    """Ply, player and words of a record of what programs said."""
    for line in text.splitlines():
        found = SAID.match(line)
        if found is not None:
            yield int(found[1]), found[2], printable(found[3])


def _game(game: GameResult, found: Outcome) -> Json:
    """A game as a line."""
    names = [found.names[player] for player in game.seats]
    return {
        "number": game.number,
        "opening": game.seed,
        "players": names,
        "shares": game.shares,
        "scores": game.scores,
        "plies": game.plies,
        "seconds": round(game.seconds, 3),
        "reason": game.reason,
        "forfeits": [{**msgspec.structs.asdict(f), "player": names[f.seat]} for f in game.fouls],
    }
