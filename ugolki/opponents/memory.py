"""What the agent remembers between its moves, for it is started anew for each: the position it
left, and the habits of the others.

The file lies beside input.txt. Whatever is wrong with it, the agent plays as if it knew nobody. It
imports next to nothing.
"""

from __future__ import annotations

import os

from core.errors import QuartetError
from ugolki.geometry import SEATS, SIZE
from ugolki.opponents.beliefs import LOOKS, Habits
from ugolki.rules import Position

TYPE_CHECKING = False
if TYPE_CHECKING:
    from core.rules import Move

FILE = "memory.txt"
HEAD, TAIL = "ugolki memory 1", "end"
"""The first and the last line: a file that was not written to its end is worth nothing."""


def moves_between(position: Position, cells: tuple[int, ...]) -> list[tuple[Position, Move]] | None:
    """What the others, one after the other, have played since `position` if the board is now
    `cells`; None if no moves lead there.

    A seat that has not moved, by losing its turn or because it was stuck, is left out.
    """
    played: list[tuple[Position, Move]] = []
    while position.to_move != 0:
        label = position.to_move + 1
        left = [cell for cell in range(SIZE * SIZE) if position.cells[cell] == label != cells[cell]]
        came = [cell for cell in range(SIZE * SIZE) if position.cells[cell] != label == cells[cell]]
        if left or came:
            if len(left) != 1 or len(came) != 1:
                return None
            move = (left[0] % SIZE, left[0] // SIZE, came[0] % SIZE, came[0] // SIZE)
            if move not in position.legal():
                return None
            played.append((position, move))
            position = position.play(move)
        else:
            position = position.lose_turn()
    return played if position.cells == cells else None


class Memory:
    """The file of one agent, in the strategy's folder."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, FILE)  # noqa: PTH118  (pathlib would cost milliseconds)

    def recall(
        self, position: Position
    ) -> tuple[list[list[Habits]], list[tuple[Position, Move]]] | None:
        """The habits of each seat at each look as they were, and what was played since; None where
        that was not in this game.

        `position` is the one on the board now, with us, seat 0, to move.
        """
        try:
            with open(self._path, encoding="ascii") as file:  # noqa: PTH123
                head, ply, cells, *rows, tail = file.read(1 << 16).splitlines()
            if (head, int(ply) + SEATS - 1, len(rows), tail) != (
                HEAD,
                position.ply,
                LOOKS * SEATS,
                TAIL,
            ):
                return None
            habits = [Habits.parse(row) for row in rows]
            played = moves_between(
                Position.from_cells([int(digit) for digit in cells], int(ply), position.moves),
                position.cells,
            )
        except (OSError, ValueError, QuartetError):
            return None
        return (
            None
            if played is None
            else ([habits[i : i + SEATS] for i in range(0, len(habits), SEATS)], played)
        )

    def keep(self, position: Position, habits: list[list[Habits]]) -> None:
        """Write down the position that our move has led to, and the habits; a folder that cannot be
        written to is no reason to fail."""
        rows = [
            HEAD,
            str(position.ply),
            "".join(map(str, position.cells)),
            *(one.text() for row in habits for one in row),
            TAIL,
        ]
        try:
            with open(self._path, "w", encoding="ascii", newline="\n") as file:  # noqa: PTH123
                file.write("\n".join(rows) + "\n")
        except OSError:
            pass
