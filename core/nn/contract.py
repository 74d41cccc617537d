"""Contract of a game's `train/selfplay.py`: self-play and training of its evaluation network.

The network is that of `core.nn.sparse_net`. Exactly ACTIVE of its INPUTS are on. One hidden layer
leads to one output, the logit of the expected result for the side to move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np  # self-play does not need it
    from numpy.typing import NDArray

    from core.limits import Limits, SearchInfo

    Network = tuple[
        NDArray[np.float32], NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]
    ]
    """Rows [INPUTS][hidden], bias [hidden], output [BUCKETS][hidden], output bias [BUCKETS]."""

PLAYED, FIRST, OFF_PATH = 1, 2, 4
"""Flags of a sample; `quartet.training.samples` describes them."""


class ForgetfulSearcher(Protocol):
    """An engine that can play one game after the other."""

    def choose(self, position: Any, limits: Limits) -> SearchInfo:
        """Choose a move; see `core.engine.Searcher`."""
        ...

    def new_game(self) -> None:
        """Forget all previous games."""
        ...


class OwnSamples(Protocol):
    """The module of a game with its own format of samples; `python -m GAME.train` learns from them.

    Attributes:
        OWN_SAMPLES: True; tells the two kinds of module apart.
    """

    OWN_SAMPLES: Literal[True]

    def play_games(self, games: range, seed: int, nodes: int, player: str) -> list[bytes]:
        """Return the samples of the games with these numbers. Pure: equal arguments give equal
        samples.

        Args:
            games: Numbers of the games.
            seed: Seed of the whole run.
            nodes: Nodes per search.
            player: Built-in player, with options. Raises QuartetError if it cannot be used.
        """
        ...


class Training(Protocol):
    """The module of a two-player game; `quartet selfplay` makes samples, `quartet train` learns.

    Attributes:
        OWN_SAMPLES: False; tells the two kinds of module apart.
        INPUTS: Number of inputs of the network.
        ACTIVE: Number of inputs that are on in each position.
        SHARED: Inputs with the same remainder modulo SHARED have the same meaning at different
            places. Training can begin with their common part.
        SYMMETRIES: Number of symmetries of the board.
        BUCKETS: Number of buckets of positions, for example phases of the game. Each has its own
            output weights and output bias.
        POSITION_BYTES: Bytes of a position in a sample.
        OPENING: Minimum and maximum number of random plies before a game.
        OFF_PATH_SHARE: Share of a game's positions, 0 to 1, from which one or two random plies lead
            to an additional searched position. The leaves of a search are mostly of this kind; a
            game's own positions teach nothing about blunders.
        LOPSIDED: A game starts only if the engine's score is within +-LOPSIDED.
        WON: A score beyond +-WON that lasts decides the game.
        SOLVED: A score beyond +-SOLVED is proven. All three in the engine's unit.
        POINTS: The score for an output of 1 of the network, in the game's format of weights.
    """

    OWN_SAMPLES: Literal[False]
    INPUTS: int
    ACTIVE: int
    SHARED: int
    SYMMETRIES: int
    BUCKETS: int
    POSITION_BYTES: int
    OPENING: tuple[int, int]
    OFF_PATH_SHARE: float
    LOPSIDED: int
    WON: int
    SOLVED: int
    POINTS: int

    def engine(self, player: str) -> ForgetfulSearcher:
        """Return a built-in player. If its options do not set the memory, it uses as little as
        short searches need. Raises QuartetError if the player cannot be used."""
        ...

    def encode(self, position: Any) -> bytes:
        """Return a position as POSITION_BYTES bytes, seen by the side to move."""
        ...

    def features(
        self, positions: Any, chosen: Any, symmetries: Any, inputs: Any, buckets: Any
    ) -> None:
        """Write the active inputs of positions[chosen], each under its symmetry, to the rows of
        `inputs` (uint16 [len(chosen)][ACTIVE]), and their buckets to `buckets` (uint8)."""
        ...

    def floats(self, data: bytes) -> Network:
        """Return the network of a file of weights as floats. Raises TextError if it is not of this
        game."""
        ...

    def quantised(
        self, rows: Any, bias: Any, output: Any, output_bias: Any
    ) -> tuple[dict[str, str], bytes, Network]:
        """Quantise a network of floats.

        Returns:
            Header fields and body of the game's weight file, and the quantised network as floats.
        """
        ...
