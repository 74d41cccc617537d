"""Learning the evaluation's numbers from self-play, by temporal differences."""

from array import array

class Learner:
    """Numbers that improve, all 0 at first; a seed gives the same ones every time.

    Attributes:
        trace: lambda: how much a value follows what came of the game, not the next value.
        explore: the share of moves that are played at random, among the `width` that look best.
    """

    trace: float
    explore: float
    width: int
    def __init__(
        self, seed: int, trace: float = 0.5, explore: float = 0.1, width: int = 16
    ) -> None: ...
    def play(self, games: int, rate: float) -> float:
        """Learn from so many games of its own; returns the root of the mean square error, in
        points. `rate` is between 0 and 1."""

    def numbers(self) -> array[int]:
        """The numbers in 1/64 points, as 16-bit words in the machine's order."""
