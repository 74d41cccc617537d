"""Tables of runs: the players, their scores and what they spent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from rich.console import (
    Console,
    ConsoleOptions,
    Group,
    JustifyMethod,
    RenderableType,
    RenderResult,
)
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from core.errors import printable
from core.messages import SIDES
from quartet.arena.ratings import Rating
from quartet.arena.standings import by_seat, standings
from quartet.arena.unit import GameResult

WORD = 12
"""Characters of a word that is not folded; a number has fewer."""
PAGE_WIDTH = 400
"""Columns of a table that is not for a terminal, at most."""


def wide(console: Console) -> Console:
    """Widen a console that is not a terminal, so that no table is cut."""
    if not console.is_terminal:
        console.width = PAGE_WIDTH
    return console


def table(
    results: Sequence[GameResult],
    names: Sequence[str],
    order: Sequence[int],
    extra: Mapping[str, Sequence[str]],
) -> RenderableType:
    """Return the tables of the players.

    Args:
        results: The games.
        names: Names of the players.
        order: The players to show, in this order.
        extra: More columns after the score: values by player.
    """
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
            cell(names[player]),
            str(line.games),
            f"{line.wins}-{line.draws}-{line.losses}",
            f"{line.score:.10g}",
            figure(100 * line.share, 1),
            figure(100 * line.error, 1),
            *(column[player] for column in extra.values()),
        )
        cost.add_row(
            str(place),
            cell(names[player]),
            figure(100 * line.first_score / line.firsts if line.firsts else math.nan, 1),
            figure(1000 * spent.seconds / spent.turns if spent.turns else math.nan, 1),
            figure(1000 * spent.longest if spent.turns else math.nan, 0),
            figure(line.depth, 1),
            figure(line.speed / 1000, 1),
            ", ".join(f"{count} {verdict}" for verdict, count in sorted(spent.lost.items())),
        )
    shares = ", ".join(f"{100 * share:.1f}" for share in by_seat(results)) or "-"
    return Group(score, cost, f"win share by seat, first to last: {shares} %")


class Grid(Table):
    """A table of texts that is not cut on a narrow terminal: it folds cells between short words."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Print the table; if it is too wide, with narrow gaps, at last with folded words."""
        least, whole = [], []
        for column in self.columns:
            texts = [Text.from_markup(str(text)).plain for text in (column.header, *column.cells)]
            words = [min(cell_len(word), WORD) for text in texts for word in text.split()]
            least.append(max(words, default=0))
            whole.append(max(map(cell_len, texts)))
        gaps, room = len(self.columns) - 1, options.max_width - sum(least)
        self.collapse_padding = room < 2 * gaps
        room -= gaps if self.collapse_padding else 2 * gaps
        if room >= 0:
            # columns that need least are whole first
            for i in sorted(range(gaps + 1), key=lambda i: whole[i] - least[i]):
                more = min(room, whole[i] - least[i])
                self.columns[i].width = least[i] + more
                room -= more
        return super().__rich_console__(console, options)


def grid(*columns: str, left: Sequence[str] = ("player", "lost turns")) -> Grid:
    """Return an empty table; columns named in `left` are left-aligned, others right-aligned."""
    found = Grid(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        justify: JustifyMethod = "left" if column in left else "right"
        found.add_column(cell(column), justify=justify, overflow="fold")
    return found


def rows(lines: Sequence[Mapping[str, object]]) -> Grid:
    """Return lines of named values as a table; columns of numbers are right-aligned."""
    columns = list(dict.fromkeys(name for line in lines for name in line))
    texts = [
        name
        for name in columns
        if any(not isinstance(v, int | float) and v != "" for v in (n.get(name, "") for n in lines))
    ]
    found = grid(*columns, left=texts)
    for line in lines:
        found.add_row(*(cell(line.get(name, "")) for name in columns))
    return found


def cell(value: object) -> str:
    """Return a value as a table shows it: a name may have markup or control characters."""
    return escape(printable(str(value)))


def elo_text(elo: float) -> str:
    """Return a rating, a dash if it is infinite."""
    return f"{round(elo):+d}" if math.isfinite(elo) else "-"


def interval(rating: Rating) -> str:
    """Return the interval of a rating in words, a dash if it is open on both sides."""
    if math.isinf(rating.high) and math.isinf(rating.low):
        return "-"
    if math.isinf(rating.high):
        return f"above {elo_text(rating.low)}"
    if math.isinf(rating.low):
        return f"below {elo_text(rating.high)}"
    return f"{elo_text(rating.low)} .. {elo_text(rating.high)}"


def figure(value: float, digits: int) -> str:
    """Return a number with `digits` decimals, a dash for nan."""
    return "-" if math.isnan(value) else f"{value:.{digits}f}"
