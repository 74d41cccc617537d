"""The display of Ugolki, and the input of moves: a human selects a piece, then its target cell."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from core.scene import PASS_PART, Cell, Example, Lens, Parts, Piece, Region, Scene, ScorePart
from ugolki import protocol
from ugolki.geometry import SEATS, SIZE, distance
from ugolki.reference import DIRECTIONS, LABELS, PASS, Position

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core.rules import Move

EDGE = tuple((float(i), str(i)) for i in range(SIZE))


def scene(position: Position) -> Scene:
    """Return the scene. Cells are named "COLUMN ROW", absolute, from 0."""
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
    """Return a move as in output.txt, but in absolute cells."""
    return PASS_PART if move == PASS else protocol.format_answer(move, 0).strip()


def read(text: str, position: Position) -> Move:  # noqa: ARG001
    return PASS if text.strip().lower() == PASS_PART else protocol.parse_answer(text, 0)


PALETTE = tuple(Piece("", label - 1, "", str(label)) for label in LABELS)


def compose(board: Mapping[str, Piece], to_move: int, position: Position) -> str:
    """Return the input.txt of the seat to move, in the round of `position`."""
    pieces = [board.get(f"{index % SIZE} {index // SIZE}") for index in range(SIZE * SIZE)]
    cells = tuple(PALETTE.index(piece) + 1 if piece else 0 for piece in pieces)
    return protocol.format_input(cells, position.ply // SEATS * SEATS + to_move)


def lenses(position: Position) -> tuple[Lens, ...]:
    """Return the jumps of the mover's pieces: a shortest path to every cell that a piece reaches by
    jumps alone."""
    seat = position.to_move
    paths: list[tuple[str, ...]] = []
    if not position.over:
        for index, label in enumerate(position.cells):
            if label == seat + 1:
                paths += _jumps(position, index)
    return (Lens("jumps", "paths of jumps", seat, paths=tuple(paths)),)


def _square(first: int, end: int) -> tuple[str, ...]:
    """Return the names of the cells whose column and row are in a range."""
    return tuple(f"{c} {r}" for r in range(first, end) for c in range(first, end))


def examples() -> tuple[Example, ...]:
    start, corner = Position.start(), _square(0, 5)
    path = Lens("jumps", "paths of jumps", 0, paths=(("1 2", "3 2", "3 0"),))
    cells = [0] * SIZE * SIZE
    for name in ("4 6", "5 8", "6 6", "7 6", "7 7", "8 8"):
        cells[int(name[2]) * SIZE + int(name[0])] = 1
    late = replace(start, cells=tuple(cells))
    steps = tuple(Region((cell,), d, 0) for cell, d in _distances(late, 0) if d)
    return (
        Example("Bring your six pieces into the square in the opposite corner.", start),
        Example(
            "Step: a piece moves to an empty cell next to it, but not diagonally.",
            start,
            (3, 1, 4, 1),
            corner,
        ),
        Example(
            "Jump: a piece jumps over a neighbour, no matter whose, onto the empty cell behind it, "
            "and may jump on from there. Nothing is captured.",
            start,
            (1, 2, 3, 0),
            corner,
            path,
        ),
        Example(
            "The penalty is the number of steps that your pieces lack. The game ends when a player "
            "is home, or after 50 turns each. The lowest penalty wins.",
            late,
            cells=_square(4, SIZE),
            lens=Lens("jumps", "penalty", 0, regions=steps),
        ),
    )


def counted(position: Position) -> tuple[tuple[ScorePart, ...], ...]:
    """Count the pieces by their distance, the largest first."""
    found = []
    for seat in range(SEATS):
        steps = Counter(d for _, d in _distances(position, seat))
        parts = (ScorePart(f"pieces {d} away", n, d) for d, n in sorted(steps.items())[::-1] if d)
        home = (ScorePart("pieces at home", steps[0], 0),) if steps[0] else ()
        found.append((*parts, *home))
    return tuple(found)


def _distances(position: Position, seat: int) -> list[tuple[str, int]]:
    """Return the cells of a seat's pieces, with their distances to its square."""
    return [
        (f"{i % SIZE} {i // SIZE}", distance(seat, i % SIZE, i // SIZE))
        for i, label in enumerate(position.cells)
        if label == seat + 1
    ]


def _jumps(position: Position, start: int) -> list[tuple[str, ...]]:
    """Return the paths of the piece on a cell."""
    found: dict[int, tuple[int, ...]] = {start: (start,)}
    queue = [start]
    for here in queue:  # the loop appends to it
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
