"""Plots of runs and of trainings, for `quartet runs --plot`; with matplotlib, the extra `plot`."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING, Any

import msgspec

from core.errors import QuartetError, TextError
from core.messages import Ply
from quartet.arena import outcome, ratings, records
from quartet.judge import game as games
from quartet.judge.logs import jsonl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quartet.arena.outcome import Outcome
    from quartet.arena.unit import GameResult

POINTS = 80
"""Of a curve over the games, at most."""
LOGS = 400
"""Logs of which the times are read, spread over the run."""
LEVEL = NormalDist().inv_cdf((1 + ratings.LEVEL) / 2)


def run(found: Outcome, results: Sequence[GameResult], folder: Path, file: Path) -> None:
    """Draw a run: Elo and LLR over the games, time by ply, results by seat.

    Args:
        found: Outcome. results: Sequence[GameResult]; all on record.
        folder: Path; of the run. file: Path; its ending says the format.

    Raises:
        QuartetError: matplotlib is missing, there are no games, or the file cannot be written.
    """
    if not results:
        raise QuartetError("there are no games yet")
    parts = [_score if found.casting.seats == 2 and len(found.names) == 2 else _shares]
    parts += [_llr] if found.test is not None else []
    parts += [_times, _seats]
    figure = _figure(len(parts))
    for axes, part in zip(figure.axes, parts, strict=True):
        part(axes, found, folder)
        axes.grid(visible=True, alpha=0.3)
    figure.suptitle(f"{found.casting.game}, {found.kind}: {len(found.results)} games")
    _save(figure, file)


def losses(source: Path, file: Path) -> None:
    """Draw the losses that `quartet train` keeps: a line for every epoch, with `epoch`, `loss` and
    `held_back`. Raises TextError and QuartetError."""
    try:
        lines = [msgspec.json.decode(line) for line in source.read_bytes().splitlines()]
        epochs = [line["epoch"] for line in lines]
        curves = {name: [line[name] for line in lines] for name in ("loss", "held_back")}
    except OSError as error:
        raise QuartetError(f"cannot read {source}: {error.strerror}") from error
    except (msgspec.DecodeError, KeyError, TypeError) as error:
        raise TextError(f"{source} is no file of losses: {error}") from error
    figure = _figure(1)
    axes = figure.axes[0]
    for name, values in curves.items():
        axes.plot(epochs, values, marker="o", markersize=3, label=name.replace("_", " "))
    axes.set(xlabel="epoch", ylabel="loss", title=str(source.name))
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    _save(figure, file)


def _figure(parts: int) -> Any:
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415  (an extra, and slow to import)
    except ImportError:
        raise QuartetError(
            "plots need matplotlib; install the extra: pip install 'quartet[plot]'"
        ) from None
    figure = Figure(figsize=(8, 3.2 * parts), layout="constrained")
    figure.subplots(parts, 1)
    return figure


def _save(figure: Any, file: Path) -> None:
    try:
        figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
    except (OSError, ValueError) as error:
        raise QuartetError(f"cannot write {file}: {error}") from error


def checkpoints(number: int) -> list[int]:
    """So many blocks to look at, evenly, the last included."""
    steps = min(POINTS, number)
    return sorted({max(1, round(number * (i + 1) / steps)) for i in range(steps)})


def _score(axes: Any, found: Outcome, folder: Path) -> None:
    """Elo of the first of two over the games; where an interval is one-sided, so is the band."""
    del folder
    blocks = ratings.blocks(found.results)
    size = fmean(len(block) for block in blocks)
    x, middle, low, high = [], [], [], []
    for count in checkpoints(len(blocks)):
        pairs = outcome.pair_scores([game for block in blocks[:count] for game in block])
        rating = ratings.elo(pairs)
        x.append(count * size)
        middle.append(rating.elo if math.isfinite(rating.elo) else math.nan)
        low.append(rating.low)
        high.append(rating.high)
    shown = [value for value in (*middle, *low, *high) if math.isfinite(value)]
    bottom, top = min([*shown, -20]) - 20, max([*shown, 20]) + 20
    axes.fill_between(
        x, [max(bottom, v) for v in low], [min(top, v) for v in high], alpha=0.25, label="95 %"
    )
    axes.plot(x, middle, label=f"{found.names[0]} against {found.names[1]}")
    axes.axhline(0, color="grey", linewidth=0.8)
    axes.set(xlabel="games", ylabel="Elo", ylim=(bottom, top))
    axes.legend()


def _shares(axes: Any, found: Outcome, folder: Path) -> None:
    """Everybody's share of the win over the games, with 95 % by the errors over blocks."""
    del folder
    blocks = ratings.blocks(found.results)
    size = fmean(len(block) for block in blocks)
    for player, name in enumerate(found.names):
        own = [
            fmean(shares)
            for block in blocks
            if (
                shares := [g.shares[s] for g in block for s, p in enumerate(g.seats) if p == player]
            )
        ]
        x, middle, low, high = [], [], [], []
        for count in checkpoints(len(own)):
            mean = fmean(own[:count])
            variance = sum((v - mean) ** 2 for v in own[:count]) / max(1, count - 1)
            error = LEVEL * math.sqrt(variance / count) if count > 1 and variance else math.nan
            x.append(count * size * len(blocks) / len(own))
            middle.append(mean)
            low.append(mean - error)
            high.append(mean + error)
        (line,) = axes.plot(x, middle, label=name)
        axes.fill_between(x, low, high, alpha=0.15, color=line.get_color())
    axes.set(xlabel="games", ylabel="share of the win", ylim=(0, 1))
    axes.legend()


def _llr(axes: Any, found: Outcome, folder: Path) -> None:
    """The log-likelihood ratio over the blocks, between its bounds."""
    del folder
    test = found.test
    assert test is not None  # noqa: S101  (of a sequential test)
    size = 2 if test.seats == 2 else 2 * test.seats
    counts = checkpoints(len(found.scores)) if found.scores else []
    ratios = [test.llr(found.scores[:n]) for n in counts]
    axes.plot([n * size for n in counts], ratios)
    for bound, name in ((test.lower, "H0"), (test.upper, "H1")):
        axes.axhline(bound, color="grey", linestyle="--", linewidth=0.8)
        axes.annotate(name, (0, bound))
    axes.set(xlabel="games", ylabel="LLR")


def _times(axes: Any, found: Outcome, folder: Path) -> None:
    """The mean time of everybody's turns by the ply, with the longest above it."""
    spent: dict[int, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    step = max(1, len(found.results) // LOGS)
    for game in found.results[::step]:
        for ply, seat, ms in times_of(found.casting.game, folder / records.log_name(game.number)):
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
    """Ply, seat and milliseconds of the turns of a log; nothing where it cannot be read."""
    try:
        data = log.read_bytes()
        if data.lstrip()[:1] == b"{":
            return [(t.ply, t.seat, 1000 * t.seconds) for t in jsonl.read_log(data).turns]
        protocol = games.load(game).protocol
        entries = map(protocol.parse_entry, data.decode("utf-8", "replace").splitlines())
        plies = [entry for entry in entries if isinstance(entry, Ply)]
    except (OSError, TextError):
        return []
    return [(ply, entry.seat, float(entry.ms)) for ply, entry in enumerate(plies)]


def _seats(axes: Any, found: Outcome, folder: Path) -> None:
    """The mean share of every seat, with 95 % over blocks; no bar where all blocks were alike."""
    del folder
    blocks = ratings.blocks(found.results)
    for seat in range(found.casting.seats):
        own = [fmean(game.shares[seat] for game in block) for block in blocks]
        mean = fmean(own)
        variance = sum((v - mean) ** 2 for v in own) / max(1, len(own) - 1)
        error = LEVEL * math.sqrt(variance / len(own)) if variance else math.nan
        axes.bar(seat + 1, mean, yerr=None if math.isnan(error) else error, capsize=4, alpha=0.7)
    axes.axhline(1 / found.casting.seats, color="grey", linewidth=0.8)
    axes.set(xlabel="seat", ylabel="share of the win", xticks=range(1, found.casting.seats + 1))
    axes.set_ylim(bottom=0)
