"""Boards in colour for the terminal, drawn from the scene of any game."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

from rich.style import Style
from rich.text import Text

from core.scene import PASS_PART, Cell, Parts, Piece, Scene

COLOURS = ("bright_red", "bright_green", "bright_blue", "bright_yellow")
STYLES = {
    "label": Style(dim=True),
    "empty": Style(dim=True),
    "from": Style(bold=True, reverse=True, dim=True),
    "to": Style(bold=True, reverse=True, dim=False),
    "cursor": Style(bold=True, reverse=True, dim=False, underline=False),
    "hint": Style(bold=True, bgcolor="magenta", dim=False),
    "option": Style(bold=True, underline=True, dim=False),
    **{f"seat{seat}": Style(color=colour, bold=True) for seat, colour in enumerate(COLOURS)},
    **{f"goal{seat}": Style(color=colour, dim=True) for seat, colour in enumerate(COLOURS)},
}
"""Style name -> style. Names with spaces between them combine, e.g. "seat0 to"."""

PLAIN = Style()
EMPTY, WALL = "·", "#"


def style(names: str) -> Style:
    """Return the style of one or more names; unknown ones change nothing."""
    return Style.combine([PLAIN, *(STYLES.get(name, PLAIN) for name in names.split())])


def draw(scene: Scene, marks: Mapping[str, str] | None = None) -> Text:
    """Draw a scene: the board with its labels, then the hands, then PASS_PART if it is marked.

    Args:
        scene: The position.
        marks: Name of a cell, or PASS_PART -> style names that are added to the cell's own. A piece
            keeps its colour.
    """
    marks = marks or {}
    pieces = {piece.cell: piece for piece in scene.pieces}
    is_named = not scene.columns and not scene.rows
    texts = {cell.name: _text(cell, pieces.get(cell.name), is_named) for cell in scene.cells}
    width = max(len(text) for text in [*texts.values(), *(text for _, text in scene.columns)])
    lines: dict[float, list[Cell]] = {}
    for cell in scene.cells:
        lines.setdefault(round(cell.y, 3), []).append(cell)
    gaps = [b.x - a.x for line in lines.values() for a, b in pairwise(_by_x(line))]
    scale = (width + (3 if is_named else 1)) / min(gaps, default=1)
    left = min(cell.x for cell in scene.cells)
    margin = max((len(text) + 1 for _, text in scene.rows), default=0)

    def place(text: Text, x: float, word: str, look: Style) -> None:
        text.pad_right(margin + round((x - left) * scale) - len(text))
        before = (width - len(word)) // 2
        text.append(" " * before).append(word, look).append(" " * (width - len(word) - before))

    drawn = []
    if scene.columns:
        header = Text()
        for x, label in scene.columns:
            place(header, x, label, style("label"))
        drawn.append(header)
    labels = {round(y, 3): label for y, label in scene.rows}
    for y in sorted(lines):
        line = Text().append(labels.get(y, "").rjust(max(0, margin - 1)), style("label"))
        for cell in _by_x(lines[y]):
            look = _look(cell, pieces.get(cell.name), marks)
            place(line, cell.x, texts[cell.name], look)
        drawn.append(line)
    for hand in scene.hands:
        held = {piece.cell: piece for piece in hand.pieces}
        line = Text.assemble((f"hand of {hand.seat + 1} ", style(f"seat{hand.seat}")))
        for cell in _by_x(hand.cells):
            piece = held.get(cell.name)
            line.append(" ").append(_text(cell, piece), _look(cell, piece, marks))
        drawn.append(line)
    if PASS_PART in marks:
        drawn.append(Text.assemble((PASS_PART, style(marks[PASS_PART]))))
    return Text("\n").join(drawn)


def places(scene: Scene) -> dict[str, tuple[float, float]]:
    """Return x and y of all cells; those of hands, and PASS_PART, are below the board as drawn."""
    found = {cell.name: (cell.x, cell.y) for cell in scene.cells}
    bottom = max(cell.y for cell in scene.cells) + 1
    for hand in scene.hands:
        found |= {cell.name: (cell.x, bottom + cell.y) for cell in hand.cells}
        bottom += 1
    found[PASS_PART] = (min(cell.x for cell in scene.cells), bottom)
    return found


def move_marks(scene: Scene, parts: Parts, seat: int) -> dict[str, str]:
    """Return the marks of the move that led to `scene`: "to" for its last part, "from" for others.

    Cells of a hand that are no longer there get no mark.
    """
    there = {cell.name for cell in scene.cells} | {PASS_PART}
    words = dict.fromkeys(parts[:-1], "from") | dict.fromkeys(parts[-1:], "to")
    return {part: f"seat{seat} {word}" for part, word in words.items() if part in there}


def _by_x(cells: Iterable[Cell]) -> list[Cell]:
    return sorted(cells, key=lambda cell: cell.x)


def _text(cell: Cell, piece: Piece | None, is_named: bool = False) -> str:
    if piece is not None:
        return piece.text
    return WALL if cell.ground == "wall" else cell.name if is_named else EMPTY


def _look(cell: Cell, piece: Piece | None, marks: Mapping[str, str]) -> Style:
    mark = style(marks.get(cell.name, ""))
    if piece is None:
        ground = {"": "empty", "wall": "label"}.get(cell.ground, cell.ground)
        return Style.combine([style(ground), mark])
    colour = piece.owner if piece.colour is None else piece.colour
    return Style.combine([mark, PLAIN if colour is None else style(f"seat{colour}")])
