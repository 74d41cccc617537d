"""The server's part of the search for positions: a worker of its own has the games."""

from __future__ import annotations

import asyncio
from pathlib import Path

from quartet.judge import game as games
from quartet.judge.process.words import printable
from quartet.web import match_session, views
from quartet.web.jobs import Job, Jobs
from quartet.web.openings import Folders
from quartet.web.payloads import OpeningsRequest
from quartet.web.sources import LOG, LOGS, Sources, shown_name


class PositionSearch:
    """Looks positions up in all games that the server knows."""

    def __init__(
        self, jobs: Jobs, sources: Sources, data: Path, runs: Path | None, logs: Path | None
    ) -> None:
        """The worker starts with the first search.

        Args:
            jobs: All workers.
            sources: Positions and logs.
            data: The data folder.
            runs: Folder of runs.
            logs: Folder with further logs, at any depth.
        """
        self._jobs, self._sources = jobs, sources
        own = {
            "log": (data.resolve() / LOGS, f"*/{LOG}"),
            "match": (data.resolve() / match_session.MATCHES, f"*/{match_session.LOG}"),
        }
        self._folders = Folders(runs and runs.resolve(), own, logs and logs.resolve())
        self._job: Job | None = None

    async def found(self, payload: OpeningsRequest) -> views.Json:
        """Return the games that have reached a position, and the moves played in it.

        Raises QuartetError.
        """
        located, key = await asyncio.to_thread(self._sources.keyed, payload.source)
        game, position = located.game.info.name, located.position
        if self._job is None or self._job.over:
            self._job = self._jobs.start()
        found = await self._job.request(
            "openings",
            game=game,
            key=key,
            seat=position.to_move,
            limit=payload.limit,
            folders=self._folders,
        )
        for line in (*found["moves"], *found["games"]):
            line.update(views.written(games.scene(game), line["move"], position))
        for line in found["games"]:
            line["players"] = [*map(shown_name, line["players"])]
            line["name"] = printable(line["name"] or self._sources.name(line["source"]))
        return {**found, "to_move": position.to_move}
