"""Learn the evaluation's numbers from self-play, by temporal differences (Sutton 1988)."""

from array import array

class Learner:
    """The evaluation's numbers during learning, all 0 at first. A seed makes them reproducible.

    Attributes:
        td_lambda: Weight of the rest of the game against the next value in a target.
        explore: Fraction of moves that are chosen at random.
        width: Moves evaluated per position: the first ones of the engine's move ordering.
    """

    td_lambda: float
    explore: float
    width: int
    def __init__(
        self, seed: int, td_lambda: float = 0.5, explore: float = 0.1, width: int = 16
    ) -> None: ...
    def play(self, games: int, rate: float) -> float:
        """Learn from self-play and return the root mean square error, in points.

        Args:
            games: Number of games.
            rate: Learning rate, 0 to 1.
        """

    def numbers(self) -> array[int]:
        """Return the numbers in 1/64 points, as 16-bit words in native byte order."""
