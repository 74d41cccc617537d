"""What other programs may do, see recipes.pxd."""

from core.rules import Move
from ugolki.rules import Position

def foretell(position: Position, recipe: int, look: int) -> Move:
    """The move of the seat to move by a recipe, from 0, at a look, from 0; for tests.

    Raises RuleError when no piece can move, ValueError for other numbers.
    """
