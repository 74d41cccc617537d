"""A seat that is played by a built-in player in this process: no program is started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.background import BackgroundSearch
from core.engine import FORGET, OBSERVE, STOP, can
from core.limits import Limits
from core.native.clock import now
from core.timeman import player_limits
from quartet import registry
from quartet.judge.seats.seat import Answer, Seat

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.limits import SearchInfo
    from core.rules import Move, Position
    from quartet.judge.match import Match
    from quartet.judge.turn import Turn


HINT_SECONDS = 1.0
"""What the game's engine may take to find a hint."""


def hint(match: Match) -> Move:
    """The move that the game's engine would play, after a moment's search."""
    game = match.game
    position = shown(match, match.position, fast_rules(game.info.name))
    engine = registry.load(game.info.name, "players").player("bot", 0)
    found = BackgroundSearch(engine, position, Limits(deadline=now() + HINT_SECONDS)).outcome()
    text = game.protocol.format_answer(found.move, position.to_move)
    return game.protocol.parse_answer(text, match.position.to_move)


def fast_rules(game: str) -> Any:
    """The class of a game's fast positions, of the reference ones where it has no others."""
    part = "rules" if registry.has(game, "rules") else "reference"
    return registry.load(game, part).Position


def shown(match: Match, position: Any, rules: Any) -> Any:
    """A position of a match as a player sees it that plays by `rules`: itself, where the match is
    by the same, else what a program would be sent."""
    if match.rules is rules:
        return position
    known = match.game.info.options
    options = {
        name: value for name, value in match.start.options.items() if not known[name].of_start
    }
    return rules.parse(position.text(), **options)


class EngineSeat(Seat):
    """A built-in player. It is held to no clock: what it takes is measured, and it loses no turns.

    In a match by the fast rules it is shown the match's own positions; in any other one what a
    program would be sent, so that it knows no more than a program.
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
            game: str; name: str, of the player, as `quartet games` lists them, with its options.
            seed: int; of its random choices.
            nodes: int | None; of every search. seconds: float | None; of every search, whatever
                its clock says.
            clock: bool; whether it minds its clock. Without clock and nodes it searches as far as
                it does by itself.
            report: called with what a search has found so far, where the player tells.

        Raises:
            UnknownNameError: there is no such player, or option.
            TextError: an option has no such value.
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
        """Let the player choose; a forced pass needs no search."""
        if match.position.legal() == [match.game.pass_move]:
            return Answer(move=match.game.pass_move)
        position = shown(match, match.position, self._rules)
        started = now()
        limits = self._limits(match, position, started)
        told = () if self._report is None else (self._report,)
        found = self.player.choose(position, limits, *told)
        seconds = now() - started
        text = match.game.protocol.format_answer(found.move, position.to_move)
        kept = {"output": text, "output_size": len(text), "seconds": seconds, "info": found}
        if position is match.position:
            return Answer(move=found.move, **kept)
        return Answer(text=text, **kept)

    def heard(self, match: Match, turn: Turn, before: Position) -> None:
        """Tell a player that learns from others what they do.

        Where a program is sent the board turned to its own side, nobody can tell it so.
        """
        if not can(self.player, OBSERVE) or turn.seat == self._seat or turn.move is None:
            return
        if match.rules is self._rules or match.game.info.exchange is None:
            self.player.observe(shown(match, before, self._rules), turn.move)

    def taken_back(self, match: Match) -> None:
        """What was learned may be of moves that were not made."""
        del match
        if can(self.player, FORGET):
            self.player.forget()

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
