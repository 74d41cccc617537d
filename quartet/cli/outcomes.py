"""The outcome of tournaments and sequential tests, finished or not, as text and as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.progress import track

from quartet.arena import catalogue, ratings
from quartet.arena.outcome import Outcome
from quartet.arena.ratings import Rating
from quartet.arena.records import Records
from quartet.arena.sprt import Decision, Sprt
from quartet.arena.standings import by_seat
from quartet.cli import tables
from quartet.cli.run_options import RunOptions

WORDS = {
    None: "inconclusive",
    Decision.H0: "H0 accepted: the new version is not stronger by the tested amount",
    Decision.H1: "H1 accepted: the new version is stronger",
}


def finish(settings: RunOptions, records: Records, found: Outcome, decision: str) -> None:
    """Print the outcome of a run, and write its experiment page if --note asks for it.

    Args:
        settings: The options of the run.
        records: Its open folder.
        found: Its outcome.
        decision: The decision for the page.
    """
    if settings.as_json:
        print(json.dumps(figures(found, records.folder, silent=True), indent=2))
    else:
        console = tables.wide(Console(highlight=False))
        show(console, found, records.folder, silent=settings.is_silent)
    settings.keep_note(
        records,
        len(found.results),
        lambda page: show(page, found, records.folder, silent=True),
        decision,
    )


def show(console: Console, found: Outcome, folder: Path, *, silent: bool) -> None:
    """Print a run; when `silent`, without progress of the ratings."""
    config = found.config
    if found.test is not None:
        console.print(test_text(found.test, found.scores), soft_wrap=True)
        console.print(table(found))
    else:
        rated, complaint = _rated(found, silent=silent)
        console.print(
            f"{config.game}, {found.plan.pairing}: {len(found.results)} games, seed {config.seed}",
            style="bold",
        )
        extra = found.tie_breaks
        if rated is not None:
            extra = {
                "Elo": [tables.elo_text(rating.elo) for rating in rated],
                "95 %": [tables.interval(rating) for rating in rated],
                **extra,
            }
        console.print(tables.table(found.results, found.names, found.order, extra))
        if complaint:
            console.print(complaint, markup=False)
    console.print(f"records: {folder}", soft_wrap=True, markup=False)


def table(found: Outcome) -> RenderableType:
    """Return the table of a running run, without ratings, which take long."""
    return tables.table(found.results, found.names, found.order, {})


def figures(found: Outcome, folder: Path, *, silent: bool) -> dict[str, Any]:
    """Return a run as JSON can hold it."""
    facts: dict[str, Any] = {
        "game": found.config.game,
        "folder": str(folder),
        "games": len(found.results),
    }
    if found.test is not None:
        return {
            **facts,
            **catalogue.test_figures(found.test, found.scores),
            "players": catalogue.figures(found.results, found.names, None),
        }
    rated, complaint = _rated(found, silent=silent)
    return {
        **facts,
        "ranking": [found.names[player] for player in found.order],
        "players": catalogue.figures(found.results, found.names, rated),
        "seat_shares": by_seat(found.results),
        "note": complaint,
    }


def test_text(test: Sprt, scores: Sequence[float]) -> str:
    """Return the state of a sequential test in three lines."""
    state = test.state(scores)
    counts = {score: count for score, count in test.counts(scores).items() if count}
    by_score = ", ".join(f"{score:g}: {count}" for score, count in counts.items())
    mean = sum(scores) / len(scores) if scores else float("nan")
    elo = ""
    if test.seats == 2 and scores:
        rating = ratings.elo(counts)
        elo = f", Elo {tables.elo_text(rating.elo)} ({tables.interval(rating)})"
    return (
        f"{WORDS[state.decision]}\n"
        f"LLR {state.ratio:.3f} ({state.lower:.3f}, {state.upper:.3f}) of a mean score of "
        f"{test.s1:.4f} against {test.s0:.4f}\n"
        f"{len(scores)} blocks, mean score {mean:.4f}{elo}; "
        f"blocks by score: {by_score or 'none'}"
    )


def _rated(found: Outcome, *, silent: bool) -> tuple[list[Rating] | None, str | None]:
    """Return the ratings of a tournament's players, and why there are none."""
    resamples = track(
        range(ratings.RESAMPLES),
        "rating",
        console=Console(stderr=True),
        transient=True,
        disable=silent or not sys.stderr.isatty(),
    )
    return found.rate(resamples)
