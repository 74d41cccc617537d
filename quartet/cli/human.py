"""A person at this terminal, at any game: what the seat of a person asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quartet.cli import drawing
from quartet.cli.person import Action, PersonView, TerminalPerson
from quartet.judge.seats.engine import hint
from quartet.judge.seats.seat import TakeBackError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from core.rules import Move
    from quartet.judge.match import Match


def chooser(console: Console) -> Callable[[Match], Move]:
    """What asks the person at the terminal for moves, for `PersonSeat`."""
    person = TerminalPerson(console)

    def choose(match: Match) -> Move:
        found = person.choose(view(match))
        if found is Action.UNDO:
            raise TakeBackError
        return found

    return choose


def view(match: Match) -> PersonView:
    """What the person to move is shown of a match."""
    module = drawing.scenes(match.game.info.name)
    played = list(zip(match.turns, match.positions, strict=True))
    last = next(((turn, before) for turn, before in reversed(played) if turn.move), None)
    seat = match.position.to_move
    return PersonView(
        title=match.game.info.title,
        module=module,
        position=match.position,
        name=drawing.seat_name(match, seat),
        headline=drawing.standing(match),
        last=() if last is None else module.parts(last[0].move or (), last[1]),
        last_seat=0 if last is None else last[0].seat,
        history=[
            f"{drawing.seat_name(match, turn.seat)}: "
            f"{drawing.write(match.game.info.name, turn.move, before)}"
            for turn, before in played
        ],
        can_undo=match.can_take_back,
        hint=lambda: hint(match),
    )
