"""A checked log as a review needs it: turns, positions, players, clocks and remarks."""

from __future__ import annotations

from functools import cached_property
from typing import Any, cast

from core.errors import QuartetError
from core.messages import Debug, Ply
from core.rules import Move, Position
from core.scene import SceneModule
from quartet import registry
from quartet.judge.game import JudgedGame
from quartet.judge.logs import jsonl
from quartet.judge.logs.check import check
from quartet.judge.logs.checked import CheckedLog
from quartet.judge.process.words import printable
from quartet.judge.state import time_left
from quartet.judge.table import Penalty
from quartet.review.engines import lead


class LoggedGame:
    """A game under review.

    Attributes:
        game: Its description, rules and protocol.
        data: Content of the log.
        notes: Peculiarities of the log, one sentence each.
        match: The game as the checker replayed it.
        turns: All turns, forfeited ones included.
        truth: Positions on the reference rules: the start, then one per turn.
        positions: The same on the fast rules, or `truth` if those cannot replay the log.
        scene: Texts and cells of moves.
    """

    def __init__(
        self, game: JudgedGame, checked: CheckedLog, data: bytes, rules: type[Position]
    ) -> None:
        """Take a log that agrees with the rules; `rules` are the fast ones."""
        assert checked.match is not None  # noqa: S101  (the log agrees)
        self.game, self.data = game, data
        self.notes, self.match, self.turns = checked.notes, checked.match, checked.turns
        self.truth: list[Any] = checked.positions
        self.positions = self._replay(rules)
        self.scene = cast("SceneModule", registry.load(game.info.name, "scene"))

    def _replay(self, rules: type[Position]) -> list[Any]:
        try:
            fast = check(self.game, self.data, rules=rules)
        except (QuartetError, AttributeError):
            return self.truth
        fits = fast.agrees and len(fast.positions) == len(self.truth)
        return fast.positions if fits else self.truth

    def is_forced(self, number: int) -> bool:
        """Return True if the turn played the only legal move."""
        return self.turns[number].move is not None and len(self.positions[number].legal()) == 1

    def same(self, number: int, one: Move | None, other: Move | None) -> bool:
        """Return True if both are moves that lead from position `number` to the same position."""
        if one is None or other is None:
            return False
        if tuple(one) == tuple(other):
            return True
        position = self.positions[number]
        return self.game.info.move_aliases and position.canonical(one) == position.canonical(other)

    def after(self, number: int, move: Move) -> Any:
        """Return the position after another move in a turn, when the next seated player moves."""
        position = self.positions[number].play(move)
        absent = {seat for seat, name in enumerate(self.match.names) if name is None}
        if self.match.table.penalty is Penalty.OUT:
            absent |= {turn.seat for turn in self.turns[: number + 1] if turn.verdict.lost}
        while not position.over and position.to_move in absent:
            position = position.lose_turn()
        return position

    def gain(self, number: int, move: Move | None) -> float:
        """Return by how much a move changes the mover's lead on the board; 0 for no move."""
        if move is None:
            return 0.0
        before, seat = self.positions[number], self.turns[number].seat
        after = before.play(move)
        ahead, behind = (lead(self.game, p.scores(), seat) for p in (after, before))
        return ahead - behind

    @cached_property
    def players(self) -> list[str | None]:
        """The players named by the log; None for an empty seat."""
        return [
            None if name is None else printable(name.removeprefix("COMMAND: "))
            for name in self.match.names
        ]

    @cached_property
    def remarks(self) -> dict[int, tuple[tuple[int | None, str], ...]]:
        """Output of programs as (seat, text), by the number of the turn before it."""
        found: dict[int, list[tuple[int | None, str]]] = {}
        for number, turn in enumerate(self.turns):
            said = [*turn.said, *((turn.seat, text) for text in turn.stderr.splitlines())]
            for seat, text in said:
                if not text.startswith("info depth "):
                    found.setdefault(number, []).append((seat, printable(text)))
        if not jsonl.begins(self.data) and self.game.info.lines is not None:
            moved = [n for n, t in enumerate(self.turns) if t.move != self.game.pass_move]
            count = 0
            for line in self.data.decode("utf-8-sig", "replace").splitlines():
                try:
                    entry = self.game.protocol.parse_entry(line)
                except QuartetError:
                    continue
                if isinstance(entry, Ply) and entry.move != self.game.pass_move:
                    count += 1
                elif isinstance(entry, Debug) and moved:
                    place = moved[min(max(count - 1, 0), len(moved) - 1)]
                    found.setdefault(place, []).append((entry.seat, printable(entry.text)))
        return {number: tuple(said) for number, said in found.items()}

    @cached_property
    def clocks(self) -> list[int | None]:
        """Milliseconds left to the mover after each turn; None without a clock for the game."""
        table = self.match.table
        if table.per_move:
            return [None] * len(self.turns)
        left = list(table.clocks)
        found: list[int | None] = []
        for turn in self.turns:
            left[turn.seat] = time_left(left[turn.seat], turn.ms)
            found.append(left[turn.seat])
        return found
