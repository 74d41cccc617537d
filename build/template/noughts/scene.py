"""The scene of noughts and crosses. A human chooses a cell."""

from __future__ import annotations

from collections.abc import Mapping

from core.rules import Move
from core.scene import Cell, Example, Parts, Piece, Scene, ScorePart
from noughts import protocol
from noughts.reference import Position

CELLS = tuple(Cell(f"{i % 3} {i // 3}", i % 3, i // 3) for i in range(9))


def scene(position: Position) -> Scene:
    labels = zip(CELLS, position.cells, strict=True)
    return Scene(CELLS, tuple(Piece(c.name, n - 1, "", ".XO"[n]) for c, n in labels if n))


def parts(move: Move, position: Position) -> Parts:
    return (write(move, position),)


def choices(position: Position) -> dict[Parts, Move]:
    return {parts(move, position): move for move in position.legal()}


def write(move: Move, position: Position) -> str:
    return protocol.format_answer(move, position.to_move).strip()


def read(text: str, position: Position) -> Move:
    return protocol.parse_answer(text, position.to_move)


def examples() -> tuple[Example, ...]:
    row = "Put a piece on an empty cell. Three pieces in a row, a column or a diagonal win."
    return (Example(row, Position((1, 1, 0, 2, 2, 0, 0, 0, 0), 4), (2, 0)),)


def counted(position: Position) -> tuple[tuple[ScorePart, ...], ...]:
    return tuple((ScorePart("lines", score),) for score in position.scores() if score is not None)


PALETTE = tuple(Piece("", seat, "", "XO"[seat]) for seat in range(2))


def compose(board: Mapping[str, Piece], to_move: int, position: Position) -> str:  # noqa: ARG001
    cells = [PALETTE.index(board[c.name]) + 1 if c.name in board else 0 for c in CELLS]
    return protocol.format_input(cells, len(board) + (len(board) - to_move) % 2)
