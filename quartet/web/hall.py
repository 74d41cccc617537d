"""Everything that goes on behind the page: matches, reviews, analyses, each in a process of its own,
with a topic that tells of it."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from core.engine import options_of, write_player
from core.errors import QuartetError
from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.seats import players as seating
from quartet.judge.seats.players import PERSON
from quartet.web import views
from quartet.web.errors import Refused
from quartet.web.events import Topic
from quartet.web.jobs import DIED, Job, Jobs
from quartet.web.sources import Seed, Source, Sources, checked
from quartet.web.worker import MatchSpec, SeatSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from quartet.judge.game import Game
    from quartet.web.sources import Place
    from quartet.web.views import Json

MOST_MATCHES = 16
"""Matches that go on at a time."""
KEPT = 100
"""Matches that have ended, reviews and analyses that are kept."""
LONGEST = 600.0
"""Seconds of an analysis that nobody stops."""
MOST_ANALYSES = 2
ALONE = 10.0
"""Seconds after which an analysis ends that nobody follows."""
Nodes = Annotated[int, msgspec.Meta(ge=1, le=10**9)]
REVIEWERS = 1
"""Logs that are reviewed at a time."""


class SeatWish(msgspec.Struct, frozen=True, kw_only=True):
    """Who is to sit on a seat, as the page says it; docs/web.md says what it means."""

    kind: str
    name: str = ""
    options: dict[str, bool | int | float] = {}
    ms: float | None = None
    nodes: Nodes | None = None


class MatchWish(msgspec.Struct, frozen=True, kw_only=True):
    """A match that the page asks for; docs/web.md says what it means."""

    game: str
    seats: list[SeatWish]
    seed: Seed = 0
    options: dict[str, bool | int] = {}
    clock: float | None = None
    person_clock: bool = False
    cpu: bool = False
    disqualify: bool = False
    source: Source | None = msgspec.field(name="from", default=None)
    pace: str = "run"
    delay: int = 0


class ReviewWish(msgspec.Struct, frozen=True, kw_only=True):
    """A review that the page asks for."""

    source: Source = msgspec.field(name="from")
    nodes: Nodes | None = None
    engine: str = "bot"
    candidates: Annotated[int, msgspec.Meta(ge=0, le=20)] = 3


class AnalysisWish(msgspec.Struct, frozen=True, kw_only=True):
    """An analysis that the page asks for."""

    source: Source = msgspec.field(name="from")
    player: str = "bot"
    options: dict[str, bool | int | float] = {}
    seconds: float | None = None
    nodes: Nodes | None = None
    lines: Annotated[int, msgspec.Meta(ge=1, le=20)] = 1


class MatchRoom:
    """A match and what is known of it.

    Attributes:
        id: str. topic: Topic. ready: Future; of the first view, or of why there is none.
        view: Json. log: bytearray; ours, so far. text: str; the judge's, in the end.
        ended: bool. error: str.
    """

    def __init__(self, spec: MatchSpec) -> None:
        self.id = secrets.token_hex(4)
        self.spec = spec
        self.topic = Topic(f"match/{self.id}", lambda: {"state": self.state()})
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.started = time.time()
        self.view: Json = {}
        self.log = bytearray()
        self.text = ""
        self.asking: Json | None = None
        self.thinking: Json | None = None
        self.pace: Json = {"pace": spec.pace, "delay": spec.delay}
        self.ended, self.error = False, ""
        self.job: Job

    def state(self) -> Json:
        """Everything, for who begins to follow it."""
        thinking = self.thinking and {
            "seat": self.thinking["seat"],
            "since_ms": round(1000 * (time.monotonic() - self.thinking["since"])),
        }
        return {
            "id": self.id,
            "view": self.view,
            "asking": self.asking,
            "thinking": thinking,
            **self.pace,
            "people": [s for s, who in enumerate(self.spec.seats) if who.kind == "person"],
            "ended": self.ended,
            "error": self.error,
        }

    def line(self) -> Json:
        """One line of the list of matches."""
        return {
            "id": self.id,
            "game": self.spec.game,
            "players": self.view["players"],
            "turns": len(self.view["turns"]),
            "over": self.ended,
            "started": self.started,
        }

    def hear(self, event: str, data: Json) -> None:
        """What its process tells."""
        if event == "view":
            self.view = {"source": {"match": self.id}, **data["view"]}
            self.log, self.thinking = bytearray(data["log"]), None
            if not self.ready.done():
                self.ready.set_result(None)
            self.topic.publish_state()
        elif event == "turn":
            self.log += data.pop("log")
            self.thinking = None
            views.grow(self.view, data)
            self.topic.publish("turn", **data)
        elif event == "result":
            self.log += data["log"]
        elif event == "end":
            self.text = data["text"]
            self.finish(data["result"], data["error"])
        elif event == "over":
            self.finish(None, DIED)
        else:
            if event == "asking":
                self.asking = data["asking"]
            elif event == "pace":
                self.pace = data
            elif data["info"] is None:
                self.thinking = {"seat": data["seat"], "since": time.monotonic()}
            self.topic.publish(event, **data)

    def finish(self, result: Json | None, error: str) -> None:
        """It has ended, and this is how; only the first time counts."""
        if self.ended:
            return
        self.ended, self.error = True, error
        self.asking = self.thinking = None
        if not self.ready.done():
            self.ready.set_exception(Refused(error or DIED, 422))
            self.ready.exception()
            return
        self.view["result"] = result
        self.topic.publish("end", result=result, error=error)


class ReviewRoom:
    """A review and how far it is.

    Attributes:
        id: str. topic: Topic. state: str; waiting, running, done or failed.
        turns: dict[int, Raw]; those judged so far. document: bytes; empty before it is done. Both
            are JSON.
    """

    def __init__(self, key: str, wish: ReviewWish, data: bytes, game: str, total: int) -> None:
        self.id, self.wish, self.data, self.game, self.total = key, wish, data, game, total
        self.topic = Topic(f"review/{key}", lambda: {"review": self.shown()})
        self.state, self.error = "waiting", ""
        self.turns: dict[int, msgspec.Raw] = {}
        self.document = b""
        self.work: asyncio.Task[None]

    def shown(self) -> Json:
        """Everything, for who begins to follow it."""
        return {
            "id": self.id,
            "from": self.wish.source,
            "state": self.state,
            "done": len(self.turns),
            "total": self.total,
            "turns": {} if self.document else self.turns,
            "document": msgspec.Raw(self.document) if self.document else None,
            "error": self.error,
        }

    def hear(self, event: str, data: Json) -> None:
        """What the desk tells."""
        if event == "turn":
            number, turn = data["number"], msgspec.Raw(data["turn"])
            self.turns[number] = turn
            self.topic.publish("turn", number=number, turn=turn)


class AnalysisRoom:
    """An analysis and what it has found.

    Attributes:
        id: str. topic: Topic. lines: dict[int, Json]; the latest of every rank. over: bool.
    """

    def __init__(self, wish: AnalysisWish) -> None:
        self.id = secrets.token_hex(4)
        self.wish = wish
        self.topic = Topic(f"analysis/{self.id}", lambda: {"analysis": self.shown()})
        self.lines: dict[int, Json] = {}
        self.end: Json = {"best": None, "candidates": [], "error": ""}
        self.over = False
        self.desk: Desk | None = None
        self.work: asyncio.Task[None]

    def shown(self) -> Json:
        """Everything, for who begins to follow it."""
        return {
            "id": self.id,
            "from": self.wish.source,
            "lines": [self.lines[rank] for rank in sorted(self.lines)],
            "over": self.over,
            **self.end,
        }

    def hear(self, event: str, data: Json) -> None:
        """What the desk tells."""
        if event == "line":
            self.lines[data["line"]["rank"]] = data["line"]
            self.topic.publish("line", **data)


class Desk:
    """A process that does one task after the other."""

    def __init__(self, jobs: Jobs) -> None:
        self.job = jobs.start("desk", None, self._hear)
        self.task = 0
        self._told: Callable[[str, Json], None]
        self._end: asyncio.Future[Json] | None = None

    async def run(self, do: str, told: Callable[[str, Json], None], **data: Any) -> Json:
        """Do a task, and give what it ends with; `told` hears of it meanwhile. Raises
        QuartetError and Refused."""
        self.task += 1
        self._told = told
        self._end = asyncio.get_running_loop().create_future()
        await self.job.ask(do, task=self.task, **data)
        return await self._end

    async def stop(self) -> None:
        """End the analysis that goes on; what was found is its end."""
        await self.job.ask("stop", task=self.task)

    def _hear(self, event: str, data: Json) -> None:
        if self._end is None or self._end.done() or data.pop("task", self.task) != self.task:
            return
        if event == "end":
            self._end.set_result(data)
        elif event == "failed":
            self._end.set_exception(QuartetError(data["error"]))
        elif event == "over":
            self._end.set_exception(Refused(DIED))
            self._end.exception()  # nobody may wait for it any more
        else:
            self._told(event, data)


class Hall:
    """All matches, reviews and analyses.

    Attributes:
        programs: Mapping[str, str]; programs that may be started, by name. sources: Sources.
    """

    def __init__(self, programs: Mapping[str, str]) -> None:
        self.programs = programs
        self.sources: Sources
        self.jobs = Jobs()
        self.matches: dict[str, MatchRoom] = {}
        self.reviews: dict[str, ReviewRoom] = {}
        self.analyses: dict[str, AnalysisRoom] = {}
        self._desks: list[Desk] = []
        self._beginning = 0
        self._reviewers = asyncio.Semaphore(REVIEWERS)

    def topic(self, name: str) -> Topic | None:
        """The topic of a match, a review or an analysis."""
        kind, _, key = name.partition("/")
        rooms: Any = {
            "match": self.matches,
            "review": self.reviews,
            "analysis": self.analyses,
        }.get(kind, {})
        return rooms[key].topic if key in rooms else None

    async def close(self) -> None:
        """End everything."""
        works = [room.work for room in self.reviews.values()]
        for work in (*works, *(room.work for room in self.analyses.values())):
            work.cancel()
        await self.jobs.close()

    async def tidy(self) -> None:
        """End analyses that nobody follows, for ever."""
        while True:
            await asyncio.sleep(1)
            for room in list(self.analyses.values()):
                alone = room.topic.followers == 0 and time.monotonic() - room.topic.left > ALONE
                if not room.over and alone:
                    await self.stop_analysis(room)

    # Matches.

    async def new_match(self, wish: MatchWish) -> MatchRoom:
        """Begin a match. Raises Refused and QuartetError."""
        going = sum(not room.ended for room in self.matches.values())
        if going + self._beginning >= MOST_MATCHES:
            raise Refused(f"{MOST_MATCHES} matches go on already; end one", 429)
        self._beginning += 1
        try:
            room = MatchRoom(await asyncio.to_thread(self._spec, wish))
            room.job = self.jobs.start("match", room.spec, room.hear)
            await room.ready
        finally:
            self._beginning -= 1
        self.matches[room.id] = room
        _forget(self.matches, lambda old: old.ended)
        return room

    def match(self, key: str) -> MatchRoom:
        """Raises Refused."""
        if key not in self.matches:
            raise Refused("there is no such match any more", 404)
        return self.matches[key]

    async def end_match(self, room: MatchRoom) -> None:
        """End a match with all its programs."""
        room.finish(None, "it was ended")
        await self.jobs.end(room.job)

    async def match_text(self, room: MatchRoom) -> str:
        """The log of a match as its judge writes it. Raises Refused."""
        if games.load(room.spec.game).info.lines is None:
            return room.log.decode()
        if not room.ended:
            if games.load(room.spec.game).info.chance:
                raise Refused("its log tells what chance will give; wait until the game is over")
            return str((await room.job.ask("text"))["text"])
        return room.text or room.log.decode()

    def _spec(self, wish: MatchWish) -> MatchSpec:
        """Raises Refused and QuartetError."""
        game = games.load(wish.game)
        views.check_options(game, wish.options)
        if wish.pace not in {"run", "pause", "step"}:
            raise Refused("pace is run, pause or step", 400)
        if wish.clock is not None and wish.clock < 1:
            raise Refused("a clock has at least one millisecond", 400)
        if len(wish.seats) != game.info.players:
            raise QuartetError(f"{wish.game} has {game.info.players} players")
        seats = [self._seat(game, seat) for seat in wish.seats]
        start = Start(wish.seed, wish.options)
        if wish.source is not None:
            place = self.sources.place(wish.source)
            if place.secret:
                raise Refused("what chance will give is not known while the game goes on")
            if place.game.info.name != wish.game:
                raise Refused(f"this is a position of {place.game.info.name}", 400)
            start, shift = place.start(), place.shift
            seats = [seats[(number + shift) % len(seats)] for number in range(len(seats))]
        return MatchSpec(
            wish.game,
            tuple(seats),
            start,
            wish.clock,
            wish.person_clock,
            wish.cpu,
            wish.disqualify,
            wish.pace,
            wish.delay,
        )

    def _seat(self, game: Game, wish: SeatWish) -> SeatSpec:
        if wish.kind == "nobody":
            if not views.takes_nobody(game):
                raise QuartetError(f"every seat of {game.info.name} needs a player")
            return SeatSpec("nobody")
        if wish.kind == "person":
            return SeatSpec("person", wish.name[:40] or PERSON)
        if wish.kind == "program":
            if wish.name not in self.programs:
                raise Refused(f"no program is called {wish.name[:40]!r} on the command line", 422)
            seating.require(game, self.programs[wish.name])
            return SeatSpec("program", wish.name, self.programs[wish.name])
        if wish.kind != "engine":
            raise Refused("a seat is person, engine, program or nobody", 400)
        command = player(game, wish.name, wish.options)
        if wish.ms is not None and not 0 < wish.ms <= 1000 * LONGEST:
            raise Refused(f"an engine searches for {LONGEST:g} s at most", 400)
        seconds = None if wish.ms is None else wish.ms / 1000
        return SeatSpec("engine", command, command, seconds, wish.nodes)

    # Reviews.

    async def new_review(self, wish: ReviewWish) -> ReviewRoom:
        """Review a log; what was asked before is not done again. Raises Refused and
        QuartetError."""
        data, goes_on = await asyncio.to_thread(self.sources.data, wish.source)
        if goes_on:
            raise Refused("the game goes on")
        found = await asyncio.to_thread(checked, data)
        if not found.agrees or not found.turns:
            raise QuartetError(found.complaint or "nothing was played")
        player(found.game, wish.engine, {})
        asked = msgspec.json.encode([wish.nodes, wish.engine, wish.candidates])
        key = hashlib.sha256(data + asked).hexdigest()[:16]
        if key in self.reviews and self.reviews[key].state != "failed":
            return self.reviews[key]
        room = ReviewRoom(key, wish, data, found.game.info.name, len(found.turns))
        self.reviews[key] = room
        _forget(self.reviews, lambda old: old.state in {"done", "failed"})
        room.work = asyncio.create_task(self._review(room))
        return room

    def review(self, key: str) -> ReviewRoom:
        """Raises Refused."""
        if key not in self.reviews:
            raise Refused("there is no such review any more", 404)
        return self.reviews[key]

    async def _review(self, room: ReviewRoom) -> None:
        wish = room.wish
        try:
            async with self._reviewers, self._desk() as desk:
                room.state = "running"
                room.topic.publish_state()
                found = await desk.run(
                    "review",
                    room.hear,
                    name=wish.source.log or wish.source.run or wish.source.match,
                    data=room.data,
                    game=room.game,
                    engine=wish.engine,
                    nodes=wish.nodes,
                    candidates=wish.candidates,
                )
            room.document, room.state = found["document"], "done"
            room.topic.publish("end", document=msgspec.Raw(room.document))
        except (QuartetError, Refused) as error:
            room.state, room.error = "failed", str(error)
            room.topic.publish("failed", error=room.error)
        except asyncio.CancelledError:
            room.state, room.error = "failed", "it was stopped"
            room.topic.publish("failed", error=room.error)
            raise

    async def attempt(self, room: ReviewRoom, number: int, text: str) -> Any:
        """Judge another move for a turn of a review. Raises Refused and QuartetError."""
        if not room.document:
            raise Refused("the review is not done yet")
        wish = room.wish
        async with self._desk() as desk:
            found = await desk.run(
                "attempt",
                lambda _event, _data: None,
                data=room.data,
                document=room.document,
                game=room.game,
                engine=wish.engine,
                nodes=wish.nodes,
                turn=number,
                text=text,
            )
        return found["attempt"]

    # Analyses.

    async def new_analysis(self, wish: AnalysisWish) -> AnalysisRoom:
        """Analyse a position. Raises Refused and QuartetError."""
        place = await asyncio.to_thread(self.sources.place, wish.source)
        if place.truth.over:
            raise QuartetError("the game is over in this position")
        name = player(place.game, wish.player, wish.options)
        going = [room for room in self.analyses.values() if not room.over]
        for room in going[: len(going) - MOST_ANALYSES + 1]:
            await self.stop_analysis(room)
        room = AnalysisRoom(wish)
        self.analyses[room.id] = room
        _forget(self.analyses, lambda old: old.over)
        room.work = asyncio.create_task(self._analyse(room, place, name))
        return room

    async def stop_analysis(self, room: AnalysisRoom) -> None:
        """End an analysis, and wait until it has ended."""
        if room.desk is None:
            room.work.cancel()
        elif not room.over:
            with suppress(Refused):  # its process has died
                await room.desk.stop()
        await asyncio.wait([room.work])

    async def _analyse(self, room: AnalysisRoom, place: Place, name: str) -> None:
        wish = room.wish
        try:
            async with self._desk() as desk:
                room.desk = desk
                room.end |= await desk.run(
                    "analyse",
                    room.hear,
                    game=place.game.info.name,
                    position=place.truth,
                    options=place.options,
                    player=name,
                    seconds=min(wish.seconds or LONGEST, LONGEST),
                    nodes=wish.nodes,
                    lines=wish.lines,
                )
        except (QuartetError, Refused) as error:
            room.end["error"] = str(error)
        finally:
            room.over = True
            room.topic.publish("end", **room.end)

    def _desk(self) -> _Taken:
        return _Taken(self)


class _Taken:
    """A desk for one task; afterwards others may have it, but where the task was broken off."""

    def __init__(self, hall: Hall) -> None:
        self._hall = hall
        self._desk: Desk

    async def __aenter__(self) -> Desk:
        free = self._hall._desks  # noqa: SLF001  (of the same module)
        free[:] = [desk for desk in free if not desk.job.over]
        self._desk = free.pop() if free else Desk(self._hall.jobs)
        return self._desk

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, QuartetError):
            self._hall._desks.append(self._desk)  # noqa: SLF001
        else:
            await self._hall.jobs.end(self._desk.job)


def player(game: Game, name: str, options: Mapping[str, bool | int | float]) -> str:
    """A built-in player of the list, with typed options, none of which names a file. Raises
    QuartetError."""
    if name not in seating.names(game.info.name):
        raise QuartetError(f"{game.info.name} has no player {name[:40]!r}")
    declared = options_of(seating.built_in(game.info.name, name)) if options else ()
    by_name = {option.name: option for option in declared if option.kind is not str}
    settings = {}
    for key, value in options.items():
        if key not in by_name:
            raise QuartetError(f"{name} has no option {key[:40]!r}")
        settings[key] = by_name[key].text(by_name[key].check(value))
    return write_player(name, settings)


def _forget(rooms: dict[str, Any], is_over: Callable[[Any], bool]) -> None:
    """Keep so many that are over."""
    ended = [key for key, room in rooms.items() if is_over(room)]
    for key in ended[: max(0, len(ended) - KEPT)]:
        del rooms[key]
