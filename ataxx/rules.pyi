"""The fast rules of Ataxx, with the interface of `core.rules.AliasedPosition`."""

from collections.abc import Sequence

from core.rules import Move

class Position:
    """An immutable position of Ataxx."""

    @classmethod
    def start(
        cls, seed: int = 0, plies: int = ..., halfmove_limit: int = 0, opening: int = 0
    ) -> Position: ...
    @classmethod
    def parse(cls, text: str, plies: int = ..., halfmove_limit: int = 0) -> Position: ...
    @classmethod
    def from_cells(
        cls,
        cells: Sequence[int],
        ply: int = 0,
        halfmoves: int = 0,
        plies: int = ...,
        halfmove_limit: int = 0,
    ) -> Position:
        """Return the position with these 49 labels; see `reference.Position`. Raises RuleError if a
        label or a number is out of range."""

    @property
    def cells(self) -> tuple[int, ...]: ...
    @property
    def ply(self) -> int: ...
    @property
    def halfmoves(self) -> int: ...
    @property
    def plies(self) -> int: ...
    @property
    def halfmove_limit(self) -> int: ...
    @property
    def to_move(self) -> int: ...
    @property
    def over(self) -> bool: ...
    @property
    def key(self) -> int:
        """Hash of the pieces and the side to move."""

    def recomputed_key(self) -> int:
        """Return the same hash, computed from the labels of the cells."""

    def text(self) -> str: ...
    def legal(self) -> list[Move]: ...
    def pseudolegal(self) -> list[Move]: ...
    def canonical(self, move: Move) -> Move:
        """Return the alias of a move that `legal` lists; see `reference.Position`."""

    def play(self, move: Move) -> Position: ...
    def lose_turn(self) -> Position: ...
    def scores(self) -> tuple[int | None, ...]: ...
    def perft(self, depth: int, bulk: bool = True) -> int:
        """Return the number of sequences of `depth` plies. Without `bulk`, the last ply is made,
        not only counted: the same number, slower."""
