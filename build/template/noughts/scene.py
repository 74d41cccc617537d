"""What is seen of noughts and crosses: a person chooses a cell."""

from __future__ import annotations

from core.rules import Move
from core.scene import Cell, Parts, Piece, Scene
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
