"""What is seen of Ataxx, and how a person chooses a move: a piece, then where it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ataxx import protocol
from ataxx.fen import FIRST, SECOND, SIZE, WALL
from ataxx.reference import NAMES, PASS, Position
from core.scene import PASS_PART, Cell, Parts, Piece, Scene

if TYPE_CHECKING:
    from core.rules import Move

LABELS = tuple((float(i), str(i + 1)) for i in range(SIZE))


def scene(position: Position) -> Scene:
    """Cells are called ROW COLUMN, from 1."""
    cells = tuple(
        Cell(f"{row} {column}", column - 1, row - 1, "wall" if label == WALL else "")
        for (row, column), label in zip(NAMES, position.cells, strict=True)
    )
    pieces = tuple(
        Piece(cell.name, label - FIRST, "", "OX"[label - FIRST])
        for cell, label in zip(cells, position.cells, strict=True)
        if label in (FIRST, SECOND)
    )
    return Scene(cells, pieces, LABELS, LABELS)


def parts(move: Move, position: Position) -> Parts:  # noqa: ARG001
    return (PASS_PART,) if move == PASS else (f"{move[0]} {move[1]}", f"{move[2]} {move[3]}")


def choices(position: Position) -> dict[Parts, Move]:
    """Any of the pieces that could divide may be chosen, not only the one that `legal` names."""
    legal = set(position.legal())
    ends = sorted({move[2:] for move in legal - {PASS}})
    moves = [start + end for start in NAMES for end in ends]
    moves = [move for move in moves if position.canonical(move) in legal]
    return {parts(move, position): move for move in moves or legal}


def write(move: Move, position: Position) -> str:
    return protocol.format_answer(move, position.to_move)


def read(text: str, position: Position) -> Move:
    """The word MOVE may be left away."""
    return protocol.parse_answer(
        f"MOVE {text.upper().strip().removeprefix('MOVE')}", position.to_move
    )
