"""What a game's `train/selfplay.py` offers, so that it can make its own positions and train a
network on them.

The network is that of `core.nn.sparse_net`: inputs of which as many as ACTIVE are on, one hidden
layer, one output, the logit of the expected result for the side to move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from core.limits import Limits, SearchInfo

PLAYED, FIRST, ASIDE = 1, 2, 4
"""Flags of a sample, see `quartet.training.samples`."""


class ForgetfulSearcher(Protocol):
    """An engine that plays game after game."""

    def choose(self, position: Any, limits: Limits) -> SearchInfo:
        """As `core.engine.Searcher`."""
        ...

    def forget(self) -> None:
        """Begin a new game: what follows does not depend on what was before."""
        ...


class OwnSamples(Protocol):
    """The module of a game whose positions need samples of its own; `python -m GAME.train` learns
    from them."""

    def play_games(self, games: range, seed: int, nodes: int, player: str) -> list[bytes]:
        """The samples of the games with these numbers, of a run with this seed, at so many nodes a
        move, by a built-in player; pure. Raises QuartetError where it cannot be that one."""
        ...


class Training(Protocol):
    """The module, for games of two.

    Attributes:
        INPUTS: of the network; ACTIVE: that are on in a position; SHARED: inputs with the same
            remainder by it mean the same at different places, so that training may begin with what
            they have in common.
        SYMMETRIES: ways to look at a position that change nothing.
        POSITION_BYTES: of a position in a sample.
        OPENING: the least and the most random plies before a game.
        ASIDE: for how many of a game's positions, 0 .. 1, one more is searched that one or two
            random plies lead to: a search's leaves are mostly such, and a game's own positions
                teach nothing of blunders.
        LOPSIDED: no game begins where the engine's score, in its own unit, is further from 0; WON:
            what is adjudicated when it lasts;
            SOLVED: from where on a score is a proof.
    """

    INPUTS: int
    ACTIVE: int
    SHARED: int
    SYMMETRIES: int
    POSITION_BYTES: int
    OPENING: tuple[int, int]
    ASIDE: float
    LOPSIDED: int
    WON: int
    SOLVED: int

    def engine(self, player: str) -> ForgetfulSearcher:
        """A built-in player, with as little memory as short searches need where its options do not
        say how much. Raises QuartetError where it cannot be that one."""
        ...

    def encode(self, position: Any) -> bytes:
        """The POSITION_BYTES of a position, seen from the side to move."""
        ...

    def features(self, positions: Any, chosen: Any, symmetries: Any, inputs: Any) -> None:
        """Write the active inputs of positions[chosen], each under its symmetry, into the rows of
        `inputs` (uint16)."""
        ...

    def open_positions(self, positions: Any) -> Any:
        """Which of the positions (an array of bytes, a row each) are far enough from the end to
        learn from; nearer, any search sees it."""
        ...

    def quantised(
        self, rows: Any, bias: Any, output: Any, output_bias: float
    ) -> tuple[dict[str, str], bytes, Any]:
        """A network in floats as the fields and the body of the game's file of weights, and as
        floats again: rows, bias, output and output bias, one after the other in one array."""
        ...
