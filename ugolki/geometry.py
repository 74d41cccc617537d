"""Cells, seats and views of the empty board. This module imports nothing.

A cell is (column, row), from 0 at the top left. The absolute board is seat 0's view.
"""

SIZE = 10
PIECES = 6
SEATS = 4
FIRST_GOAL_LINE = 6
"""First column and row of the target square in the owner's view; the last is 9."""
HOME = ((1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (1, 3))
"""Start cells of the six pieces in the owner's view."""


def seen(seat: int, column: int, row: int) -> tuple[int, int]:
    """Map an absolute cell to the view of `seat`, in which its own pieces start at the top left."""
    if seat == 0:
        return column, row
    if seat == 1:
        return row, SIZE - 1 - column
    if seat == 2:
        return SIZE - 1 - column, SIZE - 1 - row
    return SIZE - 1 - row, column


def absolute(seat: int, column: int, row: int) -> tuple[int, int]:
    """Map a cell in the view of `seat` to the absolute cell; the inverse of `seen`."""
    return seen(-seat % SEATS, column, row)


def distance(seat: int, column: int, row: int) -> int:
    """Return the number of steps from an absolute cell to the target square of `seat`: the
    Manhattan distance, because pieces move orthogonally."""
    column, row = seen(seat, column, row)
    return max(0, FIRST_GOAL_LINE - column) + max(0, FIRST_GOAL_LINE - row)
