"""How a position looks, and by which parts a human chooses a move.

Each game describes both in its `scene.py` (see `SceneModule`). The terminal and the page draw from
it and let a human choose from it; neither knows a game. Agents never import this module.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core.rules import Move

Parts = tuple[str, ...]
"""Names of cells, of the board or of a hand, in the order in which a human chooses them."""

PASS_PART = "pass"  # noqa: S105
"""The only part of a pass; not a cell."""


class Cell(NamedTuple):
    """A place on the board, or in a hand.

    Attributes:
        name: The judge's name of the place. Unique in a scene.
        x: Centre, in cell widths to the right of the first cell's.
        y: Centre, in cell widths down.
        ground: "" for a plain cell, "wall", or "goalN" for the goal of seat N.
    """

    name: str
    x: float
    y: float
    ground: str = ""


class Piece(NamedTuple):
    """A piece on a cell.

    Attributes:
        cell: Name of its cell.
        owner: Its seat; None if it belongs to no seat.
        kind: Distinguishes the pieces of one owner, such as a digit or a tile; "" if all are equal.
        text: The kind in one or two characters, for the terminal.
        colour: 0 red, 1 green, 2 blue or 3 yellow, if it does not have its owner's colour.
    """

    cell: str
    owner: int | None
    kind: str
    text: str
    colour: int | None = None


class Hand(NamedTuple):
    """The hand of a seat; a human chooses its cells like the board's.

    Attributes:
        seat: Its seat.
        cells: Cells; x and y are relative to the hand.
        pieces: Pieces on them.
    """

    seat: int
    cells: tuple[Cell, ...]
    pieces: tuple[Piece, ...]


class Region(NamedTuple):
    """Cells that belong together.

    Attributes:
        cells: Their names.
        value: Their value for `seat`, if known.
        seat: The seat that they concern, if any.
    """

    cells: tuple[str, ...]
    value: float | None = None
    seat: int | None = None


@dataclass(frozen=True)
class Lens:
    """An overlay: information on a position in addition to its pieces.

    Attributes:
        name: One of `GameInfo.lenses`.
        title: What it shows, in a few words.
        seat: The seat that it concerns, if any; name and seat together are unique.
        values: Names of cells, each with a number.
        regions: Regions to outline.
        paths: Lines from cell to cell, as names.
    """

    name: str
    title: str
    seat: int | None = None
    values: tuple[tuple[str, float], ...] = ()
    regions: tuple[Region, ...] = ()
    paths: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Scene:
    """The view of a position.

    Attributes:
        cells: Cells of the board, row by row.
        pieces: Pieces on them, at most one per cell.
        columns: Labels at the upper edge: x and text. Without labels, empty cells show their names.
        rows: Labels at the left edge: y and text.
        hands: Hands of the seats.
        corners: True if a move's two cells are opposite corners of the rectangle that it covers.
    """

    cells: tuple[Cell, ...]
    pieces: tuple[Piece, ...]
    columns: tuple[tuple[float, str], ...] = ()
    rows: tuple[tuple[float, str], ...] = ()
    hands: tuple[Hand, ...] = ()
    corners: bool = False


class Example(NamedTuple):
    """A rule of the game, with a board that shows it.

    Attributes:
        text: The rule, in a few short sentences for somebody who does not know the game.
        position: A reference position. None: the rule needs no board.
        move: A legal move there; the board is shown before and after it.
        cells: Names of the cells to show; all by default.
        lens: An overlay of the position.
    """

    text: str
    position: Any = None
    move: Move | None = None
    cells: tuple[str, ...] = ()
    lens: Lens | None = None


class ScorePart(NamedTuple):
    """What adds to a score: `count` things of `points` each.

    Attributes:
        text: The things, in the plural.
        count: Their number.
        points: Points for each.
    """

    text: str
    count: int  # type: ignore[assignment]  # hides tuple.count
    points: int = 1


class SceneModule(Protocol):
    """The `scene.py` of a game: a module of these functions, on reference positions."""

    def scene(self, position: Any) -> Scene:
        """Return the view of a position."""
        ...

    def parts(self, move: Move, position: Any) -> Parts:
        """Return the parts of a playable move; (PASS_PART,) for a pass."""
        ...

    def choices(self, position: Any) -> dict[Parts, Move]:
        """Return every way to choose a move; none is the beginning of another one.

        Each legal move is included by its `parts`. A move may be included in several ways, and
        under each of its aliases (`AliasedPosition`).
        """
        ...

    def write(self, move: Move, position: Any) -> str:
        """Return a move in the judge's notation."""
        ...

    def read(self, text: str, position: Any) -> Move:
        """Return the move that a human has typed, legal or not: PASS_PART in games with a pass, or
        the judge's notation. Case does not matter. Raises TextError."""
        ...

    def examples(self) -> tuple[Example, ...]:
        """Return the rules in the order in which a beginner should read them."""
        ...

    def counted(self, position: Any) -> tuple[tuple[ScorePart, ...], ...]:
        """Return for every seat how its score in `position.scores()` came about; () if it is
        empty."""
        ...

    PALETTE: tuple[Piece, ...]
    """The pieces that a human can put on a cell of an edited board; their `cell` is empty."""

    def compose(self, board: Mapping[str, Piece], to_move: int, position: Any) -> str:
        """Return the text of a position, for `Position.parse`, which checks it.

        Args:
            board: Pieces of `PALETTE` by the names of their cells; other cells are empty.
            to_move: The seat to move. Games in which the board implies it ignore this.
            position: The position that was edited. What is no piece stays as in it, if possible.
        """
        ...

    def lenses(self, position: Any) -> tuple[Lens, ...]:
        """Return the overlays of a position, in the order of `GameInfo.lenses`, then of seats.

        Only a game that declares `GameInfo.lenses` has this function.
        """
        ...
