"""The reference rules of Connexion in plain Python, slow and readable; see RULES.md."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING

from connexion import protocol
from connexion.geometry import (
    CELLS,
    HAND,
    NEIGHBOURS,
    TILES,
    fresh_bag,
)
from connexion.text import format_position, parse_position
from core.errors import IllegalMoveError, RuleError
from core.rules import GameInfo, LineJudge, Move

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

INFO = GameInfo(
    name="connexion",
    title="Connexion",
    players=2,
    chance=True,
    lower_wins=False,
    score_name="points",
    lines=LineJudge(),
    lenses=("groups", "gain"),
)

PASS: Move = protocol.PASS


@dataclass(frozen=True)
class Position:
    """A position of Connexion as the judge sees it; see `core.rules.ChancePosition`.

    Attributes:
        cells: For every cell (numbers as in geometry.py) its tile, or None.
        tiles: Both seats' tiles that are not on the board: the hand, up to five, then the bag in
            the order of the draws. So the next tile of the bag replaces one that is put, at the end
            of the hand.
    """

    cells: tuple[int | None, ...]
    tiles: tuple[tuple[int, ...], tuple[int, ...]]

    @classmethod
    def start(cls, seed: int = 0) -> Position:
        """Return an empty board; `random.Random(seed)` shuffles FIRST's bag, which is in ascending
        order, then SECOND's."""
        random = Random(seed)
        bags = fresh_bag(()), fresh_bag(())
        for bag in bags:
            random.shuffle(bag)
        return cls((None,) * len(CELLS), (tuple(bags[0]), tuple(bags[1])))

    @classmethod
    def parse(cls, text: str) -> Position:
        """Parse two lines of tiles, as in the official tool's input file, and an optional third
        one: cell, tile, cell, tile, ... Raises TextError."""
        return cls(*parse_position(text))

    def text(self) -> str:
        return format_position(self.cells, self.tiles)

    @cached_property
    def ply(self) -> int:
        return len(CELLS) - self.cells.count(None)

    @property
    def to_move(self) -> int:
        return self.ply % 2

    @property
    def over(self) -> bool:
        """True if the board is full."""
        return None not in self.cells

    @property
    def hands(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The open tiles of both seats, in the order of the draws."""
        return self.tiles[0][:HAND], self.tiles[1][:HAND]

    def legal(self) -> list[Move]:
        return self.pseudolegal()  # on a full board there are no moves

    def pseudolegal(self) -> list[Move]:
        hand = sorted(set(self.hands[self.to_move]))
        return [
            (cell, tile) for cell, there in enumerate(self.cells) if there is None for tile in hand
        ]

    def play(self, move: Move) -> Position:
        self._check(move)
        return self._after(move)

    def lose_turn(self) -> Position:
        raise RuleError("Connexion has no forfeited turns: an illegal move loses the game")

    @property
    def drawn(self) -> int | None:
        """The tile that the last mover has drawn; None if its bag was empty, or at the start."""
        hand = self.hands[1 - self.to_move]
        return hand[-1] if self.ply > 0 and len(hand) == HAND else None

    @property
    def bags(self) -> tuple[tuple[int, ...], ...]:
        """The tiles left in both bags, in ascending order."""
        return tuple(tuple(sorted(tiles[HAND:])) for tiles in self.tiles)

    def reveal(self, drawn: int | None) -> Position:
        """Return the position in which the last mover drew this tile; the assumed one takes its
        place in the bag."""
        if drawn == self.drawn:
            return self
        if drawn is None or self.drawn is None:
            raise RuleError(
                f"the seat that moved draws {'a tile' if drawn is None else 'nothing'} here"
            )
        seat = 1 - self.to_move
        tiles = list(self.tiles[seat])
        if drawn not in tiles[HAND:]:
            raise RuleError(
                f"there is no {TILES[drawn]} left in the bag"
                if drawn in range(len(TILES))
                else f"there is no tile {drawn}"
            )
        place = tiles.index(drawn, HAND)
        tiles[HAND - 1], tiles[place] = drawn, tiles[HAND - 1]
        return replace(self, tiles=_with(self.tiles, seat, tiles))

    def scores(self) -> tuple[int | None, ...]:
        """FIRST's groups have equal patterns, SECOND's equal colours."""
        return group_score(self.cells, lambda tile: tile % 4), group_score(
            self.cells, lambda tile: tile // 4
        )

    def perft(self, depth: int) -> int:
        if depth == 0:
            return 1
        if depth == 1:
            return len(self.legal())
        return sum(self._after(move).perft(depth - 1) for move in self.legal())

    def _after(self, move: Move) -> Position:
        """Return the position after a legal move."""
        cell, tile = move
        tiles = list(self.tiles[self.to_move])
        tiles.remove(tile)
        cells = (*self.cells[:cell], tile, *self.cells[cell + 1 :])
        return Position(cells, _with(self.tiles, self.to_move, tiles))

    def _check(self, move: Move) -> None:
        """Raise IllegalMoveError with the official tool's code unless the move is legal; checks are
        in the tool's order."""
        if self.over:
            raise IllegalMoveError("the game is over")
        if len(move) != 2:
            raise IllegalMoveError(
                f"a move is a cell and a tile, not {len(move)} numbers", protocol.NOT_PUT
            )
        cell, tile = move
        if cell not in range(len(CELLS)):
            raise IllegalMoveError(f"there is no cell {cell}", protocol.NOT_CELL)
        if tile not in range(len(TILES)):
            raise IllegalMoveError(f"there is no tile {tile}", protocol.NOT_TILE)
        if self.cells[cell] is not None:
            raise IllegalMoveError(f"{CELLS[cell]} is not empty", protocol.OCCUPIED)
        if tile not in self.hands[self.to_move]:
            raise IllegalMoveError(
                f"there is no {TILES[tile]} in the mover's hand", protocol.NOT_IN_HAND
            )


def group_score(cells: Sequence[int | None], attribute: Callable[[int], int]) -> int:
    """Return the sum of the squared sizes of all groups of connected tiles of equal attribute."""
    score, seen = 0, set()
    for start, first in enumerate(cells):
        if first is None or start in seen:
            continue
        seen.add(start)
        group = [start]
        for cell in group:  # which grows in the loop
            for neighbour in NEIGHBOURS[cell]:
                tile = cells[neighbour]
                if (
                    tile is not None
                    and neighbour not in seen
                    and attribute(tile) == attribute(first)
                ):
                    seen.add(neighbour)
                    group.append(neighbour)
        score += len(group) ** 2
    return score


def _with(
    tiles: tuple[tuple[int, ...], tuple[int, ...]], seat: int, new: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return both seats' tiles, with those of one seat replaced."""
    return (tuple(new), tiles[1]) if seat == 0 else (tiles[0], tuple(new))
