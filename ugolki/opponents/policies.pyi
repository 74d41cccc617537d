"""What other programs may do, see recipes.pxd."""

from core.rules import Move
from ugolki.rules import Position

def foretell(position: Position, recipe: int, look: int) -> list[Move]:
    """The moves of the seat to move by a recipe, from 0, at a look, from 0, one as likely as
    another; for tests.

    There are none where no piece can move. Raises ValueError for other numbers.
    """
