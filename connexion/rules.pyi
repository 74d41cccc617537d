"""The fast rules of Connexion behind the face of `core.rules.ChancePosition`, but for the
drawing."""

from collections.abc import Sequence

from core.rules import Move

class Position:
    """A position of Connexion, a value: `play` gives a new one."""

    @classmethod
    def start(cls, seed: int = 0) -> Position: ...
    @classmethod
    def parse(cls, text: str) -> Position: ...
    @classmethod
    def from_tiles(cls, cells: Sequence[int | None], tiles: Sequence[Sequence[int]]) -> Position:
        """The position with these tiles, which must be possible; see `reference.Position`."""

    @property
    def cells(self) -> tuple[int | None, ...]: ...
    @property
    def hands(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The open tiles of both seats, in the order in which they were drawn."""

    @property
    def bags(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What is left in both bags, in ascending order; that everybody knows."""

    @property
    def ply(self) -> int: ...
    @property
    def to_move(self) -> int: ...
    @property
    def over(self) -> bool: ...
    @property
    def key(self) -> int:
        """Hash of the tiles on the board, the hands and what is left in the bags, but not of its
        order."""

    def recomputed_key(self) -> int:
        """The same key, computed from nothing."""

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
