"""What a run has come to, for people and for machines: of tournaments and sequential tests,
finished or not."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from rich.console import Console, RenderableType
from rich.progress import track

from quartet.arena import outcome, ratings, runs
from quartet.arena.sprt import Decision
from quartet.arena.standings import by_seat
from quartet.cli import tables

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from quartet.arena.outcome import Outcome
    from quartet.arena.ratings import Rating
    from quartet.arena.sprt import Sprt

WORDS = {
    None: "undecided",
    Decision.H0: "H0 accepted: the new version is not stronger by as much as was asked for",
    Decision.H1: "H1 accepted: the new version is stronger",
}


def show(console: Console, found: Outcome, folder: Path, *, silent: bool) -> None:
    """Print a run."""
    rated, complaint = _rated(found, silent=silent)
    casting = found.casting
    if found.test is not None:
        console.print(test_text(found.test, found.scores), soft_wrap=True)
        console.print(tables.table(found.results, found.names, found.order, {}))
    else:
        console.print(
            f"{casting.game}, {found.pairing}: {len(found.results)} games, seed {casting.seed}",
            style="bold",
        )
        ties = outcome.tie_breaks(found.results, casting, found.pairing, found.played)
        extra = {**tables.rating_columns(rated), **ties}
        console.print(tables.table(found.results, found.names, found.order, extra))
    if complaint:
        console.print(complaint, markup=False)
    console.print(f"records: {folder}", soft_wrap=True)


def table(found: Outcome) -> RenderableType:
    """The standing while games go on, without ratings that take long."""
    return tables.table(found.results, found.names, found.order, {})


def figures(found: Outcome, folder: Path, *, silent: bool) -> dict[str, Any]:
    """The same for machines."""
    facts: dict[str, Any] = {
        "game": found.casting.game,
        "folder": str(folder),
        "games": len(found.results),
    }
    if found.test is not None:
        return {
            **facts,
            **runs.test_figures(found.test, found.scores),
            "players": runs.figures(found.results, found.names, None),
        }
    rated, complaint = _rated(found, silent=silent)
    return {
        **facts,
        "ranking": [found.names[player] for player in found.order],
        "players": runs.figures(found.results, found.names, rated),
        "seat_shares": by_seat(found.results),
        "note": complaint,
    }


def test_text(test: Sprt, scores: Sequence[float]) -> str:
    """Where a sequential test stands, in three lines."""
    state = test.state(scores)
    counts = test.counts(scores)
    said = ", ".join(f"{score:g}: {count}" for score, count in counts.items() if count)
    elo = ""
    if test.seats == 2 and scores:
        found = ratings.elo({score: count for score, count in counts.items() if count})
        elo = f", Elo {tables.elo_text(found.elo)} ({tables.interval(found)})"
    return (
        f"{WORDS[state.decision]}\n"
        f"LLR {state.ratio:.3f} ({state.lower:.3f}, {state.upper:.3f}) of a mean score of {test.s1:.4f} "
        f"against {test.s0:.4f}\n"
        f"{len(scores)} blocks, mean score {_mean(scores):.4f}{elo}; "
        f"blocks by score: {said or 'none'}"
    )


def _mean(scores: Sequence[float]) -> float:
    """nan without any."""
    return sum(scores) / len(scores) if scores else float("nan")


def _rated(found: Outcome, *, silent: bool) -> tuple[list[Rating] | None, str | None]:
    if found.test is not None:
        return None, None
    resamples = track(
        range(ratings.RESAMPLES),
        "rating",
        console=Console(stderr=True),
        transient=True,
        disable=silent or not sys.stderr.isatty(),
    )
    return found.rate(resamples)
