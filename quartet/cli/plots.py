"""Plots of runs and trainings, for `quartet runs --plot`: each is drawn into a file, whose name is
printed. They need matplotlib, the extra `plot`."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec

from core.errors import QuartetError, TextError
from core.extras import install_hint
from core.messages import Ply
from quartet.arena import ratings, records
from quartet.arena import tuning as tuning_steps
from quartet.arena.curves import Curve, curves, mean_and_error
from quartet.arena.gauntlet import RatingRecord
from quartet.arena.outcome import Outcome
from quartet.judge import game as games
from quartet.judge.logs import jsonl
from quartet.judge.seats.versions import short
from quartet.judge.turn import UNREADABLE

EDGE = 50
"""Elo between the highest or lowest bound of a rating and the edge of the chart."""
LOGS = 400
"""Logs whose times are read, evenly spread over the run."""


def run(found: Outcome, folder: Path, file: Path) -> None:
    """Draw a run: Elo and LLR by games, time by ply, results by seat.

    Args:
        found: The outcome.
        folder: The run's folder.
        file: The file; its suffix selects the format.

    Raises:
        QuartetError: matplotlib is missing, there are no games, or the file cannot be written.
    """
    if not found.recorded:
        raise QuartetError("there are no games yet")
    by_unit: dict[str, list[Curve]] = {}
    for curve in curves(found):
        by_unit.setdefault(curve.unit, []).append(curve)
    figure = _figure(len(by_unit) + 2)
    for axes, group in zip(figure.axes, by_unit.values(), strict=False):
        _draw(axes, group)
    _times(figure.axes[-2], found, folder)
    _seats(figure.axes[-1], found)
    _save(figure, f"{found.config.game}, {found.kind}: {len(found.results)} games", file)


def tuning(
    start: Mapping[str, float], steps: Sequence[tuning_steps.Step], title: str, file: Path
) -> None:
    """Draw the values of a tuning by games, a chart per parameter. Raises QuartetError."""
    if not steps:
        raise QuartetError("no batch of trials has been played yet")
    figure = _figure(len(start))
    for axes, (name, value) in zip(figure.axes, start.items(), strict=True):
        axes.plot([0, *(step.games for step in steps)], [value, *(s.values[name] for s in steps)])
        axes.axhline(value, color="grey", linestyle="--", linewidth=0.8)
        axes.set(xlabel="games", ylabel=name)
    _save(figure, title, file)


def ratings_over_time(groups: Mapping[str, Sequence[RatingRecord]], title: str, file: Path) -> None:
    """Draw kept ratings with 95 % intervals, a curve per group that can be compared.

    An open interval reaches the edge of the chart. A rating that is infinite is drawn at its bound.
    Raises QuartetError.
    """
    figure = _figure(1)
    (axes,) = figure.axes
    names: list[str] = []
    finite = [value for lines in groups.values() for line in lines for value in _finite(line)]
    bottom, top = min(finite, default=0) - EDGE, max(finite, default=0) + EDGE
    for group, lines in groups.items():
        known = [(line, _finite(line)[0]) for line in lines if _finite(line)]
        low = [elo - (bottom if r.low is None else r.low) for r, elo in known]
        high = [(top if r.high is None else r.high) - elo for r, elo in known]
        places = range(len(names), len(names) + len(known))
        middle = [elo for _, elo in known]
        axes.errorbar(places, middle, yerr=[low, high], marker="o", capsize=4, label=group)
        names += [f"{rating.day}\n{short(rating.player)}" for rating, _ in known]
    axes.set_ylim(bottom, top)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right", fontsize=7)
    axes.set(ylabel="Elo against the standing opponents")
    axes.legend()
    _save(figure, title, file)


def _finite(rating: RatingRecord) -> list[float]:
    """Return the rating and its bounds, as far as they are finite."""
    return [value for value in (rating.elo, rating.low, rating.high) if value is not None]


def losses(source: Path, file: Path) -> None:
    """Draw a file of losses that `quartet train` wrote: lines with `epoch`, `loss`, `held_back`.

    Raises TextError and QuartetError.
    """
    try:
        lines = [msgspec.json.decode(line) for line in source.read_bytes().splitlines()]
        epochs = [line["epoch"] for line in lines]
        curves = {name: [line[name] for line in lines] for name in ("loss", "held_back")}
    except OSError as error:
        raise QuartetError(f"cannot read {source}: {error.strerror}") from error
    except (*UNREADABLE, KeyError, TypeError) as error:
        raise TextError(f"{source} is not a file of losses: {error}") from error
    if not epochs:
        raise TextError(f"{source} has no losses yet")
    figure = _figure(1)
    axes = figure.axes[0]
    for name, values in curves.items():
        axes.plot(epochs, values, marker="o", markersize=3, label=name.replace("_", " "))
    axes.set(xlabel="epoch", ylabel="loss")
    axes.legend()
    _save(figure, source.name, file)


def _figure(parts: int) -> Any:
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415  (an extra, and slow to import)
    except ImportError:
        raise QuartetError(f"plots need matplotlib: {install_hint('matplotlib')}") from None
    figure = Figure(figsize=(8, 3.2 * parts), layout="constrained")
    figure.subplots(parts, 1)
    return figure


def _save(figure: Any, title: str, file: Path) -> None:
    """Write a figure, and print the name of its file. Raises QuartetError."""
    if not file.suffix:  # matplotlib would write another file
        raise QuartetError(f"cannot write {file}: add .svg, .png or .pdf to its name")
    figure.suptitle(title)
    for axes in figure.axes:
        axes.grid(visible=True, alpha=0.3)
    try:
        figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
    except (OSError, ValueError) as error:
        raise QuartetError(f"cannot write {file}: {error}") from error
    print(file)


def _draw(axes: Any, curves: Sequence[Curve]) -> None:
    """Draw curves of one unit; the band of an open interval is open, too."""
    is_elo = curves[0].unit == "Elo"
    shown = [v for c in curves for v in (*c.values, *c.low, *c.high) if math.isfinite(v)]
    bottom, top = (min([*shown, -20]) - 20, max([*shown, 20]) + 20) if is_elo else (0.0, 1.0)
    for curve in curves:
        (line,) = axes.plot(curve.games, curve.values, label=curve.name)
        if curve.low:
            low, high = [max(bottom, v) for v in curve.low], [min(top, v) for v in curve.high]
            axes.fill_between(curve.games, low, high, alpha=0.15, color=line.get_color())
        for bound, name in zip(curve.bounds or (), ("H0", "H1"), strict=False):
            axes.axhline(bound, color="grey", linestyle="--", linewidth=0.8)
            axes.annotate(name, (0, bound), xycoords=("axes fraction", "data"))
    axes.set(xlabel="games", ylabel={"share": "win share"}.get(curves[0].unit, curves[0].unit))
    if curves[0].low:
        axes.set_ylim(bottom, top)
        axes.legend()
    if is_elo:
        axes.axhline(0, color="grey", linewidth=0.8)


def _times(axes: Any, found: Outcome, folder: Path) -> None:
    """Draw the mean time of each player's turns by ply, and the longest."""
    spent: dict[int, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    step = max(1, len(found.results) // LOGS)
    for game in found.results[::step]:
        for ply, seat, ms in times_of(found.config.game, folder / records.log_name(game.number)):
            spent[game.seats[seat]][ply].append(ms)
    for player, name in enumerate(found.names):
        plies = sorted(spent[player])
        (line,) = axes.plot(plies, [fmean(spent[player][p]) for p in plies], label=name)
        longest = [max(spent[player][p]) for p in plies]
        axes.plot(plies, longest, linewidth=0.6, linestyle=":", color=line.get_color())
    axes.set(xlabel="ply", ylabel="ms a turn (dotted: longest)", yscale="symlog")
    axes.set_ylim(bottom=0)
    axes.legend()


def times_of(game: str, log: Path) -> list[tuple[int, int, float]]:
    """Return ply, seat and milliseconds of the turns of a log, [] if it cannot be read."""
    try:
        data = log.read_bytes()
        if jsonl.begins(data):
            return [(t.ply, t.seat, 1000 * t.seconds) for t in jsonl.read_log(data).turns]
        protocol = games.load(game).protocol
        entries = map(protocol.parse_entry, data.decode("utf-8", "replace").splitlines())
        plies = [entry for entry in entries if isinstance(entry, Ply)]
    except (OSError, TextError):
        return []
    return [(ply, entry.seat, float(entry.ms)) for ply, entry in enumerate(plies)]


def _seats(axes: Any, found: Outcome) -> None:
    """Draw the mean win share of every seat, with 95 % over blocks if these differ."""
    blocks = ratings.blocks(found.results)
    for seat in range(found.config.seats):
        mean, error = mean_and_error([fmean(game.shares[seat] for game in b) for b in blocks])
        axes.bar(seat + 1, mean, yerr=None if math.isnan(error) else error, capsize=4, alpha=0.7)
    axes.axhline(1 / found.config.seats, color="grey", linewidth=0.8)
    axes.set(xlabel="seat", ylabel="win share", xticks=range(1, found.config.seats + 1))
    axes.set_ylim(bottom=0)
