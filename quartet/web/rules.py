"""The rules of a game as the page shows them: sentences with boards, from the game's scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.scene import Example, Scene, SceneModule
from quartet.review.boards import Boards
from quartet.web import views
from quartet.web.views import Json


def examples(name: str) -> Json:
    """Return the rules of a game with boards. Raises UnknownNameError."""
    scene = views.scenes(name)
    return {"examples": [_example(scene, example) for example in scene.examples()]}


def _example(scene: SceneModule, example: Example) -> Json:
    shown: Json = {"text": example.text, "board": None, "moves": [], "lens": None}
    position, move = example.position, example.move
    if position is None:
        return shown
    boards = Boards(_cropped(scene.scene(position), example.cells))
    if move is not None:
        boards.add(_cropped(scene.scene(position.play(move)), example.cells))
        shown["moves"] = [{"parts": scene.parts(move, position), "seat": position.to_move}]
    return {**shown, "board": boards.board, "lens": example.lens and views.lens_view(example.lens)}


def _cropped(scene: Scene, cells: Sequence[str]) -> Scene:
    """Return a scene without hands and without other cells than these; () for all."""
    kept = [cell for cell in scene.cells if not cells or cell.name in cells]
    names, xs, ys = {cell.name for cell in kept}, {cell.x for cell in kept}, {c.y for c in kept}
    return replace(
        scene,
        cells=tuple(kept),
        pieces=tuple(piece for piece in scene.pieces if piece.cell in names),
        columns=tuple(label for label in scene.columns if label[0] in xs),
        rows=tuple(label for label in scene.rows if label[0] in ys),
        hands=(),
    )
