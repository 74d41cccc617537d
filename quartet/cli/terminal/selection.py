"""Choice of a move of any game with keys: part by part with the arrow keys, or typed."""

from __future__ import annotations

from enum import Enum

from core.errors import IllegalMoveError, TextError
from core.rules import Move, Position
from core.scene import PASS_PART, Parts, SceneModule
from quartet.cli.terminal import board


class Action(Enum):
    """A command that takes the place of a move."""

    UNDO = "undo"
    HINT = "hint"
    LIST = "list of moves"
    LEAVE = "leave"


ALONG = {"left": -1, "right": 1, "tab": 1}
ACROSS = {"up": -1, "down": 1}
COMMANDS = {"u": Action.UNDO, "?": Action.HINT, "l": Action.LIST, "q": Action.LEAVE}
"""Command keys; they work while the line is empty."""
ESCAPED = ":"
"""Prefix of a command key that is also the first letter of a move."""


class Selection:
    """The state of a choice; it draws nothing.

    - Left, right and Tab move the cursor through the possible next parts in reading order.
    - Up and down move it to the nearest part above or below.
    - Enter takes the part under the cursor; Escape puts the last part back.
    - Other characters go into a line: Enter plays the move in it, Backspace deletes a character,
      Escape clears it.

    Attributes:
        taken: The parts taken so far.
        cursor: The part under the cursor, one of `options`.
        typed: The line.
        complaint: Why the last key had no effect, or "".
    """

    def __init__(self, module: SceneModule, position: Position) -> None:
        """Begin a choice in a position by the reference rules, whose game is not over."""
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
        """The possible next parts, in reading order."""
        depth = len(self.taken)
        found = {parts[depth] for parts in self._choices if parts[:depth] == self.taken}
        return sorted(found, key=lambda part: self._places[part][::-1])  # by y, then by x

    @property
    def parts(self) -> Parts:
        """The parts taken, and the one that Enter would take."""
        return (*self.taken, self.cursor)

    @property
    def is_whole(self) -> bool:
        """Return True if Enter would complete a move."""
        return self.parts in self._choices

    def key_of(self, command: Action) -> str:
        """Return the keys to press for a command."""
        key = next(key for key, meant in COMMANDS.items() if meant is command)
        return ESCAPED + key if key in self._letters else key

    def feed(self, key: str) -> Move | Action | None:
        """Process a key, given by its name in `keys`.

        Returns:
            A legal move, once it is complete; a command; or None. Unknown keys do nothing.
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
        """Return the move in the line; clear the line only if the move is legal."""
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
        """Return the next option in reading order, or the previous one; it wraps around."""
        options = self.options
        return options[(options.index(self.cursor) + step) % len(options)]

    def _across(self, dy: int) -> str:
        """Return the nearest option above or below, in a straight line if possible; it wraps
        around."""
        x, y = self._places[self.cursor]

        def distance(part: str) -> tuple[float, float]:
            across, down = (a - b for a, b in zip(self._places[part], (x, y), strict=True))
            return down * dy, abs(across)

        ahead = [part for part in self.options if distance(part)[0] > 0]
        if ahead:
            return min(ahead, key=lambda part: distance(part)[0] + 2 * distance(part)[1])
        return min(self.options, key=distance)
