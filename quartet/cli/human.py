"""A person in a seat of a game whose judge exchanges files."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

from quartet import registry
from quartet.cli import drawing
from quartet.cli.person import Action, PersonView, TerminalPerson
from quartet.judge.record import Turn

if TYPE_CHECKING:
    from rich.console import Console

    from core.scene import SceneModule
    from quartet.judge.table import Table


class Human:
    """A person at this terminal; no clock runs."""

    def __init__(self, console: Console) -> None:
        self._person = TerminalPerson(console)

    def play(self, table: Table) -> Turn:
        """Ask for a move. Raises KeyboardInterrupt when the person leaves."""
        position = table.position
        view = PersonView(
            title=table.game.info.title,
            module=cast("SceneModule", registry.load(table.game.info.name, "scene")),
            position=position,
            name=drawing.seat_name(table, position.to_move),
            headline=drawing.standing(table),
        )
        started = time.perf_counter()
        move = self._person.choose(view)
        assert move is not Action.UNDO  # noqa: S101  (it was not offered)
        answer = table.game.format_answer(move, position.to_move)
        seconds = round(time.perf_counter() - started, 6)
        return Turn(
            position.ply,
            position.to_move,
            position.text(),
            answer,
            len(answer),
            move=move,
            seconds=seconds,
        )

    def close(self) -> None:
        """A person needs no tidying up."""
