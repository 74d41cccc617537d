"""Matches in colour for the terminal: boards, turns, standings and results of any game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from rich.console import RenderableType
from rich.table import Column
from rich.table import Table as Grid
from rich.text import Text

from core.rules import Move, Position
from quartet.cli.terminal import board
from quartet.cli.terminal.board import style
from quartet.judge import game as games
from quartet.judge.match import Match
from quartet.judge.process.words import printable
from quartet.judge.turn import Result, Turn


def position(game: str, shown: Position, marks: Mapping[str, str] | None = None) -> Text:
    """Draw a position; `marks` as for `board.draw`."""
    return board.draw(games.scene(game).scene(shown), marks)


def write(game: str, move: Move | None, before: Position) -> str:
    """Return a move in the judge's notation, a dash for none."""
    return "-" if move is None else games.scene(game).write(move, before)


def turn_line(match: Match, turn: Turn, before: Position) -> Text:
    """Return a turn in one line: ply, player, move, and what is remarkable about it."""
    game = match.game.info.name
    line = Text.assemble(
        (f"{turn.ply} ", "dim"),
        (seat_name(match, turn.seat), style(f"seat{turn.seat}")),
        f": {printable(write(game, turn.move, before))}",
    )
    if turn.verdict.lost:
        line.append(f"  {turn.verdict.value}: {printable(turn.reason)}", "bold red")
    elif turn.reason:
        line.append(f"  {printable(turn.reason)}", "dim")
    if turn.ms or turn.seconds > 0:
        line.append(f"  {turn.ms} ms" if turn.ms else f"  {turn.seconds:.2f} s", "dim")
    if turn.left_behind:
        plural = "" if turn.left_behind == 1 else "es"
        line.append(f"  left {turn.left_behind} process{plural} running", "red")
    return line


def picture(match: Match, marks: Mapping[str, str] | None = None) -> RenderableType:
    """Draw the board of a match, with the standing next to it, which alone wraps."""
    grid = Grid.grid(padding=(0, 4, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    grid.add_row(position(match.game.info.name, match.position, marks), standing(match))
    return grid


def after(match: Match, turn: Turn, before: Position) -> RenderableType:
    """Draw the board of a match after its last turn, which is marked."""
    module = games.scene(match.game.info.name)
    if turn.move is None:
        return picture(match)
    parts = module.parts(turn.move, before)
    return picture(match, board.move_marks(module.scene(match.position), parts, turn.seat))


def standing(match: Match) -> Grid:
    """Return a table of the players, their scores, and whose turn it is."""
    scores, _, _ = match.standing()
    columns = ["", "player", match.game.info.score_name]
    counts_forfeits = match.table.penalty != "game"
    grid = Grid(
        *columns,
        *(["lost"] if counts_forfeits else []),
        box=None,
        pad_edge=False,
        header_style="dim",
    )
    for seat, player in enumerate(match.names):
        if player is None:
            continue
        is_next = match.position.to_move == seat and not match.position.over
        who = Text(seat_name(match, seat), style(f"seat{seat}"))
        row: list[str | Text] = [">" if is_next else "", who, str(scores[seat])]
        if counts_forfeits:
            row.append("out" if seat in match.disqualified else str(match.lost[seat]))
        grid.add_row(*row)
    return grid


def result_table(match: Match, result: Result) -> RenderableType:
    """Return a table of places, scores, forfeited turns and resources, the winner first."""
    columns = ["place", "player", match.game.info.score_name, "share", "lost turns"]
    if result.exits:
        columns += ["processor time", "memory"]
    # Only names are long: they are wrapped, because players often differ in the end of a path.
    made = [Column(c, no_wrap=c != "player", overflow="fold") for c in columns]
    grid = Grid(*made, box=None, pad_edge=False, header_style="bold")
    seats = [(place, seat) for seat, place in enumerate(result.places) if place is not None]
    for place, seat in sorted(seats):
        out = seat in result.disqualified or seat == result.offender
        lost = str(result.lost[seat]) + (", disqualified" if out else "")
        share = f"{result.shares[seat]:.2f}".rstrip("0").rstrip(".")
        who = Text(seat_name(match, seat), style(f"seat{seat}"))
        row: list[str | Text] = [str(place), who, str(result.scores[seat]), share, lost]
        report = result.exits[seat] if result.exits else None
        if report is not None:
            row += [f"{report.seconds:.2f} s", f"{report.megabytes:.0f} MB"]
        grid.add_row(*row)
    return grid


def reasons(match: Match) -> list[Text]:
    """Return why seats forfeited turns, a line per seat and verdict with the first reason."""
    lines = []
    for seat in range(match.game.info.players):
        lost = [turn for turn in match.turns if turn.seat == seat and turn.verdict.lost]
        for verdict, count in Counter(turn.verdict for turn in lost).items():
            first = next(turn for turn in lost if turn.verdict is verdict)
            times = "once" if count == 1 else f"{count} times, first"
            who = seat_name(match, seat)
            why = printable(first.reason)
            lines.append(Text(f"{who}: {verdict.value} {times} at ply {first.ply}: {why}"))
    return lines


def seat_name(match: Match, seat: int) -> str:
    """Return a seat's label and the name of its player."""
    name = match.names[seat]
    return f"{match.game.label(seat)} {'(empty)' if name is None else printable(name)}".rstrip()
