"""The scene of Connexion. A human chooses a tile of the hand, then a cell.

The board is a honeycomb. Adjacent cells are 1 apart. A + cell is directly below the - cell of
the next row.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING

from connexion import protocol
from connexion.geometry import (
    BAG,
    CELL,
    CELLS,
    COPIES,
    LETTERS,
    NEIGHBOURS,
    NUMBERS,
    SIGNS,
    TILE,
    TILES,
)
from connexion.reference import PASS, Position
from connexion.text import format_position
from core.messages import SIDES
from core.scene import (
    PASS_PART,
    Cell,
    Example,
    Hand,
    Lens,
    Parts,
    Piece,
    Region,
    Scene,
    ScorePart,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from core.rules import Move


def _cell(name: str) -> Cell:
    """Return a cell with its place. Every row is a zigzag, half a column to the right of the row
    below."""
    column, row, sign = LETTERS.index(name[0]), NUMBERS.index(name[1]), SIGNS.index(name[2])
    height = 1.5 * (len(NUMBERS) - 1 - row) + 0.5 * (1 - sign)
    return Cell(name, (2 * column + sign + row - 1) * sqrt(3) / 2, height)


BOARD = tuple(sorted(map(_cell, CELLS), key=lambda cell: (cell.y, cell.x)))


def scene(position: Position) -> Scene:
    """Return the scene. Cells have the judge's names; a tile of a hand is named "SIDE TILE"."""
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
    """Parse a move. The word PUT is optional."""
    cell, _, tile = text.lower().strip().removeprefix("put").strip().partition(" ")
    return protocol.parse_answer(f"PUT {cell} {tile.upper()}", position.to_move)


PALETTE = tuple(Piece("", None, name, name, tile // 4) for tile, name in enumerate(TILES))


def compose(board: Mapping[str, Piece], to_move: int, position: Position) -> str:  # noqa: ARG001
    """Return a position with these tiles on the board, which imply the side to move.

    The other tiles are in hands and bags, as far as possible in the order of `position`.
    """
    cells = [PALETTE.index(board[name]) if name in board else None for name in CELLS]
    put = len(board)
    left = Counter(dict.fromkeys(range(len(TILES)), 2 * COPIES))
    left.subtract(tile for tile in cells if tile is not None)
    due = Counter(
        {tile: count - COPIES for tile, count in left.items()}
    )  # only FIRST can have them
    first: list[int] = []
    order = [*position.tiles[0], *position.tiles[1], *range(len(TILES))]
    for tile in [*(+due).elements(), *order, *order]:
        if len(first) < BAG - (put + 1) // 2 and first.count(tile) < min(COPIES, left[tile]):
            first.append(tile)
    left.subtract(first)
    # of too many tiles, those on the board are what the check must name
    most = Counter(dict.fromkeys(range(len(TILES)), COPIES))
    second = sorted((left & most).elements(), key=order.index)[: BAG - put // 2]
    return format_position(cells, (first, second))


ATTRIBUTES = ("pattern", "colour")
"""The attribute that the tiles of a seat's group share."""


def lenses(position: Position) -> tuple[Lens, ...]:
    """Return the lenses of both seats: their groups and their gains.

    Groups of at least two tiles show the square of their size. An empty cell shows the points that
    the best tile of the seat's hand gains there.
    """
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


SHOWN = "a4+ G2 a5- G1 b4- B2 b4+ Y2 b5- Y4 b5+ R4 b6- B4 c4+ R3 c5- R2 c5+ Y2"
"""Cells and tiles of an example: FIRST has 24 points, SECOND 20."""
CORNER = tuple(cell for cell in CELLS if cell[0] in "abc" and cell[1] in "456")


def examples() -> tuple[Example, ...]:
    start, words = Position.start(), SHOWN.split()
    there = {CELL[cell]: TILE[tile] for cell, tile in zip(words[::2], words[1::2], strict=True)}
    position = replace(start, cells=tuple(map(there.get, range(len(CELLS)))))
    groups = lenses(position)
    return (
        Example(
            "Put a tile of your hand on any empty cell. Then you draw a new one from your bag.",
            position,
            (CELL["b6+"], start.hands[0][0]),
            CORNER,
        ),
        Example(
            "FIRST scores numbers: connected tiles of the same number are a group, and a group "
            "counts the square of its size.",
            position,
            cells=CORNER,
            lens=groups[0],
        ),
        Example(
            "SECOND scores colours, the letters, in the same way.",
            position,
            cells=CORNER,
            lens=groups[1],
        ),
        Example(
            "Every tile counts for both players, no matter who put it there. The game ends when "
            "the board is full. The higher score wins."
        ),
    )


def counted(position: Position) -> tuple[tuple[ScorePart, ...], ...]:
    """Count the groups by size, the largest first."""
    found = []
    for seat in range(2):
        groups = {id(group): len(group) for group in _groups(position, seat).values()}
        sizes = sorted(Counter(groups.values()).items(), reverse=True)
        found.append(tuple(ScorePart(f"groups of {n}", count, n**2) for n, count in sizes))
    return tuple(found)


def _attribute(seat: int, tile: int) -> int:
    """Return the attribute that groups of a seat share: pattern for FIRST, colour for SECOND."""
    return tile // 4 if seat else tile % 4


def _groups(position: Position, seat: int) -> dict[int, list[int]]:
    """Return cell -> the seat's group that contains it."""
    found: dict[int, list[int]] = {}
    for start, first in enumerate(position.cells):
        if first is None or start in found:
            continue
        group = found[start] = [start]
        for cell in group:  # grows in the loop
            for other in NEIGHBOURS[cell]:
                tile = position.cells[other]
                same = tile is not None and _attribute(seat, tile) == _attribute(seat, first)
                if same and other not in found:
                    found[other] = group
                    group.append(other)
    return found


def _gain(position: Position, groups: dict[int, list[int]], seat: int, cell: int, tile: int) -> int:
    """Return the points that a seat gains with a tile on an empty cell."""
    joined = {}
    for other in NEIGHBOURS[cell]:
        there = position.cells[other]
        if there is not None and _attribute(seat, there) == _attribute(seat, tile):
            joined[id(groups[other])] = len(groups[other])
    sizes = joined.values()
    return int((1 + sum(sizes)) ** 2 - sum(size**2 for size in sizes))


def _hand(seat: int, tiles: Sequence[int]) -> Hand:
    """Return the hand. Copies of a tile get primes after their names; moves use the first one."""
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
