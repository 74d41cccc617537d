"""The curve of a game's kept ratings, for `quartet gauntlet --curve` and `--plot`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
from rich.console import Console, RenderableType

from core.errors import QuartetError
from quartet.arena import gauntlet
from quartet.arena.gauntlet import RatingRecord
from quartet.cli import plots, tables
from quartet.judge.seats import versions


def show(game: str, records: Sequence[RatingRecord], plot: Path | None, *, as_json: bool) -> None:
    """Print or draw kept ratings. Raises QuartetError."""
    if not records:
        raise QuartetError(f"no rating of {game} is kept below {gauntlet.FOLDER} yet")
    groups = gauntlet.comparable(records)
    if plot is not None:
        plots.ratings_over_time(groups, f"{game}, gauntlet", plot)
    elif as_json:
        lines = [{**msgspec.to_builtins(record), "group": record.group} for record in records]
        print(json.dumps(lines, indent=2))
    else:
        console = tables.wide(Console(highlight=False))
        for number, group in enumerate(groups.values()):
            first = group[0]
            conditions = ", ".join(
                v if name == "how" else f"{name} {v}" for name, v in first.conditions.items() if v
            )
            opponents = ", ".join(map(versions.short, first.opponents))
            head = f"{first.group}: {conditions}; against\n{opponents}"
            console.print(f"\n{head}" if number else head, soft_wrap=True, markup=False)
            console.print(curve_table(group))


def curve_table(records: Sequence[RatingRecord]) -> RenderableType:
    """Return ratings that can be compared as a table."""
    grid = tables.grid(
        "day", "player", "commit", "Elo", "from", "to", "%", "games", left=("player",)
    )
    for record in records:
        grid.add_row(
            record.day,
            versions.short(record.player),
            record.commit[: versions.SHORT] + ("+" if "," in record.commit else ""),
            *(
                "" if v is None else tables.elo_text(v)
                for v in (record.elo, record.low, record.high)
            ),
            f"{100 * record.share:.1f}",
            str(record.games),
        )
    return grid
