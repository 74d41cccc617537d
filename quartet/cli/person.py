"""A person at this terminal chooses a move: part by part with the arrow keys, or by typing it. It
knows no game."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, Literal

from rich.console import Group
from rich.live import Live
from rich.text import Text

from core.errors import IllegalMoveError, TextError
from core.scene import PASS_PART
from quartet.cli import board
from quartet.cli.keys import Keyboard

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console, RenderableType

    from core.rules import Move, Position
    from core.scene import Parts, SceneModule


class Action(Enum):
    """What a person may want instead of a move."""

    UNDO = "undo"
    HINT = "hint"
    LIST = "list of moves"
    LEAVE = "leave"


ALONG = {"left": -1, "right": 1, "tab": 1}
ACROSS = {"up": -1, "down": 1}
COMMANDS = {"u": Action.UNDO, "?": Action.HINT, "l": Action.LIST, "q": Action.LEAVE}
"""Keys while nothing is typed."""
ESCAPED = ":"
"""Comes before a command's key in a game whose moves are written with that letter."""
ARROW: Final = " → "


class Selection:
    """Choosing a move of a position with keys; it draws nothing.

    Left, right and Tab move the cursor along the parts that can come next as one reads, up and down
    to the nearest one there. Enter takes the part under it, Escape puts the last one back. Other
    characters are typed into a line: Enter plays the move in it, Backspace takes a character away,
    Escape empties it.

    Attributes:
        taken: Parts; chosen so far.
        cursor: str; the part under the cursor, one of `options`.
        typed: str; the line.
        complaint: str; why the last key brought nothing, or "".
    """

    def __init__(self, module: SceneModule, position: Position) -> None:
        """`position` is a reference position that is not over."""
        self._module = module
        self._position = position
        self._choices = module.choices(position)
        self._places = board.places(module.scene(position))
        words = " ".join(module.write(move, position) for move in self._choices.values())
        self._letters = {word[0] for word in [*words.lower().split(), PASS_PART]}
        self.taken: Parts = ()
        self.typed = ""
        self.complaint = ""
        self.cursor = self.options[0]

    @property
    def options(self) -> list[str]:
        """The parts that can come next, row by row."""
        depth = len(self.taken)
        found = {parts[depth] for parts in self._choices if parts[:depth] == self.taken}
        return sorted(found, key=self._in_reading_order)

    @property
    def parts(self) -> Parts:
        """What is taken, and what Enter would take."""
        return (*self.taken, self.cursor)

    @property
    def is_whole(self) -> bool:
        """Whether Enter would complete a move."""
        return self.parts in self._choices

    def key_of(self, command: Action) -> str:
        """What to press for a command."""
        key = next(key for key, meant in COMMANDS.items() if meant is command)
        return ESCAPED + key if key in self._letters else key

    def feed(self, key: str) -> Move | Action | None:
        """Take in a key, by its name in `keys`.

        Returns:
            The move when it is complete: one that the position takes. A command. None after any
            other key; those without a meaning do nothing.
        """
        self.complaint = ""
        if key in ALONG:
            self.cursor = self._along(ALONG[key])
        elif key in ACROSS:
            self.cursor = self._across(ACROSS[key])
        elif key == "escape":
            self._back()
        elif key == "backspace":
            self.typed = self.typed[:-1]
        elif key == "enter":
            return self._read() if self.typed.strip() else self._take()
        elif key == "space":
            self.typed += " "
        elif len(key) == 1 and key.isprintable():
            return self._type(key)
        return None

    def _take(self) -> Move | None:
        """Take the part under the cursor."""
        if self.is_whole:
            return self._choices[self.parts]
        self.taken = self.parts
        x, y = self._places[self.cursor]

        def distance(part: str) -> float:
            return abs(self._places[part][0] - x) + abs(self._places[part][1] - y)

        self.cursor = min(self.options, key=distance)
        return None

    def _back(self) -> None:
        if self.typed:
            self.typed = ""
        elif self.taken:
            *rest, self.cursor = self.taken
            self.taken = tuple(rest)

    def _type(self, character: str) -> Action | None:
        command = COMMANDS.get(character)
        is_free = not self.typed and character not in self._letters
        if command is not None and (is_free or self.typed.strip() == ESCAPED):
            self.typed = ""
            return command
        self.typed += character
        return None

    def _read(self) -> Move | None:
        """The move in the line; it is emptied only where that can be played."""
        text = " ".join(self.typed.split())
        if text == PASS_PART:
            self.complaint = "" if (PASS_PART,) in self._choices else "no pass is legal here"
            return self._choices.get((PASS_PART,))
        try:
            move = self._module.read(text, self._position)
            self._position.play(move)
        except (TextError, IllegalMoveError) as error:
            self.complaint = str(error)
            return None
        self.typed = ""
        return move

    def _along(self, step: int) -> str:
        """The option after the cursor as one reads, or the one before it; the last one and the
        first one are neighbours. So all options can be reached."""
        options = self.options
        return options[(options.index(self.cursor) + step) % len(options)]

    def _across(self, dy: int) -> str:
        """The nearest option above or below, straight ones before slanting ones; from the last one
        on to the far side."""
        x, y = self._places[self.cursor]

        def distance(part: str) -> tuple[float, float]:
            across, down = (a - b for a, b in zip(self._places[part], (x, y), strict=True))
            return down * dy, abs(across)

        ahead = [part for part in self.options if distance(part)[0] > 0]
        if ahead:
            return min(ahead, key=lambda part: distance(part)[0] + 2 * distance(part)[1])
        return min(self.options, key=distance)

    def _in_reading_order(self, part: str) -> tuple[float, float]:
        x, y = self._places[part]
        return y, x


@dataclass(frozen=True)
class PersonView:
    """What a person who is to move is shown, and may ask for.

    Attributes:
        title: str; of the game.
        module: SceneModule; the game's `scene.py`.
        position: Position; a reference position that is not over. Its `to_move` is the person.
        name: str; who the person is at the table, e.g. "1 human".
        headline: RenderableType; who is who, with scores; it stands beside the board.
        last: Parts; of the move before, by the position in which it was made; () for none.
        last_seat: int; who made it.
        history: Sequence[str]; the moves so far, as the game writes them.
        can_undo: bool; whether `choose` may return Action.UNDO.
        hint: Callable[[], Move] | None; a good move in `position`. It may take its time.
    """

    title: str
    module: SceneModule
    position: Position
    name: str
    headline: RenderableType = ""
    last: Parts = ()
    last_seat: int = 0
    history: Sequence[str] = ()
    can_undo: bool = False
    hint: Callable[[], Move] | None = None


class TerminalPerson:
    """A person at this terminal; no clock runs."""

    def __init__(self, console: Console, keyboard: Keyboard | None = None) -> None:
        self._console = console
        self._keyboard = keyboard or Keyboard()

    def choose(self, view: PersonView) -> Move | Literal[Action.UNDO]:
        """Ask until there is a move that `view.position` takes, or the wish to take one back.
        Raises KeyboardInterrupt when the person leaves."""
        selection = Selection(view.module, view.position)
        note = ""
        hinted: Parts = ()
        with Live(
            _picture(view, selection, note, hinted),
            console=self._console,
            auto_refresh=False,
            transient=True,
        ) as live:

            def show() -> None:
                live.update(_picture(view, selection, note, hinted), refresh=True)

            while True:
                action = selection.feed(self._keyboard.key())
                note = selection.complaint
                if action is Action.LEAVE:
                    raise KeyboardInterrupt
                if action is Action.LIST:
                    live.console.print(_listed(view), highlight=False)
                elif action is Action.UNDO:
                    if view.can_undo:
                        return action
                    note = "no move can be taken back here"
                elif action is Action.HINT:
                    if view.hint is None:
                        note = "there are no hints here"
                    else:
                        note = "looking for a move ..."
                        show()
                        move = view.hint()
                        hinted = view.module.parts(move, view.position)
                        note = f"hint: {view.module.write(move, view.position)}"
                elif action is not None:
                    return action
                show()


def _picture(view: PersonView, selection: Selection, note: str, hinted: Parts) -> Group:
    """All that is seen while a person chooses."""
    scene = view.module.scene(view.position)
    seat = f"seat{view.position.to_move}"
    marks = board.move_marks(scene, view.last, view.last_seat)
    marks |= dict.fromkeys(selection.options, f"{seat} option")
    marks |= dict.fromkeys(selection.taken, f"{seat} from")
    marks |= {part: f"{marks.get(part, '')} hint" for part in hinted}
    marks[selection.cursor] = f"{seat} cursor"
    grid = board.beside()
    grid.add_row(board.draw(scene, marks), view.headline)
    chosen = selection.typed + "_" if selection.typed else ARROW.join(selection.parts)
    line = Text.assemble("your move, ", (view.name, board.style(seat)), f": {chosen}")
    return Group(
        Text(), Text(view.title, "bold"), grid, line, Text(note, "bold"), _keys(view, selection)
    )


def _keys(view: PersonView, selection: Selection) -> Text:
    """The keys that mean something now."""
    if selection.typed:
        return Text("Enter: play it   Backspace: correct it   Escape: away with it", "dim")
    words = [f"arrows or Tab: choose   Enter: {'play' if selection.is_whole else 'take it'}"]
    if selection.taken:
        words.append("Escape: put it back")
    words.append("or type the move")
    is_offered = {Action.UNDO: view.can_undo, Action.HINT: view.hint is not None}
    commands = [
        f"{selection.key_of(command)}: {command.value}"
        for command in Action
        if is_offered.get(command, True)
    ]
    return Text("   ".join(words) + "\n" + "   ".join(commands), "dim")


def _listed(view: PersonView) -> Text:
    """The moves so far, numbered by ply from 0."""
    if not view.history:
        return Text("no move has been made yet")
    return Text("   ".join(f"{ply}. {move}" for ply, move in enumerate(view.history)))
