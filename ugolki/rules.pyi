"""The fast rules of Ugolki, with the interface of `core.rules.Position`."""

from collections.abc import Sequence

from core.rules import Move

class Position:
    """An immutable position of Ugolki."""

    moves: int
    @classmethod
    def start(
        cls, seed: int = 0, moves: int = ..., play_out: bool = False, opening: int = 0
    ) -> Position: ...
    @classmethod
    def parse(cls, text: str, moves: int = ..., play_out: bool = False) -> Position: ...
    @classmethod
    def from_cells(
        cls, cells: Sequence[int], ply: int = 0, moves: int = ..., play_out: bool = False
    ) -> Position:
        """Return the position with these 100 labels, row by row; see `reference.Position`. Raises
        RuleError if no board can have them."""

    @property
    def cells(self) -> tuple[int, ...]: ...
    @property
    def ply(self) -> int: ...
    @property
    def play_out(self) -> bool: ...
    @property
    def to_move(self) -> int: ...
    @property
    def over(self) -> bool: ...
    @property
    def key(self) -> int:
        """Incremental Zobrist key of the pieces and the seat to move."""

    def recomputed_key(self) -> int:
        """Return the same key, computed from scratch."""

    def without(self, seat: int) -> Position:
        """Return the position without the pieces of `seat`."""

    def text(self) -> str: ...
    def legal(self) -> list[Move]: ...
    def pseudolegal(self) -> list[Move]: ...
    def play(self, move: Move) -> Position: ...
    def lose_turn(self) -> Position: ...
    def scores(self) -> tuple[int | None, ...]: ...
    def perft(self, depth: int) -> int: ...
