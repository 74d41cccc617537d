"""A human at this terminal, who plays any game."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from core.rules import Move
from core.scene import Parts
from quartet.cli.terminal import board, drawing
from quartet.cli.terminal.keys import Keyboard
from quartet.cli.terminal.selection import Action, Selection
from quartet.judge import game as games
from quartet.judge.match import Match
from quartet.judge.seats.engine import hint
from quartet.judge.seats.seat import TakeBackError

ARROW: Final = " → "


def move_chooser(console: Console, keyboard: Keyboard | None = None) -> Callable[[Match], Move]:
    """Return a function that asks the human at the terminal for a move, for `PersonSeat`."""
    keys = keyboard or Keyboard()

    def choose(match: Match) -> Move:
        """Return a legal move.

        Raises:
            TakeBackError: The human takes the last move back.
            KeyboardInterrupt: The human leaves.
        """
        module = games.scene(match.game.info.name)
        selection = Selection(module, match.position)
        note = ""
        hinted: Parts = ()
        with Live(console=console, auto_refresh=False, transient=True) as live:

            def show() -> None:
                live.update(_picture(match, selection, note, hinted), refresh=True)

            while True:
                show()
                action = selection.feed(keys.key())
                note = selection.complaint
                if action is Action.LEAVE:
                    raise KeyboardInterrupt
                if action is Action.LIST:
                    live.console.print(_moves(match), highlight=False)
                elif action is Action.UNDO:
                    if match.can_take_back:
                        raise TakeBackError
                    note = "no move can be taken back here"
                elif action is Action.HINT:
                    note = "looking for a move ..."
                    show()
                    move = hint(match, match.position)
                    hinted = module.parts(move, match.position)
                    note = f"hint: {module.write(move, match.position)}"
                elif action is not None:
                    return action

    return choose


def _picture(match: Match, selection: Selection, note: str, hinted: Parts) -> Group:
    """Draw everything that the human sees while choosing."""
    module = games.scene(match.game.info.name)
    scene = module.scene(match.position)
    seat = f"seat{match.position.to_move}"
    marks: dict[str, str] = {}
    for turn, before in zip(match.turns[::-1], match.positions[::-1], strict=True):
        if turn.move:
            marks = board.move_marks(scene, module.parts(turn.move, before), turn.seat)
            break
    marks |= dict.fromkeys(selection.options, f"{seat} option")
    marks |= dict.fromkeys(selection.taken, f"{seat} from")
    marks |= {part: f"{marks.get(part, '')} hint" for part in hinted}
    marks[selection.cursor] = f"{seat} cursor"
    name = drawing.seat_name(match, match.position.to_move)
    chosen = selection.typed + "_" if selection.typed else ARROW.join(selection.parts)
    line = Text.assemble("your move, ", (name, board.style(seat)), f": {chosen}")
    title = Text(match.game.info.title, "bold")
    picture = drawing.picture(match, marks)
    return Group(Text(), title, picture, line, Text(note, "bold"), _keys(match, selection))


def _keys(match: Match, selection: Selection) -> Text:
    """Return the keys that work now."""
    if selection.typed:
        return Text(
            "Enter: play it   Backspace: delete a character   Escape: clear the line", "dim"
        )
    words = [f"arrows or Tab: choose   Enter: {'play' if selection.is_whole else 'take it'}"]
    if selection.taken:
        words.append("Escape: put it back")
    words.append("or type the move")
    commands = [
        f"{selection.key_of(command)}: {command.value}"
        for command in Action
        if command is not Action.UNDO or match.can_take_back
    ]
    return Text("   ".join(words) + "\n" + "   ".join(commands), "dim")


def _moves(match: Match) -> Text:
    """Return the moves so far, numbered by ply from 0."""
    if not match.turns:
        return Text("no move has been made yet")
    game = match.game.info.name
    played = zip(match.turns, match.positions, strict=True)
    return Text(
        "   ".join(
            f"{ply}. {drawing.seat_name(match, turn.seat)}: "
            f"{drawing.write(game, turn.move, before)}"
            for ply, (turn, before) in enumerate(played)
        )
    )
