"""Boards, turns and results in colour for the terminal."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.table import Table as Grid
from rich.text import Text

from quartet.cli.board import style
from quartet.judge.program import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import RenderableType

    from core.rules import DrawnPosition, Move
    from quartet.judge.record import Result, Turn
    from quartet.judge.table import Table


def board(position: DrawnPosition, marks: Mapping[tuple[int, int], str] | None = None) -> Text:
    """A position as text."""
    lines = [
        Text.assemble(*((text, style(names)) for text, names in line))
        for line in position.draw(marks)
    ]
    return Text("\n").join(lines)


def move_text(move: Move | None) -> str:
    """A move in absolute coordinates: from and to, only to, or a pass."""
    if move is None:
        return "-"
    if min(move) < 0:
        return "pass"
    cells = [f"{move[i]} {move[i + 1]}" for i in range(0, len(move) - 1, 2)]
    return " → ".join(cells)


def move_marks(turn: Turn) -> dict[tuple[int, int], str]:
    """The cells that a turn's move has changed."""
    move = turn.move
    if move is None or min(move) < 0:
        return {}
    marks = {(move[-2], move[-1]): f"seat{turn.seat} to"}
    if len(move) == 4:
        marks[move[0], move[1]] = f"seat{turn.seat} from"
    return marks


def turn_line(table: Table, turn: Turn) -> Text:
    """A turn in one line: whose, what, what became of it."""
    players = table.game.info.players
    line = Text.assemble(
        (f"move {turn.ply // players}, ", "dim"),
        (seat_name(table, turn.seat), style(f"seat{turn.seat}")),
        f": {move_text(turn.move)}",
    )
    if turn.verdict.lost:
        line.append(f"  {turn.verdict.value}: {printable(turn.reason)}", "bold red")
    elif turn.reason:
        line.append(f"  {printable(turn.reason)}", "dim")
    if turn.seconds > 0:
        line.append(f"  {turn.seconds:.2f} s", "dim")
    if turn.left_behind:
        line.append(
            f"  left {turn.left_behind} process{'' if turn.left_behind == 1 else 'es'} running",
            "red",
        )
    return line


def said_line(side: str, seat: int, answer: str, remark: str) -> Text:
    """A ply of a game of lines: whose, what it said, and a remark."""
    return Text.assemble(
        (side, style(f"seat{seat}")), f": {printable(answer)}", (f"  {remark}", "dim")
    )


def scene(table: Table, marks: Mapping[tuple[int, int], str] | None = None) -> RenderableType:
    """The board with the standing beside it."""
    grid = Grid.grid(padding=(0, 4, 0, 0))
    grid.add_row(board(table.position, marks), standing(table))
    return grid


def standing(table: Table) -> Grid:
    """Who plays, with what score, and whose turn it is."""
    info, result = table.game.info, table.result()
    standing = Grid(
        "", "player", info.score_name, "lost", box=None, pad_edge=False, header_style="dim"
    )
    for seat, player in enumerate(table.header.players):
        if player is not None:
            is_out = seat in table.disqualified
            standing.add_row(
                ">" if table.position.to_move == seat and not table.position.over else "",
                Text(seat_name(table, seat), style(f"seat{seat}")),
                str(result.scores[seat]),
                "out" if is_out else str(table.lost[seat]),
            )
    return standing


def result_table(table: Table, result: Result) -> RenderableType:
    """Places, scores and lost turns, the winner first."""
    info = table.game.info
    grid = Grid(
        "place",
        "player",
        info.score_name,
        "share",
        "lost turns",
        box=None,
        pad_edge=False,
        header_style="bold",
    )
    seats = [(place, seat) for seat, place in enumerate(result.places) if place is not None]
    for place, seat in sorted(seats):
        lost = str(result.lost[seat]) + (", disqualified" if seat in result.disqualified else "")
        share = f"{result.shares[seat]:.2f}".rstrip("0").rstrip(".")
        grid.add_row(
            str(place),
            Text(seat_name(table, seat), style(f"seat{seat}")),
            str(result.scores[seat]),
            share,
            lost,
        )
    return grid


def reasons(table: Table, turns: Sequence[Turn]) -> list[Text]:
    """For every seat that lost turns, why; the first of each kind in full."""
    lines = []
    for seat in range(table.game.info.players):
        lost = [turn for turn in turns if turn.seat == seat and turn.verdict.lost]
        for verdict, count in Counter(turn.verdict for turn in lost).items():
            first = next(turn for turn in lost if turn.verdict is verdict)
            move = first.ply // table.game.info.players
            times = "once" if count == 1 else f"{count} times, first"
            lines.append(
                Text(
                    f"{seat_name(table, seat)}: {verdict.value} {times} at move {move}: {printable(first.reason)}"
                )
            )
    return lines


def seat_name(table: Table, seat: int) -> str:
    """The number that stands on the board, and the program."""
    return f"{seat + 1} {printable(table.header.players[seat] or 'nobody')}"
