"""`quartet gauntlet --scale`: the win share against the same opponents as everyone's time grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.console import RenderableType

from core.errors import QuartetError
from quartet.cli import tables
from quartet.cli.run_options import RunOptions, positive


def steps(settings: RunOptions, factors: str) -> list[RunOptions]:
    """Return the options of each factor, a comma between two. Raises QuartetError."""
    if not settings.clock and not settings.nodes:
        raise QuartetError("--scale multiplies --clock and --nodes: pass one of them")
    numbers = [positive(text, "--scale", "; write 1,3,10,30") for text in factors.split(",")]
    return [
        replace(
            settings,
            clock=[times(text, factor) for text in settings.clock],
            nodes=[times(text, factor) for text in settings.nodes],
            out=settings.out and settings.out / f"x{factor:g}",
        )
        for factor in numbers
    ]


def times(text: str, factor: float) -> str:
    """Return [NAME=]VALUE with the value times a factor, at least 1; unchanged if it is not a
    positive number."""
    name, equals, value = text.rpartition("=")
    try:
        number = float(value)
        return f"{name}{equals}{max(1, round(number * factor))}" if number > 0 else text
    except (ValueError, OverflowError):
        return text


def table(records: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Return the win shares of kept ratings by time or nodes as a table."""
    grid = tables.grid("clock", "nodes", "games", "%", "±", left=("clock", "nodes"))
    for record in records:
        conditions, error = record["conditions"], record["error"]
        grid.add_row(
            conditions["clock"],
            conditions["nodes"],
            str(record["games"]),
            f"{100 * record['share']:.1f}",
            "" if error is None else f"{100 * error:.1f}",
        )
    return grid
