"""What is seen of Connexion, and how a person chooses a move: a tile of the hand, then a cell.

The board is drawn as the honeycomb that it is: cells that touch are one width apart, a + cell and
the - cell of the row above it one upon the other.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from connexion import protocol
from connexion.geometry import CELL, CELLS, LETTERS, NUMBERS, SIGNS, TILES
from connexion.reference import PASS, Position
from core.messages import SIDES
from core.scene import PASS_PART, Cell, Hand, Parts, Piece, Scene

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
