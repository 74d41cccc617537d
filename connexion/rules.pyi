"""The fast rules of Connexion, with the interface of `core.rules.ChancePosition`."""

from collections.abc import Sequence

from core.rules import Move

class Position:
    """An immutable position of Connexion."""

    @classmethod
    def start(cls, seed: int = 0) -> Position: ...
    @classmethod
    def parse(cls, text: str) -> Position: ...
    @classmethod
    def from_tiles(cls, cells: Sequence[int | None], tiles: Sequence[Sequence[int]]) -> Position:
        """Return the position with these tiles; see `reference.Position`. They must be possible."""

    @property
    def cells(self) -> tuple[int | None, ...]: ...
    @property
    def hands(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The open tiles of both seats, in the order of the draws."""

    @property
    def bags(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The tiles left in both bags, in ascending order. Both seats know them."""

    @property
    def ply(self) -> int: ...
    @property
    def to_move(self) -> int: ...
    @property
    def over(self) -> bool: ...
    @property
    def key(self) -> int:
        """Hash of the board, the hands and the content of the bags, without its order."""

    def recomputed_key(self) -> int:
        """Return the same hash, computed from scratch."""

    def text(self) -> str: ...
    def legal(self) -> list[Move]: ...
    def pseudolegal(self) -> list[Move]: ...
    def play(self, move: Move) -> Position: ...
    def lose_turn(self) -> Position: ...
    @property
    def drawn(self) -> int | None: ...
    def reveal(self, drawn: int | None) -> Position: ...
    def scores(self) -> tuple[int | None, ...]: ...
    def perft(self, depth: int) -> int: ...
