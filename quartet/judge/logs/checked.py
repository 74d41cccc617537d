"""A log as far as it agrees with the rules of its game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.messages import SIDES
from core.rules import Position
from quartet.judge.game import JudgedGame
from quartet.judge.match import Match, Watcher
from quartet.judge.turn import Turn


class CheckedLog:
    """A log as far as it agrees with the rules.

    Attributes:
        game: The game.
        watchers: Watchers of the match.
        rules: Class of the positions; None for the reference rules.
        match: The game, played again; None if not even its start could be read.
        notes: How the log deviates from the judge's usual form, a sentence each.
        tags: Tags of the log's header.
        complaint: Where and how the log cannot be read or disagrees with the rules, in one sentence
            that begins with the line; None if it agrees.
    """

    def __init__(
        self,
        game: JudgedGame,
        watchers: Sequence[Watcher] = (),
        rules: type[Position] | None = None,
    ) -> None:
        self.game, self.watchers, self.rules = game, watchers, rules
        self.match: Match | None = None
        self.notes: list[str] = []
        self.tags: dict[str, str] = {}
        self.complaint: str | None = None

    @property
    def agrees(self) -> bool:
        """Return True if the whole log agrees with the rules."""
        return self.complaint is None

    @property
    def turns(self) -> list[Turn]:
        """The turns, with passes that the log omits (0 ms each)."""
        return [] if self.match is None else self.match.turns

    @property
    def positions(self) -> list[Any]:
        """The start, and the position after every turn; empty if there is no start."""
        return [] if self.match is None else [*self.match.positions, self.match.position]

    def sentence(self) -> str:
        """Return the outcome in one line, for the command line."""
        if self.complaint is not None or self.match is None:
            return self.complaint or "there is no game"
        scores, place, _ = self.match.standing()
        name = self.game.info.score_name
        words = f"{self.match.position.ply} plies, {name} {_joined(scores)}"
        if len(scores) > len(SIDES):
            words += f", places {_joined(place)}"
        return f"ok, {words}" + "".join(f"; {note}" for note in self.notes)

    def note(self, text: str) -> None:
        """Add a note, unless it is there already."""
        if text not in self.notes:
            self.notes.append(text)


def _joined(values: list[int | None]) -> str:
    return " ".join("-" if value is None else str(value) for value in values)
