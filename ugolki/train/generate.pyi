"""Compiled self-play: whole games of Gumbel AlphaZero searches, as samples."""

from collections.abc import Callable, Mapping, Sequence

from core.rules import Move
from ugolki.rules import Position

class Generator:
    """Plays games and records each search as a sample; it owns the memory of one search."""

    def __init__(
        self,
        weights: Sequence[bytes],
        *,
        iterations: int = 32,
        considered: int = 16,
        percent: int = 40,
        scale: float = 1.0,
        playouts: bool = True,
    ) -> None:
        """Read the networks and set the search.

        Args:
            weights: Contents of files of weights; a game may seat several of them.
            iterations: Iterations per move, at least 1.
            considered: Limit of the root's moves that are searched.
            percent: Percent of the policy logits.
            scale: Weight of values against logits (c_scale).
            playouts: Play a leaf out as the engine does before the value network judges it.

        Raises:
            TextError: A file of weights is corrupt.
            ValueError: A number is out of its range.
        """

    def game(
        self,
        position: Position,
        seed: int,
        *,
        off_path_share: float = 0.25,
        seats: Sequence[int] = (0, 0, 0, 0),
        others: Mapping[int, Callable[[Position], Move]] | None = None,
    ) -> list[bytes]:
        """Play a game from a position and return its samples, then those of positions off its path.

        The result depends on the arguments only. Moves of `others` give no samples.

        Args:
            position: First position of the game.
            seed: Seed of the Gumbel noise and of the positions off the path.
            off_path_share: Probability that a position adds an off-path one, one to three random
                plies away.
            seats: Index of the weights of each seat.
            others: Maps a seat to a function that chooses its moves.

        Raises:
            IllegalMoveError: One of `others` returned an illegal move.
        """

    def search(
        self, position: Position, seed: int, weights: int = 0
    ) -> list[tuple[Move, int, float]]:
        """Search one position.

        Returns:
            (move, visits, probability in the improved policy) for each move. The move that a game
            would play comes first.

        Raises:
            RuleError: There are fewer than two legal moves.
        """

    def expectation(self) -> tuple[float, ...]:
        """Return every seat's expected win share in the last search, adding up to 1."""

def halving(considered: int, iterations: int) -> list[int]:
    """Return the visits that the move of each iteration must have had, by sequential halving."""
