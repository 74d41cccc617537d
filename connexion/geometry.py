"""Names and neighbours of Connexion's cells, and names of its tiles. It imports nothing.

A cell is a number from 0 to 63 in the order a1+ a2- a2+ a3- ... f6-. A tile is a number from 0 to
15 in the order R1 R2 R3 R4 G1 ... Y4: four times the colour plus the pattern, both from 0.
"""

LETTERS = "abcdef"
NUMBERS = "123456"
SIGNS = "-+"
MISSING = ("a1-", "a4-", "c3+", "c6+", "d1-", "d4-", "f3+", "f6+")

CELLS = tuple(
    name for c in LETTERS for r in NUMBERS for s in SIGNS if (name := c + r + s) not in MISSING
)
CELL = {name: cell for cell, name in enumerate(CELLS)}

COLOURS = "RGBY"
TILES = tuple(colour + pattern for colour in COLOURS for pattern in "1234")
TILE = {name: tile for tile, name in enumerate(TILES)}
NOTHING = "X0"
"""Name of the tile that is drawn from an empty bag."""

HAND = 5
COPIES = 2
"""Copies of each kind in each bag."""
BAG = COPIES * len(TILES)


def _touching(name: str) -> tuple[int, ...]:
    column, row, sign = LETTERS.index(name[0]), NUMBERS.index(name[1]), name[2]
    # A - cell touches three + cells, and vice versa: those of the same place, of the adjacent
    # column and of the adjacent row.
    step, other = (-1, "+") if sign == "-" else (1, "-")
    places = ((column, row), (column + step, row), (column, row - 1 if sign == "-" else row + 1))
    names = [
        LETTERS[c] + NUMBERS[r] + other
        for c, r in places
        if 0 <= c < len(LETTERS) and 0 <= r < len(NUMBERS)
    ]
    return tuple(CELL[n] for n in names if n in CELL)


NEIGHBOURS = tuple(_touching(name) for name in CELLS)


def fresh_bag(hand: tuple[int, ...]) -> list[int]:
    """Return the content of a bag after this hand was drawn from it, in ascending order.

    Raises ValueError if the hand has more tiles of a kind than a bag.
    """
    bag = [tile for tile in range(len(TILES)) for _ in range(COPIES)]
    for tile in hand:
        bag.remove(tile)
    return bag
