"""A seat of a built-in player in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.background import BackgroundSearch
from core.engine import NEW_GAME, OBSERVE, STOP, can
from core.limits import Limits, SearchInfo
from core.native.clock import now
from core.rules import Move, Position
from core.timeman import player_limits
from quartet import registry
from quartet.judge.match import Match
from quartet.judge.seats.seat import Answer, Seat
from quartet.judge.turn import Turn

HINT_SECONDS = 1.0
"""Time of a search for a hint."""


def hint(match: Match, position: Position) -> Move:
    """Return the move that the game's engine would play in a position of a match, after a search of
    HINT_SECONDS."""
    game = match.game
    known = shown(match, position, fast_rules(game.info.name))
    engine = registry.load(game.info.name, "players").player("bot", 0)
    found = BackgroundSearch(engine, known, Limits(deadline=now() + HINT_SECONDS)).outcome()
    text = game.protocol.format_answer(found.move, known.to_move)
    return game.protocol.parse_answer(text, position.to_move)


def fast_rules(game: str) -> Any:
    """Return the class of a game's fast positions, of the reference positions if it has no
    others."""
    part = "rules" if registry.has(game, "rules") else "reference"
    return registry.load(game, part).Position


def shown(match: Match, position: Any, rules: Any) -> Any:
    """Return a position of a match as a player by `rules` sees it.

    It is the position itself if the match is by the same rules, else what a program would be sent.
    """
    if match.rules is rules:
        return position
    return rules.parse(position.text(), **match.game.lasting(match.start.options))


class EngineSeat(Seat):
    """A built-in player. Its time is measured, but it forfeits no turn.

    In a match by the fast rules it gets the match's own positions. In any other match it gets what
    a program would be sent, so that it knows no more than a program.
    """

    can_take_back = True

    def __init__(
        self,
        game: str,
        name: str,
        seed: int,
        *,
        nodes: int | None = None,
        seconds: float | None = None,
        clock: bool = True,
        report: Callable[[SearchInfo], None] | None = None,
    ) -> None:
        """Make the player.

        Args:
            game: Name of the game.
            name: NAME or NAME:OPTION=VALUE,... of the player.
            seed: Seed of its random choices.
            nodes: Nodes per search; None for no limit.
            seconds: Seconds per search, whatever its clock says; None for no limit.
            clock: True if its clock limits its searches. Without any limit it searches as far as it
                does by default.
            report: Called with the outcome of a search so far, if the player reports it.

        Raises:
            UnknownNameError: There is no such player, or no such option.
            TextError: An option has no such value.
        """
        super().__init__()
        self.player: Any = registry.load(game, "players").player(name, seed)
        self._rules = fast_rules(game)
        self._nodes, self._seconds, self._clock = nodes, seconds, clock
        self._report = report if can(self.player, STOP) else None
        self._seat = 0

    def open(self, match: Match, seat: int) -> None:  # noqa: ARG002  (as every seat)
        """Take the seat."""
        self._seat = seat

    def ask(self, match: Match) -> Answer:
        """Let the player choose a move; a forced pass needs no search."""
        if match.position.legal() == [match.game.pass_move]:
            return Answer(move=match.game.pass_move)
        position = shown(match, match.position, self._rules)
        started = now()
        limits = self._limits(match, position, started)
        report = () if self._report is None else (self._report,)
        found = self.player.choose(position, limits, *report)
        seconds = now() - started
        text = match.game.protocol.format_answer(found.move, position.to_move)
        fields = {"output": text, "output_size": len(text), "seconds": seconds, "info": found}
        if position is match.position:
            return Answer(move=found.move, **fields)
        return Answer(text=text, **fields)

    def heard(self, match: Match, turn: Turn, before: Position) -> None:
        """Let the player observe the others' moves, if it learns from them.

        Programs that are sent the board turned to their side are not told these moves, so the
        player is not either, except by the fast rules.
        """
        if not can(self.player, OBSERVE) or turn.seat == self._seat or turn.move is None:
            return
        if match.rules is self._rules or match.game.info.exchange is None:
            self.player.observe(shown(match, before, self._rules), turn.move)

    def taken_back(self, match: Match) -> None:
        """Make the player forget: it may have learned from moves that were taken back."""
        del match
        if can(self.player, NEW_GAME):
            self.player.new_game()

    def _limits(self, match: Match, position: Any, started: float) -> Limits:
        if self._seconds is not None:
            return Limits(deadline=started + self._seconds, nodes=self._nodes)
        if not self._clock:
            return Limits(nodes=self._nodes)
        left = match.clocks[self._seat] / 1000
        if match.table.per_move:
            limits = Limits(deadline=started + left)
        else:
            limits = player_limits(self.player, position, started, left)
        limits.nodes = self._nodes
        return limits
