"""What is seen of Ugolki, and how a person chooses a move: a piece, then where it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.scene import PASS_PART, Cell, Lens, Parts, Piece, Scene
from ugolki import protocol
from ugolki.geometry import SEATS, SIZE, distance
from ugolki.reference import DIRECTIONS, LABELS, PASS, Position

if TYPE_CHECKING:
    from core.rules import Move

EDGE = tuple((float(i), str(i)) for i in range(SIZE))


def scene(position: Position) -> Scene:
    """Cells are called COLUMN ROW, absolute, from 0."""
    cells = tuple(
        Cell(
            f"{index % SIZE} {index // SIZE}",
            index % SIZE,
            index // SIZE,
            _ground(index % SIZE, index // SIZE, label),
        )
        for index, label in enumerate(position.cells)
    )
    pieces = tuple(
        Piece(cell.name, label - 1, "", str(label))
        for cell, label in zip(cells, position.cells, strict=True)
        if label in LABELS
    )
    return Scene(cells, pieces, EDGE, EDGE)


def parts(move: Move, position: Position) -> Parts:  # noqa: ARG001
    return (PASS_PART,) if move == PASS else (f"{move[0]} {move[1]}", f"{move[2]} {move[3]}")


def choices(position: Position) -> dict[Parts, Move]:
    return {parts(move, position): move for move in position.legal()}


def write(move: Move, position: Position) -> str:  # noqa: ARG001
    """As in output.txt, but in absolute cells."""
    return PASS_PART if move == PASS else protocol.format_answer(move, 0).strip()


def read(text: str, position: Position) -> Move:  # noqa: ARG001
    return PASS if text.strip().lower() == PASS_PART else protocol.parse_answer(text, 0)


LENSES = ("jumps",)


def lenses(position: Position) -> tuple[Lens, ...]:
    """How the mover's pieces can jump: for every cell that one reaches by jumps alone, a shortest
    path."""
    seat = position.to_move
    paths: list[tuple[str, ...]] = []
    if not position.over:
        for index, label in enumerate(position.cells):
            if label == seat + 1:
                paths += _jumps(position, index)
    return (Lens("jumps", "paths of jumps", seat, paths=tuple(paths)),)


def _jumps(position: Position, start: int) -> list[tuple[str, ...]]:
    """The paths of the piece on a cell."""
    found: dict[int, tuple[int, ...]] = {start: (start,)}
    queue = [start]
    for here in queue:  # which grows
        for columns, rows in DIRECTIONS:
            column, row = here % SIZE + 2 * columns, here // SIZE + 2 * rows
            behind, over = row * SIZE + column, (row - rows) * SIZE + column - columns
            if not (0 <= column < SIZE and 0 <= row < SIZE) or behind in found:
                continue
            if position.cells[over] in LABELS and position.cells[behind] == 0:
                found[behind] = (*found[here], behind)
                queue.append(behind)
    del found[start]
    return [tuple(f"{cell % SIZE} {cell // SIZE}" for cell in path) for path in found.values()]


def _ground(column: int, row: int, label: int) -> str:
    if label == protocol.UNREADABLE:
        return "wall"
    goals = [seat for seat in range(SEATS) if distance(seat, column, row) == 0]
    return f"goal{goals[0]}" if goals else ""
