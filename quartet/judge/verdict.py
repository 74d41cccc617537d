"""What became of a turn."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """Why a turn counted or was lost; a sentence for people goes with it wherever it is
    recorded."""

    OK = "ok"
    """A legal move was played."""
    PASS = "pass"  # noqa: S105
    """No move was possible: the turn passed by itself and nobody was asked."""
    LATE = "late"
    """The program had not ended when its time was up."""
    MEMORY = "memory"
    """The program and its children together held more memory than allowed."""
    CRASHED = "crashed"
    """The program could not be started, or failed (exit status, signal) without leaving a legal
    move."""
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


class Termination(StrEnum):
    """Why a game between programs that live for the whole game ended; a sentence goes with it."""

    SCORE = "score"
    """It was played to its end, and somebody has more."""
    DRAW = "draw"
    """It was played to its end, and the scores are equal."""
    TLE = "tle"
    """A player's time was up: for its READY, or the clock of its moves."""
    RE = "re"
    """A player could not be started, has died, closed its output, or said something that is no
    answer."""
    ILLEGAL = "illegal"
    """A player made a move that the rules forbid."""
    MEMORY = "memory"
    """A player and its children together held more memory than allowed."""
    JUDGE = "judge error"
    """The judge, or the system under it, failed; nobody has won."""

    @property
    def foul(self) -> bool:
        """Whether a player has forfeited the game."""
        return self not in {Termination.SCORE, Termination.DRAW, Termination.JUDGE}
