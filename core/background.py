"""A search in a thread of its own, so that whoever asked for it can go on listening."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from core.engine import STOP, can

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.engine import Searcher
    from core.limits import Limits, SearchInfo

STOP_SECONDS = 0.005
"""How long to wait for a search that was told to stop, before it is told again: one that is just
beginning does not hear it."""


class BackgroundSearch:
    """A search that has begun. Engines let other threads run meanwhile; players without STOP are
    quick by themselves.

    Attributes:
        latest: the last outcome that was reported, None before the first.
    """

    def __init__(
        self,
        player: Searcher[Any],
        position: Any,
        limits: Limits,
        report: Callable[[SearchInfo], None] | None = None,
        then: Callable[[SearchInfo | None, Exception | None], None] | None = None,
    ) -> None:
        """`report` gets every outcome that the player reports, `then` the last one, or what was
        raised; both in the search's thread.

        The search has ended when `then` has returned; it must not raise.
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
        """Whether the search has ended."""
        return self._ended.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end, at most so long; whether it has come."""
        return self._ended.wait(seconds)

    def stop(self) -> None:
        """End the search, and wait until it has ended."""
        while not self.over:
            if can(self._player, STOP):
                self._player.stop()
            self._ended.wait(STOP_SECONDS)

    def outcome(self) -> SearchInfo:
        """What was found; waits for it. Raises what the search raised."""
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
        except Exception as error:  # noqa: BLE001  (whoever asks for the outcome gets it)
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
