"""All matches, reviews and analyses of the page, each in a worker process."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, cast

import msgspec

from core.errors import QuartetError
from quartet.judge import game as games
from quartet.review.work import LogTask
from quartet.web.data_folder import DataFolder
from quartet.web.errors import Refused
from quartet.web.events import Topic
from quartet.web.followed_runs import FollowedRuns
from quartet.web.jobs import Job, Jobs
from quartet.web.match_record import MatchRecord, match_record, player
from quartet.web.match_session import LOG, MATCHES, MatchSession
from quartet.web.payloads import (
    MAX_SECONDS,
    MAX_SEED,
    AnalysisRequest,
    DeeperRequest,
    MatchRequest,
    RetryRequest,
    ReviewRequest,
)
from quartet.web.session_state import (
    ANALYSES,
    REVIEWS,
    AnalysisSession,
    ReviewRecord,
    ReviewSession,
    SessionTable,
)
from quartet.web.sources import Sources, checked, shown_name
from quartet.web.views import Json

MAX_MATCHES = 16
"""Matches that run at a time."""
MAX_ANALYSES = 4
"""Analyses that run at a time."""
MAX_REVIEWS = 1
"""Reviews that run at a time."""
UNWATCHED = 10.0
"""Seconds after which an unwatched analysis ends."""
DELETED = "the match was deleted"


class SessionManager:
    """Starts and ends all sessions.

    Attributes:
        programs: Commands of the programs that may play, by name.
        sources: Positions and logs.
    """

    def __init__(
        self, programs: Mapping[str, str], data: DataFolder, runs: FollowedRuns, logs: Path | None
    ) -> None:
        """`runs` and `logs` have further logs."""
        self.programs, self._data = programs, data
        self.sources = Sources(
            data, self.match_log, lambda run, number: runs.reader(run).log(number), logs
        )
        self.jobs = Jobs()
        self.matches: SessionTable[MatchSession] = SessionTable("match", MATCHES, 500, data)
        self.reviews: SessionTable[ReviewSession] = SessionTable("review", REVIEWS, 200, data)
        self.analyses: SessionTable[AnalysisSession] = SessionTable("analysis", ANALYSES, 100, data)
        self._idle: list[Job] = []
        self._starting = 0
        self._rematching = asyncio.Lock()
        self._reviewing = asyncio.Semaphore(MAX_REVIEWS)

    def topic(self, name: str) -> Topic | None:
        """Return the topic of a session, None if there is no such session or it is damaged."""
        tables: tuple[dict[str, Any], ...] = self.matches, self.reviews, self.analyses
        for session in (session for table in tables for session in table.values()):
            if session.topic.name == name:
                with suppress(QuartetError):
                    session.shown()
                    return cast("Topic", session.topic)
        return None

    def restore(self) -> None:
        """Take over the sessions of the last server: running matches and reviews continue."""
        for id_, match in self._data.records(MATCHES, MatchRecord):
            session = MatchSession(match, self._data, id_)
            try:
                session.resume(self.jobs, self.programs)
            except QuartetError as error:
                self._data.skip(self._data.path / MATCHES / id_ / LOG, error)
            else:
                self.matches.add(session)
        for key, record in self._data.records(REVIEWS, ReviewRecord):
            review = ReviewSession(key, record, self._data)
            self.reviews.add(review)
            if not review.ended:
                review.work = asyncio.create_task(self._review(review))

    async def close(self) -> None:
        """End all processes. The next server with the same data folder continues."""
        self._data.close()
        works = [session.work for session in self.reviews.running]
        for work in (*works, *(session.work for session in self.analyses.running)):
            work.cancel()
        await self.jobs.close()

    async def end_unwatched(self) -> None:
        """End unwatched analyses, until this is cancelled."""
        while True:
            await asyncio.sleep(1)
            for session in self.analyses.running:
                if session.topic.unwatched_for > UNWATCHED:
                    await self.end_analysis(session.id)

    @asynccontextmanager
    async def _worker(self) -> AsyncIterator[Job]:
        """A worker for one request: an idle one, or a new one."""
        self._idle = [job for job in self._idle if job.is_alive]
        job = self._idle.pop() if self._idle else self.jobs.start()
        try:
            yield job
        except asyncio.CancelledError:
            await asyncio.to_thread(job.close)
            raise
        finally:
            self._idle.append(job)

    # Matches.

    def match_of(self, key: str) -> str | None:
        """Return the newest match with a seat that this key opens, None if there is none."""
        found = [session for session in self.matches.values() if key and session.seats([key])]
        return max(found, key=lambda session: session.record.time).id if found else None

    def require(self, links: list[str] | None, match: str | None) -> list[int] | None:
        """Return the seats of a match that these keys open, None for the server's token.

        Raises Refused if they open none.
        """
        if links is None:
            return None
        session = self.matches.get(match or "")
        if session is None or not (seats := session.seats(links)):
            raise Refused("a link to a seat shows only its own game", 403)
        return seats

    async def new_match(self, payload: MatchRequest) -> Json:
        """Start a match, with a new link for each guest. Raises QuartetError."""
        seats = [
            msgspec.structs.replace(seat, link=secrets.token_urlsafe(16) * (seat.kind == "guest"))
            for seat in payload.seats
        ]
        return await self._start(msgspec.structs.replace(payload, seats=seats))

    async def _start(self, payload: MatchRequest) -> Json:
        if len(self.matches.running) + self._starting >= MAX_MATCHES:
            raise Refused(f"{MAX_MATCHES} matches are running already: end one", 429)
        self._starting += 1
        try:
            session = MatchSession(
                await asyncio.to_thread(match_record, payload, self.sources, self.programs),
                self._data,
            )
            session.job = self.jobs.start((session.record, b""), session.receive)
            await session.ready
        finally:
            self._starting -= 1
        session.keep()
        return self.matches.add(session)

    async def rematch(self, id: str) -> Json:  # noqa: A002
        """Start a match of the same players with rotated seats, once. Raises QuartetError."""
        session = self.matches[id]
        if not session.ended:
            raise Refused("the game is still running")
        async with self._rematching:  # or two clicks would start two matches
            if session.record.rematch not in self.matches:
                payload = session.record.payload
                seats = [*payload.seats[-1:], *payload.seats[:-1]]
                seed = secrets.randbelow(MAX_SEED)
                made = await self._start(msgspec.structs.replace(payload, seats=seats, seed=seed))
                session.start_rematch(made["id"])
        return {"id": session.record.rematch}

    async def delete_match(self, id: str) -> None:  # noqa: A002
        """End a match with all its programs, and delete it with its reviews."""
        session = self.matches[id]
        session.kept = False
        session.finish(None, DELETED)
        session.topic.publish("gone", error=DELETED)
        self.matches.remove(id)
        await self._delete_reviews("match", id)
        if session.job is not None:
            await asyncio.to_thread(session.job.close)

    async def delete_log(self, id: str) -> None:  # noqa: A002
        """Delete an uploaded log with its reviews."""
        self.sources.remove(id)
        await self._delete_reviews("log", id)

    async def _delete_reviews(self, kind: str, id_: str) -> None:
        for key, session in list(self.reviews.items()):
            if getattr(session.record.payload.source, kind) == id_:
                await self.end_review(key)
                self.reviews.remove(key)

    async def match_text(self, id: str) -> str:  # noqa: A002
        """Return the log of a match as its judge writes it. Raises Refused."""
        session = self.matches[id]
        info = games.load(session.record.game).info
        if info.lines is None or (session.ended and not session.record.text):
            return session.log.decode()
        if session.ended:
            return session.record.text
        if info.chance:
            raise Refused("the log reveals what will be drawn: save it after the game")
        return str((await session.request("text"))["text"])

    def match_log(self, id: str) -> tuple[bytes, bool]:  # noqa: A002
        """Return the log of a match so far, and whether the match is running. Raises Refused."""
        session = self.matches[id]
        return session.log, not session.ended

    # Reviews.

    async def new_review(self, payload: ReviewRequest) -> Json:
        """Review a log, or return the review of the same log. Raises QuartetError."""
        data = await asyncio.to_thread(self.sources.finished, payload.source)
        found, match = await asyncio.to_thread(checked, data)
        if not found.agrees or not found.turns:
            raise QuartetError(found.complaint or "the log has no turns")
        player(found.game, payload.engine, {})
        settings = msgspec.json.encode([payload.nodes, payload.engine, payload.candidates])
        key = hashlib.sha256(data + settings).hexdigest()[:16]
        if key in self.reviews and self.reviews[key].state != "failed":
            return {"id": key}
        record = ReviewRecord(
            game=found.game.info.name,
            players=[*map(shown_name, match.names)],
            time=time.time(),
            payload=payload,
            total=len(found.turns),
        )
        session = ReviewSession(key, record, self._data)
        session.work = asyncio.create_task(self._review(session))
        return self.reviews.add(session)

    async def end_review(self, id: str) -> None:  # noqa: A002
        """Stop a review."""
        session = self.reviews[id]
        if not session.ended:
            session.work.cancel()
            await asyncio.wait([session.work])

    async def _task(self, session: ReviewSession) -> LogTask:
        """Return what a worker needs to know of the log and the engine. Raises QuartetError."""
        payload = session.record.payload
        source = payload.source
        return LogTask(
            number=0,
            game=session.record.game,
            name=source.log or source.run or source.match or "",
            data=await asyncio.to_thread(self.sources.finished, source),
            engines=(payload.engine,),
            nodes=payload.nodes,
            candidates=payload.candidates,
        )

    async def _review(self, session: ReviewSession) -> None:
        try:
            async with self._reviewing, self._worker() as worker:
                session.start()
                log = await self._task(session)
                found = await worker.request("review", session.receive, log=log)
            session.finish(found["document"])
        except QuartetError as error:
            session.fail(str(error))
        except asyncio.CancelledError:
            session.fail("the review was stopped")
            raise

    async def retry(self, payload: RetryRequest, id: str) -> Any:  # noqa: A002
        """Judge another move for a turn of a review. Raises QuartetError."""
        session, text = self.reviews[id], payload.move
        if text is None:
            source = msgspec.structs.replace(
                session.record.payload.source, step=payload.number, moves=[]
            )
            located = await asyncio.to_thread(self.sources.located, source)
            text = located.written(payload.parts)
        return (await self._ask("attempt", session, turn=payload.number, text=text))["attempt"]

    async def deeper(self, payload: DeeperRequest, id: str) -> Any:  # noqa: A002
        """Review a turn of a review again with other nodes. Raises QuartetError."""
        more = {"turn": payload.number, "nodes": payload.nodes}
        return (await self._ask("again", self.reviews[id], **more))["turn"]

    async def _ask(self, task: str, session: ReviewSession, **more: Any) -> Json:
        """Return a worker's answer on a finished review. Raises QuartetError."""
        if not session.document:
            raise Refused("the review has not finished")
        log, document = await self._task(session), session.document
        async with self._worker() as worker:
            return await worker.request(task, log=log, document=document, **more)

    # Analyses.

    async def new_analysis(self, payload: AnalysisRequest) -> Json:
        """Analyse a position. Raises QuartetError."""
        located = await asyncio.to_thread(self.sources.located, payload.source)
        if located.position.over:
            raise QuartetError("the game is over in this position")
        session = AnalysisSession(payload.source)
        task = {
            "id": session.id,
            "game": located.game.info.name,
            "position": located.position,
            "options": located.options,
            "player": player(located.game, payload.player, payload.options),
            "seconds": min(payload.seconds or MAX_SECONDS, MAX_SECONDS),
            "nodes": payload.nodes,
            "lines": payload.lines,
        }
        running = self.analyses.running
        for old in running[: len(running) - MAX_ANALYSES + 1]:
            await self.end_analysis(old.id)
        session.work = asyncio.create_task(self._analyse(session, task))
        return self.analyses.add(session)

    async def end_analysis(self, id: str) -> None:  # noqa: A002
        """End an analysis, and wait until it has ended."""
        session = self.analyses[id]
        if session.worker is None:
            session.work.cancel()
        elif not session.ended:
            with suppress(Refused):  # its process has died
                await session.worker.request("stop", id=id)
        await asyncio.wait([session.work])

    async def _analyse(self, session: AnalysisSession, task: Json) -> None:
        try:
            async with self._worker() as session.worker:
                session.end |= await session.worker.request("analyse", session.receive, **task)
        except QuartetError as error:
            session.end["error"] = str(error)
        finally:
            session.finish()
