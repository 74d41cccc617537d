"""The tables of runs: players, what they scored and what it cost them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table as Grid

from core.messages import SIDES
from quartet.arena.standings import by_seat, standings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from quartet.arena.ratings import Rating
    from quartet.arena.unit import GameResult


def wide(console: Console) -> Console:
    """The console; where it is no terminal, nobody's width limits a table."""
    if not console.is_terminal:
        console.width = 400
    return console


def table(
    results: Sequence[GameResult],
    names: Sequence[str],
    order: Sequence[int],
    extra: Mapping[str, Sequence[str]],
) -> RenderableType:
    """The players in `order`; `extra` are more columns, by player, after the score."""
    lines = standings(results, len(names))
    # At a table of four a player may have several seats; each counts.
    count = "games" if not results or len(results[0].seats) == len(SIDES) else "seats"
    score = grid("", "player", count, "W-D-L", "score", "%", "±", *extra)
    cost = grid("", "player", "1st seat %", "ms/move", "longest", "depth", "knodes/s", "lost turns")
    for place, player in enumerate(order, start=1):
        line = lines[player]
        spent = line.use
        score.add_row(
            str(place),
            names[player],
            str(line.games),
            f"{line.wins}-{line.draws}-{line.losses}",
            f"{line.score:.10g}",
            figure(100 * line.share, 1),
            figure(100 * line.error, 1),
            *(column[player] for column in extra.values()),
        )
        cost.add_row(
            str(place),
            names[player],
            figure(100 * line.first_score / line.firsts if line.firsts else math.nan, 1),
            figure(1000 * spent.seconds / spent.turns if spent.turns else math.nan, 1),
            figure(1000 * spent.longest if spent.turns else math.nan, 0),
            figure(line.depth, 1),
            figure(line.speed / 1000, 1),
            ", ".join(f"{count} {verdict}" for verdict, count in sorted(spent.lost.items())),
        )
    seats = by_seat(results)
    shares = ", ".join(f"{100 * share:.1f}" for share in seats) or "-"
    return Group(score, cost, f"share of the wins by seat, first to last: {shares} %")


def grid(*columns: str, left: Sequence[str] = ("player", "lost turns")) -> Grid:
    """An empty table of figures; what stands in the columns `left` begins at their left."""
    found = Grid(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        found.add_column(column, justify="left" if column in left else "right", no_wrap=True)
    return found


def rows(lines: Sequence[Mapping[str, object]]) -> Grid:
    """Lines of named values as a table; numbers on the right."""
    columns = list(dict.fromkeys(name for line in lines for name in line))
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        values = [line.get(name, "") for line in lines]
        is_number = all(isinstance(value, int | float) or value == "" for value in values)
        grid.add_column(name, justify="right" if is_number else "left", no_wrap=True)
    for line in lines:
        grid.add_row(*(escape(str(line.get(name, ""))) for name in columns))
    return grid


def rating_columns(ratings: Sequence[Rating] | None) -> dict[str, list[str]]:
    """The columns of Elo and its interval of 95 %."""
    if ratings is None:
        return {}
    return {
        "Elo": [elo_text(rating.elo) for rating in ratings],
        "95 %": [interval(rating) for rating in ratings],
    }


def elo_text(elo: float) -> str:
    """A rating; a dash where it is infinite."""
    return f"{elo:+.0f}" if math.isfinite(elo) else "-"


def interval(rating: Rating) -> str:
    """The interval of a rating in words; it may be one-sided."""
    if math.isinf(rating.high):
        return f"above {rating.low:+.0f}"
    if math.isinf(rating.low):
        return f"below {rating.high:+.0f}"
    return f"{rating.low:+.0f} .. {rating.high:+.0f}"


def figure(value: float, digits: int) -> str:
    """A number for the table; a dash for nan."""
    return "-" if math.isnan(value) else f"{value:.{digits}f}"
