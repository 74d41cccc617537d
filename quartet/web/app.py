"""The routes of the page's server; docs/web.md says what they take and give."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from core.engine import MULTIPV, can, options_of, score_unit
from core.errors import QuartetError
from quartet import registry
from quartet.arena.runs import RESULTS, Filter
from quartet.judge import game as games
from quartet.judge.seats import players as seating
from quartet.judge.seats.players import NOBODY
from quartet.judge.table import table_rules
from quartet.judge.turn import UNREADABLE
from quartet.review import calibration as calibrations
from quartet.review.engines import BOT
from quartet.web import events, views
from quartet.web.errors import Refused
from quartet.web.hall import MOST_MATCHES, AnalysisWish, Hall, MatchWish, ReviewWish
from quartet.web.runs import SORTS, Runs
from quartet.web.security import Guard
from quartet.web.sources import LARGEST, Logs, Source, Sources, checked

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from quartet.web.views import Json

    Handler = Callable[[Request], Awaitable[Response]]

WishT = TypeVar("WishT")

STATIC = Path(__file__).resolve().parent / "static"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
    ".png": "image/png",
}
"""What may be handed out, by the ends of names."""
LARGEST_BODY = 2**18
"""Bytes of a request that brings no log."""
MOST_TOPICS = 8
MOST_GAMES = 500


@dataclass(frozen=True)
class Settings:
    """What the command line says.

    Attributes:
        token: str. host: str; port: int; what the server listens to.
        runs: Path | None; the folder of runs. programs: Mapping[str, str]; by name.
        version: str; of this package.
    """

    token: str
    host: str = "127.0.0.1"
    port: int = 8000
    runs: Path | None = None
    programs: Mapping[str, str] = field(default_factory=dict)
    version: str = ""


class Origin:
    """Where the logs of matches and runs are."""

    def __init__(self, hall: Hall, runs: Runs) -> None:
        self._hall, self._runs = hall, runs

    def match_log(self, name: str) -> tuple[bytes, bool]:
        room = self._hall.match(name)
        return bytes(room.log), not room.ended

    def run_log(self, name: str, number: int) -> tuple[bytes, bool]:
        return self._runs.reader(name).log(number)


class Server:
    """The handlers of all routes."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.hall = Hall(settings.programs)
        self.runs = Runs(settings.runs)
        self.streams = events.Streams()
        self.logs = Logs()
        self.sources = Sources(self.logs, Origin(self.hall, self.runs))
        self.hall.sources = self.sources
        self._files = {
            path.relative_to(STATIC).as_posix(): path
            for path in STATIC.rglob("*")
            if path.is_file() and path.suffix in TYPES
        }

    def routes(self) -> list[Route]:
        """What is answered; everything else is not there."""
        table: list[tuple[str, str, Handler]] = [
            ("GET", "/", self.index),
            ("GET", "/static/{name:path}", self.static),
            ("GET", "/api/events", self.events),
            ("GET", "/api/games", self.games),
            ("GET", "/api/games/{game}", self.game),
            ("POST", "/api/position", self.position),
            ("POST", "/api/lenses", self.lenses),
            ("GET", "/api/view", self.view),
            ("GET", "/api/text", self.text),
            ("GET", "/api/files", self.files),
            ("POST", "/api/logs", self.add_log),
            ("POST", "/api/matches", self.add_match),
            ("GET", "/api/matches", self.matches),
            ("GET", "/api/matches/{id}", self.match),
            ("DELETE", "/api/matches/{id}", self.end_match),
            ("POST", "/api/matches/{id}/{do}", self.act),
            ("POST", "/api/reviews", self.add_review),
            ("GET", "/api/reviews/{id}", self.review),
            ("DELETE", "/api/reviews/{id}", self.end_review),
            ("POST", "/api/reviews/{id}/try", self.attempt),
            ("POST", "/api/analyses", self.add_analysis),
            ("GET", "/api/analyses/{id}", self.analysis),
            ("DELETE", "/api/analyses/{id}", self.end_analysis),
            ("GET", "/api/runs", self.list_runs),
            ("GET", "/api/runs/{run}", self.run),
            ("GET", "/api/runs/{run}/games", self.run_games),
            ("GET", "/api/runs/{run}/series", self.series),
        ]
        return [Route(path, answered(handler), methods=[m]) for m, path, handler in table]

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """While the server runs; afterwards nothing that it has started lives."""
        del app
        self.hall.jobs.prepare()
        tidy = asyncio.create_task(self.hall.tidy())
        try:
            yield
        finally:
            tidy.cancel()
            await self.runs.close()
            await self.hall.close()

    # The page itself.

    async def index(self, request: Request) -> Response:
        del request
        return self._file("index.html")

    async def static(self, request: Request) -> Response:
        return self._file(request.path_params["name"])

    def _file(self, name: str) -> Response:
        path = self._files.get(name)
        if path is None:
            raise Refused("there is no such file", 404)
        return Response(path.read_bytes(), media_type=TYPES[path.suffix])

    async def events(self, request: Request) -> Response:
        names = list(dict.fromkeys(request.query_params.getlist("topic")))
        if not names or len(names) > MOST_TOPICS:
            raise Refused(f"follow 1 to {MOST_TOPICS} topics", 400)
        found = [self.hall.topic(name) or await self.runs.topic(name) for name in names]
        unknown = [name for name, topic in zip(names, found, strict=True) if topic is None]
        last = events.read_id(request.headers.get("last-event-id", ""))
        topics = [topic for topic in found if topic is not None]
        body = events.stream(self.streams, topics, unknown, last)
        return StreamingResponse(body, media_type="text/event-stream")

    # Games and positions.

    async def games(self, request: Request) -> Response:
        del request
        listed = [await asyncio.to_thread(_game, name) for name in registry.GAMES]
        limits = {"log_bytes": LARGEST, "matches": MOST_MATCHES}
        return json(
            {
                "version": self.settings.version,
                "games": listed,
                "programs": list(self.settings.programs),
                "runs": self.settings.runs is not None,
                "limits": limits,
            }
        )

    async def game(self, request: Request) -> Response:
        name = request.path_params["game"]
        return json(await asyncio.to_thread(_whole_game, name))

    async def position(self, request: Request) -> Response:
        wish = await read(request, _Where)
        if wish.trail:
            places = await asyncio.to_thread(self.sources.trail, wish)
            shown = await asyncio.to_thread(lambda: [place.shown() for place in places])
            return json({"positions": shown})
        return json(await asyncio.to_thread(lambda: self.sources.place(wish).shown()))

    async def lenses(self, request: Request) -> Response:
        wish = await read(request, Source)

        def look() -> Json:
            place = self.sources.place(wish)
            return {"lenses": views.lenses(place.game, place.truth)}

        return json(await asyncio.to_thread(look))

    async def view(self, request: Request) -> Response:
        source = query(request)
        if source.match is not None:
            return json(self.hall.match(source.match).view)

        def look() -> Json:
            found, _ = self.sources.checked(source)
            named = {k: v for k, v in msgspec.structs.asdict(source).items() if v}
            shown = {"source": named, **views.of_log(found)}
            if source.run is not None and source.number is not None:
                self.runs.reader(source.run).complete(shown, source.number)
            return shown

        return json(await asyncio.to_thread(look))

    async def text(self, request: Request) -> Response:
        source = query(request)
        if source.match is not None:
            text = await self.hall.match_text(self.hall.match(source.match))
            return Response(text, media_type=TYPES[".txt"])
        data, goes_on = await asyncio.to_thread(self.sources.data, source)
        if goes_on:
            raise Refused("the game goes on")
        return Response(data, media_type=TYPES[".txt"])

    async def files(self, request: Request) -> Response:
        source = query(request)
        found, _ = await asyncio.to_thread(self.sources.checked, source)
        step = source.step or 0
        if not 1 <= step <= len(found.turns) or not found.turns[step - 1].input:
            raise Refused("nothing was exchanged by files there", 404)
        turn = found.turns[step - 1]
        return json({"input": turn.input, "output": turn.output, "stderr": turn.stderr})

    async def add_log(self, request: Request) -> Response:
        data = await body(request, LARGEST)
        name = request.query_params.get("name", "log")[:200]
        found = await asyncio.to_thread(checked, data)
        if found.match is None or not found.agrees:
            raise QuartetError(found.complaint or "there is no game")
        key = self.logs.add(name, data)
        view = await asyncio.to_thread(views.of_log, found)
        view = {"source": {"log": key}, **view}
        return json({"id": key, "name": name, "view": view}, 201)

    # Matches.

    async def add_match(self, request: Request) -> Response:
        room = await self.hall.new_match(await read(request, MatchWish))
        return json({"id": room.id}, 201)

    async def matches(self, request: Request) -> Response:
        del request
        return json({"matches": [room.line() for room in self.hall.matches.values()]})

    async def match(self, request: Request) -> Response:
        return json(self.hall.match(request.path_params["id"]).state())

    async def end_match(self, request: Request) -> Response:
        await self.hall.end_match(self.hall.match(request.path_params["id"]))
        return json({})

    async def act(self, request: Request) -> Response:
        room = self.hall.match(request.path_params["id"])
        do = request.path_params["do"]
        if do not in {"move", "undo", "hint", "resign", "pace"}:
            raise Refused("nothing of that name can be done", 404)
        wish = await read(request, _Act)
        if do == "move" and (wish.parts is None) == (wish.text is None):
            raise Refused("a move is its parts or its text", 400)
        if do == "pace" and (wish.pace not in {"run", "pause", "step"} or wish.delay < 0):
            raise Refused("pace is run, pause or step", 400)
        return json(await room.job.ask(do, **msgspec.structs.asdict(wish)))

    # Reviews and analyses.

    async def add_review(self, request: Request) -> Response:
        room = await self.hall.new_review(await read(request, ReviewWish))
        return json({"id": room.id}, 201)

    async def review(self, request: Request) -> Response:
        return json(self.hall.review(request.path_params["id"]).shown())

    async def end_review(self, request: Request) -> Response:
        room = self.hall.review(request.path_params["id"])
        room.work.cancel()
        await asyncio.wait([room.work])
        return json({})

    async def attempt(self, request: Request) -> Response:
        room = self.hall.review(request.path_params["id"])
        wish = await read(request, _Try)
        text = wish.move
        if text is None:
            source = msgspec.structs.replace(room.wish.source, step=wish.number, moves=[])
            place = await asyncio.to_thread(self.sources.place, source)
            choices = views.scenes(place.game.info.name).choices(place.truth)
            move = choices.get(tuple(wish.parts or ()))
            if move is None:
                raise Refused("this is no legal move", 422)
            text = views.scenes(place.game.info.name).write(move, place.truth)
        return json(await self.hall.attempt(room, wish.number, text))

    async def add_analysis(self, request: Request) -> Response:
        room = await self.hall.new_analysis(await read(request, AnalysisWish))
        return json({"id": room.id}, 201)

    async def analysis(self, request: Request) -> Response:
        return json(self._analysis(request).shown())

    async def end_analysis(self, request: Request) -> Response:
        room = self._analysis(request)
        await self.hall.stop_analysis(room)
        return json({})

    def _analysis(self, request: Request) -> Any:
        room = self.hall.analyses.get(request.path_params["id"])
        if room is None:
            raise Refused("there is no such analysis any more", 404)
        return room

    # Runs.

    async def list_runs(self, request: Request) -> Response:
        del request
        return json({"runs": await asyncio.to_thread(self.runs.lines)})

    async def run(self, request: Request) -> Response:
        reader = self.runs.reader(request.path_params["run"])
        return json(await asyncio.to_thread(reader.shown))

    async def run_games(self, request: Request) -> Response:
        given = request.query_params
        wish = convert(dict(given), _Games)
        if wish.result is not None and (wish.player is None or wish.result not in RESULTS):
            raise Refused("a result is win, draw or loss, of a player", 400)
        if wish.sort not in SORTS:
            raise Refused(f"games are sorted by {', '.join(SORTS)}", 400)
        reader = self.runs.reader(request.path_params["run"])
        page = await asyncio.to_thread(
            reader.games,
            wish,
            wish.sort,
            down=wish.order == "desc",
            offset=max(0, wish.offset),
            limit=min(max(0, wish.limit), MOST_GAMES),
        )
        return json(page)

    async def series(self, request: Request) -> Response:
        reader = self.runs.reader(request.path_params["run"])
        return json(await asyncio.to_thread(reader.series))


class _Where(Source, frozen=True):
    """A source, and whether all positions on its line of moves are wanted."""

    trail: bool = False


class _Act(msgspec.Struct, frozen=True):
    """What a person does at a match."""

    step: int | None = None
    parts: list[str] | None = None
    text: str | None = None
    seat: int | None = None
    pace: str = "run"
    delay: int = 0


class _Try(msgspec.Struct, frozen=True):
    """Another move for a turn of a review."""

    number: int
    move: str | None = None
    parts: list[str] | None = None


class _Games(Filter, frozen=True):
    """Which games of a run are wanted, and how they are shown."""

    sort: str = "number"
    order: str = "asc"
    offset: int = 0
    limit: int = 100


def make(settings: Settings) -> tuple[ASGIApp, Callable[[], None]]:
    """The server of the page, and what ends its streams, for which nobody should wait."""
    server = Server(settings)
    app = Starlette(routes=server.routes(), lifespan=server.lifespan)
    return Guard(app, settings.token, settings.host, settings.port), server.streams.close


def answered(handler: Handler) -> Handler:
    """A handler whose errors are answers."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except Refused as error:
            return json({"error": str(error)}, error.status)
        except QuartetError as error:
            return json({"error": str(error)}, 422)

    return answer


def json(data: object, status: int = 200) -> Response:
    """An answer."""
    return Response(msgspec.json.encode(data), status, media_type="application/json")


async def body(request: Request, most: int) -> bytes:
    """The body of a request. Raises Refused."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    wanted = "application/octet-stream" if most == LARGEST else "application/json"
    if kind != wanted:
        raise Refused(f"this takes {wanted}", 400)
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > most:
            raise Refused(f"more than {most} bytes are not taken", 413)
    return bytes(data)


async def read(request: Request, kind: type[WishT]) -> WishT:
    """The body of a request. Raises Refused."""
    try:
        return msgspec.json.decode(await body(request, LARGEST_BODY), type=kind)
    except UNREADABLE as error:
        raise Refused(str(error) or "this is not understood", 400) from error


def convert(data: Mapping[str, str], kind: type[WishT]) -> WishT:
    """What a query says. Raises Refused."""
    try:
        return msgspec.convert({k: v for k, v in data.items() if v}, kind, strict=False)
    except msgspec.ValidationError as error:
        raise Refused(str(error), 400) from error


def query(request: Request) -> Source:
    """The source that a query names. Raises Refused."""
    return convert(dict(request.query_params), Source)


def _game(name: str) -> Json:
    """A game, as far as it is known without its engine."""
    game = games.load(name)
    info, table = game.info, table_rules(game.info)
    return {
        "name": info.name,
        "title": info.title,
        "players": info.players,
        "labels": [game.label(seat) for seat in range(info.players)],
        "chance": info.chance,
        "score_name": info.score_name,
        "lower_wins": info.lower_wins,
        "files": info.exchange is not None,
        "adapters": list(info.adapters),
        "clock": {"per_move": table.per_move, "ms": table.clocks[0]},
        "empty_seats": views.takes_nobody(game),
        "options": [
            {"name": key, "default": option.default, "help": option.help}
            for key, option in info.options.items()
        ],
        "built_in": [{"name": player} for player in seating.names(name) if player != NOBODY],
        "lenses": views.lens_names(game),
    }


def _whole_game(name: str) -> Json:
    """A game with what its engine and players declare. Raises QuartetError."""
    found = _game(name)
    bot = seating.built_in(name, BOT)
    calibration = calibrations.of_engine(name, BOT)
    built_in = []
    for player in seating.names(name):
        declared = options_of(seating.built_in(name, player))
        options = [
            {
                "name": option.name,
                "type": option.type_name,
                "default": option.default,
                "least": option.least,
                "most": option.most,
                "help": option.help,
            }
            for option in declared
            if option.kind is not str
        ]
        built_in.append({"name": player, "options": options})
    engine = {
        "unit": score_unit(bot),
        "lines": can(bot, MULTIPV),
        "calibrated": calibration is not None,
    }
    return {**found, "engine": engine, "built_in": built_in}
