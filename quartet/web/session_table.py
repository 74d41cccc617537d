"""The sessions of one kind, by id."""

from __future__ import annotations

from typing import Generic, TypeVar

from quartet.web.data_folder import DataFolder
from quartet.web.errors import Refused
from quartet.web.match_session import MatchSession
from quartet.web.session_state import AnalysisSession, ReviewSession
from quartet.web.views import Json

MAX_LOADED = 100
"""Sessions that have ended and are wholly in memory, of one kind."""

SessionT = TypeVar("SessionT", MatchSession, ReviewSession, AnalysisSession)


class SessionTable(dict[str, SessionT], Generic[SessionT]):
    """Sessions of one kind, by id. A missing one raises Refused."""

    def __init__(self, kind: str, folder: str, limit: int, data: DataFolder) -> None:
        """Make an empty table.

        Args:
            kind: What a session is called in messages.
            folder: Kind of its entries in the data folder.
            limit: Sessions that have ended; the oldest are deleted first.
            data: The data folder.
        """
        super().__init__()
        self._kind, self._folder, self._limit, self._data = kind, folder, limit, data

    def __missing__(self, key: str) -> SessionT:
        raise Refused(f"this {self._kind} does not exist any more", 404)

    def add(self, session: SessionT) -> Json:
        """Add a session, and return its id; delete the oldest of those that have ended."""
        self[session.id] = session
        ended = [key for key, old in self.items() if old.ended]
        for key in ended[: max(0, len(ended) - self._limit)]:
            self.remove(key)
        for key in ended[-self._limit : -MAX_LOADED]:
            self[key].unload()
        return {"id": session.id}

    def remove(self, key: str) -> None:
        """Delete a session, in the data folder, too."""
        del self[key]
        self._data.remove(self._folder, key)

    async def shown(self, id: str) -> Json:  # noqa: A002
        """Return a session as the page shows it. Raises Refused."""
        return self[id].shown()

    @property
    def running(self) -> list[SessionT]:
        """The sessions that have not ended."""
        return [session for session in self.values() if not session.ended]
