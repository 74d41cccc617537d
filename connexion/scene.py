"""What is seen of Connexion, and how a person chooses a move: a tile of the hand, then a cell.

The board is drawn as the honeycomb that it is: cells that touch are one width apart, a + cell and
the - cell of the row above it one upon the other.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from connexion import protocol
from connexion.geometry import CELL, CELLS, LETTERS, NEIGHBOURS, NUMBERS, SIGNS, TILES
from connexion.reference import PASS, Position
from core.messages import SIDES
from core.scene import PASS_PART, Cell, Hand, Lens, Parts, Piece, Region, Scene

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.rules import Move


def _cell(name: str) -> Cell:
    """A cell of the board at its place: every row is a zigzag, each a step to the right of the one
    below."""
    column, row, sign = LETTERS.index(name[0]), NUMBERS.index(name[1]), SIGNS.index(name[2])
    height = 1.5 * (len(NUMBERS) - 1 - row) + 0.5 * (1 - sign)
    return Cell(name, (2 * column + sign + row - 1) * sqrt(3) / 2, height)


BOARD = tuple(sorted(map(_cell, CELLS), key=lambda cell: (cell.y, cell.x)))


def scene(position: Position) -> Scene:
    """Cells are called as the judge does, tiles of a hand SIDE TILE."""
    pieces = tuple(
        _piece(cell.name, None, tile)
        for cell in BOARD
        if (tile := position.cells[CELL[cell.name]]) is not None
    )
    hands = tuple(_hand(seat, tiles) for seat, tiles in enumerate(position.hands))
    return Scene(BOARD, pieces, hands=hands)


def parts(move: Move, position: Position) -> Parts:
    if move == PASS:
        return (PASS_PART,)
    return _in_hand(position.to_move, move[1]), CELLS[move[0]]


def choices(position: Position) -> dict[Parts, Move]:
    return {parts(move, position): move for move in position.legal()}


def write(move: Move, position: Position) -> str:
    return PASS_PART if move == PASS else protocol.format_answer(move, position.to_move)


def read(text: str, position: Position) -> Move:
    """The word PUT may be left away."""
    cell, _, tile = text.lower().strip().removeprefix("put").strip().partition(" ")
    return protocol.parse_answer(f"PUT {cell} {tile.upper()}", position.to_move)


LENSES = ("groups", "gain")
ATTRIBUTES = ("pattern", "colour")
"""What tiles of a group of each seat share."""


def lenses(position: Position) -> tuple[Lens, ...]:
    """Groups of two tiles and more with the square of their size; and for every empty cell what the
    best tile of a seat's own hand would gain it there."""
    grouped = [_groups(position, seat) for seat in range(2)]
    shown = [
        Lens(
            "groups",
            f"groups of {side}, of equal {ATTRIBUTES[seat]}",
            seat,
            regions=tuple(
                Region(tuple(CELLS[cell] for cell in group), len(group) ** 2, seat)
                for group in {id(group): group for group in grouped[seat].values()}.values()
                if len(group) > 1
            ),
        )
        for seat, side in enumerate(SIDES)
    ]
    shown += [
        Lens(
            "gain",
            f"points that {side} gains there with its best tile",
            seat,
            values=tuple(
                (name, max(_gain(position, grouped[seat], seat, cell, t) for t in hand))
                for cell, name in enumerate(CELLS)
                if hand and position.cells[cell] is None
            ),
        )
        for seat, (side, hand) in enumerate(zip(SIDES, position.hands, strict=True))
    ]
    return tuple(shown)


def _attribute(seat: int, tile: int) -> int:
    """What tiles of a seat's groups share: the pattern for FIRST, the colour for SECOND."""
    return tile // 4 if seat else tile % 4


def _groups(position: Position, seat: int) -> dict[int, list[int]]:
    """The seat's groups, by each of their cells."""
    found: dict[int, list[int]] = {}
    for start, first in enumerate(position.cells):
        if first is None or start in found:
            continue
        group = found[start] = [start]
        for cell in group:  # which grows
            for other in NEIGHBOURS[cell]:
                tile = position.cells[other]
                same = tile is not None and _attribute(seat, tile) == _attribute(seat, first)
                if same and other not in found:
                    found[other] = group
                    group.append(other)
    return found


def _gain(position: Position, groups: dict[int, list[int]], seat: int, cell: int, tile: int) -> int:
    """What a tile on an empty cell gains a seat."""
    joined = {}
    for other in NEIGHBOURS[cell]:
        there = position.cells[other]
        if there is not None and _attribute(seat, there) == _attribute(seat, tile):
            joined[id(groups[other])] = len(groups[other])
    sizes = joined.values()
    return int((1 + sum(sizes)) ** 2 - sum(size**2 for size in sizes))


def _hand(seat: int, tiles: Sequence[int]) -> Hand:
    """An equal tile more has primes behind its name; it is the first one that is chosen."""
    names = [
        _in_hand(seat, tile) + "'" * tiles[:place].count(tile) for place, tile in enumerate(tiles)
    ]
    return Hand(
        seat,
        tuple(Cell(name, place, 0) for place, name in enumerate(names)),
        tuple(_piece(name, seat, tile) for name, tile in zip(names, tiles, strict=True)),
    )


def _in_hand(seat: int, tile: int) -> str:
    return f"{SIDES[seat]} {TILES[tile]}"


def _piece(cell: str, owner: int | None, tile: int) -> Piece:
    return Piece(cell, owner, TILES[tile], TILES[tile], tile // 4)
