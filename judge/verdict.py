"""What became of a turn."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """Why a turn counted or was lost; a sentence for people goes with it wherever it is recorded."""

    OK = "ok"
    """A legal move was played."""
    PASS = "pass"  # noqa: S105
    """No move was possible: the turn passed by itself and nobody was asked."""
    LATE = "late"
    """The program had not ended when its time was up."""
    MEMORY = "memory"
    """The program and its children together held more memory than allowed."""
    CRASHED = "crashed"
    """The program could not be started, or failed (exit status, signal) without leaving a legal move."""
    MISSING = "missing"
    """The program ended well, but left no answer file."""
    MALFORMED = "malformed"
    """The answer cannot be read as a move."""
    ILLEGAL = "illegal"
    """The answer is a move that the rules forbid."""

    @property
    def lost(self) -> bool:
        """Whether the player forfeited the turn."""
        return self not in {Verdict.OK, Verdict.PASS}
