"""What is seen of the apple game, and how a person chooses a rectangle: any corner, then the
opposite one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from applegame import protocol
from applegame.protocol import COLUMNS, ROWS
from applegame.reference import PASS, Position
from applegame.text import NOBODY, OWNED
from core.scene import PASS_PART, Cell, Lens, Parts, Piece, Region, Scene

if TYPE_CHECKING:
    from core.rules import Move

COLUMN_LABELS = tuple((float(c), str(c)) for c in range(COLUMNS))
ROW_LABELS = tuple((float(r), str(r)) for r in range(ROWS))


def scene(position: Position) -> Scene:
    """Cells are called ROW COLUMN, from 0. A digit is nobody's; a cell that was taken has its
    owner's piece."""
    cells = tuple(Cell(f"{r} {c}", c, r) for r in range(ROWS) for c in range(COLUMNS))
    pieces = []
    for cell, label in zip(cells, "".join(position.rows), strict=True):
        if label in OWNED:
            seat = OWNED.index(label)
            pieces.append(Piece(cell.name, seat, "", "■□"[seat]))
        elif label != NOBODY:
            pieces.append(Piece(cell.name, None, label, label))
    return Scene(cells, tuple(pieces), COLUMN_LABELS, ROW_LABELS, corners=True)


def parts(move: Move, position: Position) -> Parts:  # noqa: ARG001
    return (PASS_PART,) if move == PASS else (f"{move[0]} {move[1]}", f"{move[2]} {move[3]}")


def choices(position: Position) -> dict[Parts, Move]:
    """A rectangle may be chosen from each of its corners."""
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
    return protocol.parse_answer(text, position.to_move)


LENSES = ("rectangles",)


def lenses(position: Position) -> tuple[Lens, ...]:
    """The legal rectangles, each with its swing: by how many cells it changes the mover's lead."""
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


def _lead(position: Position, seat: int) -> int:
    scores = [score or 0 for score in position.scores()]
    return scores[seat] - scores[1 - seat]
