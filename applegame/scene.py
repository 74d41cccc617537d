"""The scene of the apple game. A human chooses a rectangle by any corner, then the opposite one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from applegame import protocol
from applegame.protocol import COLUMNS, ROWS
from applegame.reference import PASS, Position
from applegame.text import OWNED, STANDING, UNOWNED, format_text
from core.scene import PASS_PART, Cell, Example, Lens, Parts, Piece, Region, Scene, ScorePart

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core.rules import Move

COLUMN_LABELS = tuple((float(c), str(c)) for c in range(COLUMNS))
ROW_LABELS = tuple((float(r), str(r)) for r in range(ROWS))


def scene(position: Position) -> Scene:
    """Return the scene. Cells are named "ROW COLUMN", from 0. A digit has no owner."""
    cells = tuple(Cell(f"{r} {c}", c, r) for r in range(ROWS) for c in range(COLUMNS))
    pieces = []
    for cell, label in zip(cells, "".join(position.rows), strict=True):
        if label in OWNED:
            seat = OWNED.index(label)
            pieces.append(Piece(cell.name, seat, "", "■□"[seat]))
        elif label != UNOWNED:
            pieces.append(Piece(cell.name, None, label, label))
    return Scene(cells, tuple(pieces), COLUMN_LABELS, ROW_LABELS, corners=True)


def parts(move: Move, position: Position) -> Parts:  # noqa: ARG001
    return (PASS_PART,) if move == PASS else (f"{move[0]} {move[1]}", f"{move[2]} {move[3]}")


def choices(position: Position) -> dict[Parts, Move]:
    """Return the legal moves by their parts. A rectangle can be chosen from each of its corners."""
    found: dict[Parts, Move] = {}
    for move in position.legal():
        found[parts(move, position)] = move
        if move != PASS:
            r1, c1, r2, c2 = move
            for corners in ((r1, c2, r2, c1), (r2, c1, r1, c2), (r2, c2, r1, c1)):
                found[parts(corners, position)] = move
    return found


def write(move: Move, position: Position) -> str:
    return protocol.format_answer(move, position.to_move)


def read(text: str, position: Position) -> Move:
    if text.strip().lower() == PASS_PART:
        return PASS
    return protocol.parse_answer(text, position.to_move)


PALETTE = (
    *(Piece("", None, digit, digit) for digit in STANDING),
    *(Piece("", seat, "", "■□"[seat]) for seat in range(2)),
)
"""The digits, then the cells that a seat has."""


def compose(board: Mapping[str, Piece], to_move: int, position: Position) -> str:
    """Return the rows. An empty cell belongs to no seat; no pass precedes."""
    labels = [
        UNOWNED if piece is None else piece.kind or OWNED[piece.owner or 0]
        for cell in scene(position).cells
        for piece in [board.get(cell.name)]
    ]
    rows = tuple("".join(labels[i : i + COLUMNS]) for i in range(0, len(labels), COLUMNS))
    return format_text(rows, position.ply // 2 * 2 + to_move, 0)


def lenses(position: Position) -> tuple[Lens, ...]:
    """Return the lens of legal rectangles with their swings: the change of the mover's lead."""
    seat = position.to_move
    lead = _lead(position, seat)
    regions = []
    for move in position.legal():
        if move != PASS:
            r1, c1, r2, c2 = move
            cells = tuple(f"{r} {c}" for r in range(r1, r2 + 1) for c in range(c1, c2 + 1))
            regions.append(Region(cells, _lead(position.play(move), seat) - lead, seat))
    regions.sort(key=lambda region: -(region.value or 0))
    return (Lens("rectangles", "legal rectangles with their swing", seat, regions=tuple(regions)),)


CORNER = tuple(f"{row} {column}" for row in range(3) for column in range(5))


def examples() -> tuple[Example, ...]:
    return (
        Example(
            "Choose a rectangle whose digits add up to 10. All its cells become yours.",
            _corner("15286", "31917", "16458"),
            (0, 0, 1, 1),
            CORNER,
        ),
        Example(
            "Each side of the rectangle needs a digit. Cells without a digit change hands as well, "
            "those of your opponent, too.",
            _corner("SS586", "5SS17", "16458"),
            (0, 0, 1, 2),
            CORNER,
        ),
        Example(
            "You may pass instead. The game ends after two passes in a row. More cells win.",
            _corner("FF586", "FFSS7", "164SS"),
            PASS,
            CORNER,
        ),
    )


def _corner(*rows: str) -> Position:
    """Return a position with these rows at the top left, and nines elsewhere."""
    whole = [row.ljust(COLUMNS, "9") for row in rows]
    return Position((*whole, *["9" * COLUMNS] * (ROWS - len(rows))))


def counted(position: Position) -> tuple[tuple[ScorePart, ...], ...]:
    cells = "".join(position.rows)
    return tuple((ScorePart("cells", cells.count(owned)),) for owned in OWNED)


def _lead(position: Position, seat: int) -> int:
    scores = [score or 0 for score in position.scores()]
    return scores[seat] - scores[1 - seat]
