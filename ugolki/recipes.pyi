"""What other programs may do, see recipes.pxd."""

from core.rules import Move
from ugolki.rules import Position

class Foreteller:
    """The recipes from Python, for tests and to measure them."""

    def foretell(self, position: Position, recipe: int, look: int) -> Move:
        """The move of the seat to move by a recipe, from 0, at a look, from 0.

        Raises RuleError when no piece can move, ValueError for other numbers.
        """
