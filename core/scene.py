"""What can be seen of a position, and by which parts a person chooses a move.

Every game tells both once, in its `scene.py`; the terminal and the page draw and choose from that,
and know no game. The module of a game has

    scene(position) -> Scene            position: one of the game's reference positions
    parts(move, position) -> Parts      a move, as the names that a person chooses in turn
    choices(position) -> {Parts: Move}  all that a person can choose
    write(move, position) -> str        a move in the judge's own notation, as a person reads it
    read(text, position) -> Move        the move that a person types

and it may have

    LENSES: tuple[str, ...]             names of what else can be seen
    lenses(position) -> tuple[Lens]     all of that, in the order of the names and then of the seats

Agents never import this module.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from core.rules import Move

Parts = tuple[str, ...]
"""Names of cells, of the board or of a hand, in the order in which a person chooses them."""

PASS_PART = "pass"  # noqa: S105
"""The one part of a pass; it is no cell."""


class Cell(NamedTuple):
    """A place of the board, or of a hand.

    Attributes:
        name: str; unique in a scene, as the judge writes the place.
        x, y: float; its centre in widths of a cell, to the right and down, 0 for the first one.
        ground: str; what it is: "" for a plain one, "wall", or "goalN" for the goal of seat N.
    """

    name: str
    x: float
    y: float
    ground: str = ""


class Piece(NamedTuple):
    """What lies on a cell.

    Attributes:
        cell: str; the name of its cell.
        owner: int | None; the seat, None where it is nobody's.
        kind: str; what tells pieces of one owner apart, e.g. a digit or a tile; "" where nothing
            does.
        text: str; the same in one or two characters, for the terminal.
        colour: int | None; one of the colours of the seats, for a piece whose colour is not its
            owner's.
    """

    cell: str
    owner: int | None
    kind: str
    text: str
    colour: int | None = None


class Hand(NamedTuple):
    """What a seat holds; its cells are chosen like the board's.

    Attributes:
        seat: int.
        cells: tuple[Cell, ...]; x and y are within the hand.
        pieces: tuple[Piece, ...].
    """

    seat: int
    cells: tuple[Cell, ...]
    pieces: tuple[Piece, ...]


class Region(NamedTuple):
    """Cells that belong together.

    Attributes:
        cells: tuple[str, ...]; their names. value: float | None; what they are worth.
        seat: int | None; to whom.
    """

    cells: tuple[str, ...]
    value: float | None = None
    seat: int | None = None


@dataclass(frozen=True)
class Lens:
    """What can be seen of a position beside its pieces.

    Attributes:
        name: str; one of the game's LENSES. title: str; what it shows, in a few words.
        seat: int | None; whom it is about; name and seat together are unique.
        values: tuple[tuple[str, float], ...]; names of cells with a number each.
        regions: tuple[Region, ...]; to be outlined.
        paths: tuple[tuple[str, ...], ...]; lines from cell to cell.
    """

    name: str
    title: str
    seat: int | None = None
    values: tuple[tuple[str, float], ...] = ()
    regions: tuple[Region, ...] = ()
    paths: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Scene:
    """A position as it is seen.

    Attributes:
        cells: tuple[Cell, ...]; of the board, row by row.
        pieces: tuple[Piece, ...]; on them, at most one on each.
        columns, rows: tuple[tuple[float, str], ...]; labels at the edges: x or y, and the text.
            Where there are none, empty cells show their names.
        hands: tuple[Hand, ...].
        corners: bool; whether the two cells of a move are opposite corners of the rectangle that it
            covers.
    """

    cells: tuple[Cell, ...]
    pieces: tuple[Piece, ...]
    columns: tuple[tuple[float, str], ...] = ()
    rows: tuple[tuple[float, str], ...] = ()
    hands: tuple[Hand, ...] = ()
    corners: bool = False


class SceneModule(Protocol):
    """The `scene.py` of a game."""

    def scene(self, position: Any) -> Scene:
        """What is seen of a reference position."""
        ...

    def parts(self, move: Move, position: Any) -> Parts:
        """A move that can be played as its parts; (PASS_PART,) for a pass."""
        ...

    def choices(self, position: Any) -> dict[Parts, Move]:
        """Every way to choose a move; none is the beginning of another.

        Every legal move is among them by its `parts`. A move may be chosen in several ways, and
        under every name that the rules take it by.
        """
        ...

    def write(self, move: Move, position: Any) -> str:
        """A move in the judge's notation, where it has one for it."""
        ...

    def read(self, text: str, position: Any) -> Move:
        """The move that a person has typed, in any case; legal or not. Raises TextError."""
        ...
