"""The scene of Ataxx. A human chooses a piece, then its target cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ataxx import protocol
from ataxx.fen import EMPTY, FIRST, SECOND, SIZE, WALL, format_fen
from ataxx.reference import NAMES, PASS, Position
from core.scene import PASS_PART, Cell, Example, Parts, Piece, Scene, ScorePart

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core.rules import Move

LABELS = tuple((float(i), str(i + 1)) for i in range(SIZE))


def scene(position: Position) -> Scene:
    """Return the scene. Cells are named "ROW COLUMN", from 1."""
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
    """Return the legal moves by their parts. Any piece that can divide may be chosen."""
    legal = set(position.legal())
    ends = sorted({move[2:] for move in legal - {PASS}})
    moves = [start + end for start in NAMES for end in ends]
    moves = [move for move in moves if position.canonical(move) in legal]
    return {parts(move, position): move for move in moves or legal}


def write(move: Move, position: Position) -> str:
    return protocol.format_answer(move, position.to_move)


def read(text: str, position: Position) -> Move:
    """Parse a move. The word MOVE is optional."""
    if text.strip().lower() == PASS_PART:
        return PASS
    return protocol.parse_answer(
        f"MOVE {text.upper().strip().removeprefix('MOVE')}", position.to_move
    )


CORNER = tuple(f"{row} {column}" for row in range(1, 5) for column in range(1, 6))


def examples() -> tuple[Example, ...]:
    alone = Position.parse("7/1x5/7/7/7/7/6o x 0 1")
    among = Position.parse("3o3/1x5/2oo3/7/7/7/6o x 0 1")
    return (
        Example(
            "Divide: a new piece appears next to one of yours, which stays where it is.",
            alone,
            (2, 2, 3, 3),
            CORNER,
        ),
        Example(
            "Leap: a piece moves two cells away and leaves its cell empty.",
            alone,
            (2, 2, 3, 4),
            CORNER,
        ),
        Example(
            "After both, every opposing piece next to the new cell becomes yours.",
            among,
            (2, 2, 2, 3),
            CORNER,
        ),
        Example(
            "If none of your pieces can move, you pass. The game ends when the board is full, a "
            "side has no pieces left, or both have had 200 turns. More cells win."
        ),
    )


def counted(position: Position) -> tuple[tuple[ScorePart, ...], ...]:
    return tuple((ScorePart("cells", position.cells.count(seat)),) for seat in (FIRST, SECOND))


PALETTE = (Piece("", 0, "", "O"), Piece("", 1, "", "X"))


def compose(board: Mapping[str, Piece], to_move: int, position: Position) -> str:
    """Return the FEN; walls stay."""
    cells = [
        label if label == WALL else FIRST + PALETTE.index(piece) if piece else EMPTY
        for (row, column), label in zip(NAMES, position.cells, strict=True)
        for piece in [board.get(f"{row} {column}")]
    ]
    return format_fen(cells, position.ply // 2 * 2 + to_move, position.halfmoves)
