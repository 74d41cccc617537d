"""Parse and format positions of Connexion, for both kinds of rules. RULES.md describes the format.

Imports are few, because agents must start fast.
"""

from __future__ import annotations

from connexion.geometry import BAG, CELL, CELLS, COPIES, NOTHING, TILE, TILES
from core.errors import TextError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Cells = tuple[int | None, ...]
    Pair = tuple[tuple[int, ...], tuple[int, ...]]


def parse_position(text: str) -> tuple[Cells, Pair]:
    """Parse two lines of tiles, as in the official tool's input file, and an optional third one.

    The third line is cell, tile, cell, tile, ... Raises TextError.

    Returns:
        For every cell its tile, or None; for both seats the hand, then the bag in the order of the
        draws.
    """
    lines = [line.split() for line in text.splitlines() if line.strip()]
    if len(lines) not in (2, 3):
        raise TextError(
            f"a position has two lines of tiles and perhaps one of cells, not {len(lines)} lines"
        )
    cells = _parse_cells(lines[2] if len(lines) == 3 else [])
    put = len(CELLS) - cells.count(None)
    tiles = (
        _parse_tiles(lines[0], "FIRST", BAG - (put + 1) // 2),
        _parse_tiles(lines[1], "SECOND", BAG - put // 2),
    )
    everywhere = [tile for tile in (*cells, *tiles[0], *tiles[1]) if tile is not None]
    for tile in everywhere:
        count = everywhere.count(tile)
        if count != 2 * COPIES:
            raise TextError(f"there are {count} tiles {TILES[tile]}, not {2 * COPIES}")
    return cells, tiles


def format_position(cells: Sequence[int | None], tiles: Sequence[Sequence[int]]) -> str:
    """Return the text that `parse_position` parses into these values."""
    lines = [" ".join([TILES[tile] for tile in seat]) or NOTHING for seat in tiles]
    put = [f"{CELLS[cell]} {TILES[tile]}" for cell, tile in enumerate(cells) if tile is not None]
    return "\n".join([*lines, " ".join(put)] if put else lines)


def _parse_tiles(words: Sequence[str], name: str, expected: int) -> tuple[int, ...]:
    tiles = [] if list(words) == [NOTHING] else [_tile(word) for word in words]
    if len(tiles) != expected:
        raise TextError(f"{name} has {len(tiles)} tiles in hand and bag, not {expected}")
    for tile in tiles:
        if tiles.count(tile) > COPIES:
            raise TextError(
                f"{name} has {tiles.count(tile)} tiles {TILES[tile]}, more than {COPIES}"
            )
    return tuple(tiles)


def _parse_cells(words: Sequence[str]) -> Cells:
    if len(words) % 2:
        raise TextError(f"the board is pairs of cell and tile, not {len(words)} words")
    cells: list[int | None] = [None] * len(CELLS)
    for place, tile in zip(words[::2], words[1::2], strict=True):
        if place not in CELL:
            raise TextError(f"there is no cell {place[:40]!r}")
        if cells[CELL[place]] is not None:
            raise TextError(f"there are two tiles on {place}")
        cells[CELL[place]] = _tile(tile)
    return tuple(cells)


def _tile(word: str) -> int:
    if word not in TILE:
        raise TextError(f"there is no tile {word[:40]!r}")
    return TILE[word]
