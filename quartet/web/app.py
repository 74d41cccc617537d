"""The routes of the page's server; docs/web-api.md describes what they take and return."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from core.engine import MULTIPV, can, options_of, score_unit
from core.errors import QuartetError
from quartet import registry
from quartet.judge import game as games
from quartet.judge.seats import players as seating
from quartet.judge.seats.players import EMPTY_SEAT
from quartet.judge.table import table_rules
from quartet.review import calibration as calibrations
from quartet.review.engines import BOT
from quartet.web import events, views
from quartet.web.data_folder import DataFolder
from quartet.web.endpoints import body, endpoint, json, read
from quartet.web.errors import Refused
from quartet.web.followed_runs import FollowedRuns
from quartet.web.payloads import (
    MAX_LOG,
    MAX_SEED,
    MAX_WAIT,
    ActionRequest,
    AnalysisRequest,
    ComposeRequest,
    DeeperRequest,
    GamesRequest,
    MatchRequest,
    OpeningsRequest,
    PositionRequest,
    RetryRequest,
    ReviewRequest,
    Source,
)
from quartet.web.position_search import PositionSearch
from quartet.web.security import Guard, is_local, shared_base
from quartet.web.sessions import MAX_MATCHES, SessionManager
from quartet.web.sources import checked, composed

STATIC = Path(__file__).resolve().parent / "static"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
}
"""Content types of the files that the page consists of, by suffix."""
MAX_TOPICS = 16
"""Topics of one stream; the view of all running games follows up to 12."""
LANGUAGES = {path.stem for path in (STATIC / "messages").iterdir()}
"""Languages of the page."""
ACTIONS = {"move", "undo", "hint", "resign", "pace"}
"""What a human can do in a match."""
GUEST_ACTIONS = {"move", "resign"}
"""What a human with a link can do."""


class Api:
    """The handlers of all routes."""

    def __init__(
        self,
        data: DataFolder,
        runs: Path | None = None,
        programs: Mapping[str, str] | None = None,
        version: str = "",
        logs: Path | None = None,
    ) -> None:
        """Prepare a server.

        Args:
            data: Data folder.
            runs: Folder of runs.
            programs: Commands of programs that may play, by name.
            version: Version of this package.
            logs: Folder of logs to look up positions in.
        """
        self._has_runs, self._version = runs is not None, version
        self._listens = "127.0.0.1", 0
        self.runs = FollowedRuns(runs)
        self.sessions = SessionManager(programs or {}, data, self.runs, logs)
        self.sources = self.sessions.sources
        self.streams = events.Streams()
        self.search = PositionSearch(self.sessions.jobs, self.sources, data.path, runs, logs)
        self._files = {
            path.relative_to(STATIC).as_posix(): path
            for path in STATIC.rglob("*")
            if path.is_file() and path.suffix in TYPES
        }

    def routes(self) -> list[Route]:
        """Return all routes; every other address answers 404."""
        sessions, runs = self.sessions, self.runs
        return [
            endpoint("GET", "/", lambda: self.static("index.html"), guests=True),
            endpoint("GET", "/static/{name:path}", self.static, guests=True),
            endpoint("GET", "/api/events", self.events, Request, guests=True),
            endpoint("GET", "/api/words/{language}", _words, guests=True),
            endpoint("GET", "/api/games", self.games, Request, guests=True),
            endpoint("GET", "/api/games/{name}", _details),
            endpoint("GET", "/api/games/{name}/rules", views.examples, guests=True),
            endpoint("POST", "/api/position", self.position, PositionRequest),
            endpoint("POST", "/api/compose", self.compose, ComposeRequest),
            endpoint("POST", "/api/openings", self.search.found, OpeningsRequest),
            endpoint("POST", "/api/lenses", self.lenses, Source),
            endpoint("GET", "/api/view", self.view, Source),
            endpoint("GET", "/api/text", self.text, Request, guests=True),
            endpoint("GET", "/api/files", self.files, Source),
            endpoint("POST", "/api/logs", self.add_log, Request),
            endpoint("GET", "/api/logs", lambda: {"logs": self.sources.lines()}),
            endpoint("DELETE", "/api/logs/{id}", sessions.delete_log),
            endpoint("POST", "/api/matches", sessions.new_match, MatchRequest, 201),
            endpoint("GET", "/api/matches", self.matches, Request, guests=True),
            endpoint("GET", "/api/matches/{id}", self.match, Request, guests=True),
            endpoint("GET", "/api/matches/{id}/links", self.links),
            endpoint("DELETE", "/api/matches/{id}", sessions.delete_match),
            endpoint("POST", "/api/matches/{id}/rematch", sessions.rematch, status=201),
            endpoint("POST", "/api/matches/{id}/{action}", self.act, Request, guests=True),
            endpoint("POST", "/api/reviews", sessions.new_review, ReviewRequest, 201),
            endpoint("GET", "/api/reviews", self.reviews),
            endpoint("GET", "/api/reviews/{id}", sessions.reviews.shown),
            endpoint("DELETE", "/api/reviews/{id}", sessions.end_review),
            endpoint("POST", "/api/reviews/{id}/try", sessions.retry, RetryRequest),
            endpoint("POST", "/api/reviews/{id}/deeper", sessions.deeper, DeeperRequest),
            endpoint("POST", "/api/analyses", sessions.new_analysis, AnalysisRequest, 201),
            endpoint("GET", "/api/analyses/{id}", sessions.analyses.shown),
            endpoint("DELETE", "/api/analyses/{id}", sessions.end_analysis),
            endpoint("GET", "/api/runs", lambda: {"runs": runs.lines()}),
            endpoint("GET", "/api/runs/{run}", lambda run: runs.reader(run).shown()),
            endpoint(
                "GET",
                "/api/runs/{run}/games",
                lambda payload, run: runs.reader(run).games(payload),
                GamesRequest,
            ),
            endpoint("GET", "/api/runs/{run}/series", lambda run: runs.reader(run).series()),
        ]

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Run with the server; afterwards nothing that it has started is alive."""
        self.sessions.restore()
        self.sessions.jobs.prepare()
        unwatched = asyncio.create_task(self.sessions.end_unwatched())
        try:
            yield
        finally:
            unwatched.cancel()
            self.runs.close()
            await self.sessions.close()

    def static(self, name: str) -> Response:
        """Return a file of the page."""
        path = self._files.get(name)
        if path is None:
            raise Refused("there is no such file", 404)
        return Response(path.read_bytes(), media_type=TYPES[path.suffix])

    async def events(self, request: Request) -> Response:
        """Stream the events of some topics."""
        names = list(dict.fromkeys(request.query_params.getlist("topic")))
        for name in names:
            kind, _, match = name.partition("/")
            self.sessions.require(request.scope["links"], match if kind == "match" else None)
        if not names or len(names) > MAX_TOPICS:
            raise Refused(f"a stream has 1 to {MAX_TOPICS} topics", 400)
        found = {name: self.sessions.topic(name) or await self.runs.topic(name) for name in names}
        unknown = [name for name, topic in found.items() if topic is None]
        topics = [topic for topic in found.values() if topic is not None]
        last = events.read_id(request.headers.get("last-event-id", ""))
        stream = events.stream(self.streams, topics, unknown, last)
        return StreamingResponse(stream, media_type="text/event-stream")

    # Games and positions.

    def games(self, request: Request) -> views.Json:
        is_guest = request.scope["links"] is not None
        return {
            "version": self._version,
            "games": [_summary(name) for name in registry.GAMES],
            "programs": [] if is_guest else list(self.sessions.programs),
            "runs": self._has_runs and not is_guest,
            "guest": is_guest,
            "limits": {
                "log_bytes": MAX_LOG,
                "matches": MAX_MATCHES,
                "seed": MAX_SEED - 1,
                "clock_ms": MAX_WAIT,
            },
        }

    def position(self, payload: PositionRequest) -> Any:
        trail = self.sources.trail(payload)
        if payload.trail:
            return {"positions": [located.shown() for located in trail]}
        return trail[-1].shown()

    def compose(self, payload: ComposeRequest) -> views.Json:
        return composed(self.sources.located(payload), payload.board, payload.to_move)

    def lenses(self, payload: Source) -> views.Json:
        located = self.sources.located(payload)
        return {"lenses": views.lenses(located.game, located.position)}

    def view(self, payload: Source) -> views.Json:
        if payload.match is not None:
            return self.sessions.matches[payload.match].view
        named = {
            k: v
            for k, v in msgspec.structs.asdict(payload).items()
            if v or (v == 0 and k == "number")
        }
        if payload.run is not None and payload.number is not None:
            return self.runs.reader(payload.run).view(payload.number)
        return {"source": named, **views.of_log(*checked(self.sources.data(payload)[0]))}

    async def text(self, request: Request) -> Response:
        payload = await read(request, Source)
        self.sessions.require(request.scope["links"], payload.match)
        if payload.match is not None:
            data: str | bytes = await self.sessions.match_text(payload.match)
        else:
            data = await asyncio.to_thread(self.sources.finished, payload)
        return Response(data, media_type=TYPES[".txt"])

    def files(self, payload: Source) -> views.Json:
        turns = checked(self.sources.data(payload)[0])[1].turns
        step = payload.step or 0
        if not 1 <= step <= len(turns) or not turns[step - 1].input:
            raise Refused("no files were exchanged in this turn", 404)
        turn = turns[step - 1]
        return {"input": turn.input, "output": turn.output, "stderr": turn.stderr}

    async def add_log(self, request: Request) -> Response:
        data = await body(request, MAX_LOG, "application/octet-stream")
        name = request.query_params.get("name", "log")[:200]
        found, match = await asyncio.to_thread(checked, data)
        if found.complaint is not None:
            raise QuartetError(found.complaint)
        key = self.sources.upload(data, name, match)
        view = {"source": {"log": key}, **await asyncio.to_thread(views.of_log, found, match)}
        return json({"id": key, "name": name, "view": view}, 201)

    async def matches(self, request: Request) -> views.Json:
        links = request.scope["links"]
        table = self.sessions.matches
        return {"matches": [match.line() for match in table.values() if match.seats(links)]}

    async def reviews(self) -> views.Json:
        return {"reviews": [session.line() for session in self.sessions.reviews.values()]}

    async def match(self, request: Request, id: str) -> views.Json:  # noqa: A002
        """Return a match, and the seats on which this client plays."""
        seats = self.sessions.require(request.scope["links"], id)
        session = self.sessions.matches[id]
        if seats is None:
            seats = [seat for seat in session.record.humans if seat not in session.record.guests]
        return {**session.shown(), "mine": seats}

    def links(self, id: str) -> views.Json:  # noqa: A002
        """Return the addresses with which others take the seats of guests."""
        match, base = self.sessions.matches[id].record, shared_base(*self._listens)
        found = [
            {"seat": seat, "link": f"{base}/?token={match.seats[seat].link}"}
            for seat in match.guests
        ]
        return {"links": found, "local": is_local(self._listens[0])}

    async def act(self, request: Request, id: str, action: str) -> views.Json:  # noqa: A002
        seats = self.sessions.require(request.scope["links"], id)
        session, payload = self.sessions.matches[id], await read(request, ActionRequest)
        if seats is not None and action not in GUEST_ACTIONS:
            raise Refused("a link to a seat does not allow this", 403)
        if action not in ACTIONS:
            raise Refused(f"there is no such action: use {', '.join(sorted(ACTIONS))}", 404)
        if action == "move" and (payload.parts is None) == (payload.text is None):
            raise Refused("a move is given by parts or by text", 400)
        return await session.request(action, **msgspec.structs.asdict(payload), seats=seats)

    def guarded(self, token: str, host: str, port: int) -> ASGIApp:
        """Return the whole server, which answers requests with the token only.

        Args:
            token: Secret that every request must have.
            host: Address that the server listens to.
            port: Its port.
        """
        app = Starlette(routes=self.routes(), lifespan=self.lifespan)
        self._listens = host, port
        return Guard(app, token, host, port, self.sessions.match_of)


def _summary(name: str) -> views.Json:
    """Return what is known of a game without its engine."""
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
        "empty_seats": info.empty_seats,
        "options": [
            {"name": key, "default": option.default, "help": option.help}
            for key, option in info.options.items()
        ],
        "built_in": [{"name": player} for player in seating.names(name) if player != EMPTY_SEAT],
        "lenses": list(info.lenses),
    }


def _words(language: str) -> views.Json:
    """Return the translations of texts that the server and the games send, by their English."""
    found: views.Json = {}
    for package in ("quartet/web", *registry.GAMES.values()):
        texts = registry.ROOT / package / "messages" / f"{language}.json"
        if language in LANGUAGES and texts.is_file():
            found |= msgspec.json.decode(texts.read_bytes())
    return found


def _details(name: str) -> views.Json:
    """Return a game with what its engine and players declare. Raises QuartetError."""
    bot = seating.built_in(name, BOT)
    engine = {
        "unit": score_unit(bot),
        "lines": can(bot, MULTIPV),
        "calibrated": calibrations.of_engine(name, BOT) is not None,
    }
    built_in = [
        {"name": player, "options": _options(name, player)} for player in seating.names(name)
    ]
    return {**_summary(name), "engine": engine, "built_in": built_in}


def _options(game: str, player: str) -> list[views.Json]:
    return [
        {
            "name": option.name,
            "type": option.type_name,
            "default": option.default,
            "least": option.minimum,
            "most": option.maximum,
            "help": option.help,
        }
        for option in options_of(seating.built_in(game, player))
        if option.kind is not str
    ]
