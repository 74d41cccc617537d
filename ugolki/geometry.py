"""Cells, seats and views of Ugolki: everything that follows from the picture of the empty board. It
imports nothing.

A cell is (column, row), counted from 0 at the top left of the absolute board, which is seat 0's
view.
"""

SIZE = 10
PIECES = 6
SEATS = 4
FIRST_GOAL_LINE = 6
"""The target square is columns and rows 6 to 9 of the owner's view."""
HOME = ((1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (1, 3))
"""Where the six pieces start, in the owner's view."""


def seen(seat: int, column: int, row: int) -> tuple[int, int]:
    """The absolute cell (column, row) as `seat` sees it: the board turned so that its owner sits at
    the top left."""
    if seat == 0:
        return column, row
    if seat == 1:
        return row, SIZE - 1 - column
    if seat == 2:
        return SIZE - 1 - column, SIZE - 1 - row
    return SIZE - 1 - row, column


def absolute(seat: int, column: int, row: int) -> tuple[int, int]:
    """The absolute cell of what `seat` sees at (column, row); the inverse of `seen`."""
    return seen(-seat % SEATS, column, row)


def distance(seat: int, column: int, row: int) -> int:
    """Steps from an absolute cell to the target square of `seat`: pieces move orthogonally, so it
    is the Manhattan distance."""
    column, row = seen(seat, column, row)
    return max(0, FIRST_GOAL_LINE - column) + max(0, FIRST_GOAL_LINE - row)
