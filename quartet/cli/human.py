"""A person in a seat: pieces and destinations are chosen with the arrow keys."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.console import Group
from rich.live import Live
from rich.text import Text

from quartet.cli import drawing
from quartet.cli.keys import Keyboard
from quartet.judge.record import Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from core.rules import Move
    from quartet.judge.table import Table

Cell = tuple[int, int]

DIRECTIONS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
LEAVE = "q"
CHOOSE_HINT = "arrows or Tab: choose a piece   Enter: take it   q: leave"
PLACE_HINT = "arrows or Tab: choose where to   Enter: play   Escape: put the piece back   q: leave"


class Selection:
    """Choosing one of `moves`, each (column, row, column, row), with keys.

    Attributes:
        cursor: the cell under the cursor: a piece that can move, or, once a piece is taken, a cell
            it can go to.
        taken: the cell of the piece that is taken, or None.
    """

    def __init__(self, moves: Sequence[Move]) -> None:
        self._moves = list(moves)
        self.taken: Cell | None = None
        self.cursor = self.cells[0]

    @property
    def cells(self) -> list[Cell]:
        """Where the cursor can be, row by row."""
        if self.taken is None:
            cells = {(move[0], move[1]) for move in self._moves}
        else:
            cells = {(move[2], move[3]) for move in self._moves if (move[0], move[1]) == self.taken}
        return sorted(cells, key=lambda cell: (cell[1], cell[0]))

    def feed(self, key: str) -> Move | None:
        """Take in a key, by its name in `keys`; gives the move when it is complete. Keys without a
        meaning do nothing."""
        if key in DIRECTIONS:
            self.cursor = self._towards(*DIRECTIONS[key])
        elif key == "tab":
            cells = self.cells
            self.cursor = cells[(cells.index(self.cursor) + 1) % len(cells)]
        elif key == "escape" and self.taken is not None:
            self.cursor, self.taken = self.taken, None
        elif key == "enter" and self.taken is None:
            self.taken = self.cursor
            self.cursor = min(
                self.cells,
                key=lambda cell: abs(cell[0] - self.cursor[0]) + abs(cell[1] - self.cursor[1]),
            )
        elif key == "enter" and self.taken is not None:
            return (*self.taken, *self.cursor)
        return None

    def _towards(self, dx: int, dy: int) -> Cell:
        """The nearest cell in a direction, straight ones before slanting ones; from the last one on
        to the far side."""
        column, row = self.cursor

        def along(cell: Cell) -> int:
            return (cell[0] - column) * dx + (cell[1] - row) * dy

        def across(cell: Cell) -> int:
            return abs((cell[0] - column) * dy) + abs((cell[1] - row) * dx)

        ahead = [cell for cell in self.cells if along(cell) > 0]
        if ahead:
            return min(ahead, key=lambda cell: (along(cell) + 2 * across(cell), cell))
        return min(self.cells, key=lambda cell: (along(cell), across(cell), cell))


class Human:
    """A person at this terminal; no clock runs."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._keyboard = Keyboard()

    def play(self, table: Table) -> Turn:
        """Ask for a move. Raises KeyboardInterrupt when the person leaves."""
        position = table.position
        selection = Selection(position.legal())
        started = time.perf_counter()
        move = None
        with Live(
            self._view(table, selection), console=self._console, auto_refresh=False, transient=True
        ) as live:
            while move is None:
                key = self._keyboard.key()
                if key == LEAVE:
                    raise KeyboardInterrupt
                move = selection.feed(key)
                live.update(self._view(table, selection), refresh=True)
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

    def _view(self, table: Table, selection: Selection) -> Group:
        seat = f"seat{table.position.to_move}"
        if selection.taken is None:
            marks = dict.fromkeys(selection.cells, f"{seat} option") | {
                selection.cursor: f"{seat} cursor"
            }
            words = f"{selection.cursor[0]} {selection.cursor[1]}"
        else:
            marks = dict.fromkeys(selection.cells, f"{seat} option")
            marks |= {selection.taken: f"{seat} from", selection.cursor: f"{seat} cursor"}
            words = drawing.move_text((*selection.taken, *selection.cursor))
        hint = CHOOSE_HINT if selection.taken is None else PLACE_HINT
        line = Text.assemble(
            "your move, ",
            (drawing.seat_name(table, table.position.to_move), drawing.style(seat)),
            f": {words}",
        )
        return Group(Text(), drawing.scene(table, marks), line, Text(hint, "dim"))
