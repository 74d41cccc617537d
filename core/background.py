"""A search in its own thread, so that the caller can do other work."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from core.engine import STOP, can

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.engine import Searcher
    from core.limits import Limits, SearchInfo

STOP_SECONDS = 0.005
"""Seconds to wait after `stop` before it is repeated: a search that is just starting may miss
it."""


class BackgroundSearch:
    """A running search. Engines release the GIL; players without STOP are quick.

    Attributes:
        latest: The last reported result, None before the first.
    """

    def __init__(
        self,
        player: Searcher[Any],
        position: Any,
        limits: Limits,
        report: Callable[[SearchInfo], None] | None = None,
        then: Callable[[SearchInfo | None, Exception | None], None] | None = None,
    ) -> None:
        """Start the search.

        Args:
            report: Gets each result that the player reports.
            then: Gets the last result, or the exception. It must not raise. The search ends when it
                returns. Both are called in the search's thread.
        """
        self.latest: SearchInfo | None = None
        self._player = player
        self._position = position
        self._limits = limits
        self._report = report
        self._then = then
        self._found: SearchInfo | None = None
        self._error: Exception | None = None
        # a thread whose join was interrupted by Ctrl-C passes for dead
        self._ended = threading.Event()
        threading.Thread(target=self._think, name="search", daemon=True).start()

    @property
    def over(self) -> bool:
        """True if the search has ended."""
        return self._ended.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end, at most `seconds`. Returns True if the search has ended."""
        return self._ended.wait(seconds)

    def stop(self) -> None:
        """End the search, and wait for the end."""
        while not self.over:
            if can(self._player, STOP):
                self._player.stop()
            self._ended.wait(STOP_SECONDS)

    def outcome(self) -> SearchInfo:
        """Wait for the end and return the result. Raises what the search raised."""
        self._ended.wait()
        if self._error is not None:
            raise self._error
        assert self._found is not None  # noqa: S101  (it returned, or raised)
        return self._found

    def _think(self) -> None:
        try:
            if can(self._player, STOP):
                self._found = self._player.choose(self._position, self._limits, self._note)
            else:
                self._found = self._player.choose(self._position, self._limits)
        except Exception as error:  # noqa: BLE001  (`outcome` raises it)
            self._error = error
        try:
            if self._then is not None:
                self._then(self._found, self._error)
        finally:
            self._ended.set()

    def _note(self, info: SearchInfo) -> None:
        self.latest = info
        if self._report is not None:
            self._report(info)
