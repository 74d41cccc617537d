"""The runs in a folder, finished or not, and their figures. Records are read only."""

from __future__ import annotations

import datetime as dt
import math
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec

from core.errors import TextError
from quartet.arena import gauntlet, outcome, ratings, records, tuning
from quartet.arena.files import is_held
from quartet.arena.outcome import Outcome
from quartet.arena.ratings import Rating
from quartet.arena.records import Records
from quartet.arena.sprt import Sprt
from quartet.arena.standings import standings
from quartet.arena.store import PLANS, SELFPLAY_GAMES, ResultStore, read_goal, read_plan
from quartet.arena.unit import GameResult

RESULTS: dict[str, Callable[[float], bool]] = {
    "win": lambda share: share == 1,
    "draw": lambda share: 0 < share < 1,
    "loss": lambda share: share == 0,
}
"""A player's results, by its win share."""
ACTIVE = "goes on"
"""The state of a run that a process is playing, as JSON has it."""


@dataclass
class RecordedRun:
    """A run's folder.

    Attributes:
        folder: The folder.
        plan: The plan.
        results: The games on record.
        live: Number of running games.
        active: A process is playing the run now.
        samples: Units on record: games, or units of a review or of a calibration.
        goal: Units that the last command asked for, if the plan leaves that open.
    """

    folder: Path
    plan: dict[str, Any]
    results: list[GameResult]
    live: int = 0
    active: bool = False
    samples: int = 0
    goal: int | None = None

    @property
    def kind(self) -> str:
        """The command that made the run, "?" if the plan does not say."""
        return str(self.plan.get("kind", "?"))

    @property
    def shown(self) -> bool:
        """Return True if the run has games and a table of players."""
        return self.kind in {"tournament", "sprt", "exam", "gauntlet"}

    def outcome(self) -> Outcome:
        """Return the run's outcome. Raises TextError."""
        if not self.shown:
            raise TextError(f"{self.folder} is a run of {self.kind}, which has no table of players")
        seats = outcome.seats_of(self.plan)
        test = outcome.read_test(self.folder, seats) if self.kind == "sprt" else None
        try:
            return outcome.of_records(self.plan, self.results, test)
        except TextError as error:
            raise TextError(f"{self.folder}: {error}") from error


class Filter(msgspec.Struct, frozen=True):
    """Conditions that games must meet; None for no condition.

    Attributes:
        player: A player that takes part.
        result: That player's result, a key of RESULTS.
        forfeit: A turn, of that player, was forfeited.
        opening: The opening's seed.
        least: Least number of plies.
        most: Greatest number of plies.
    """

    player: str | None = None
    result: str | None = None
    forfeit: bool = False
    opening: int | None = None
    least: int | None = None
    most: int | None = None

    def takes(self, game: GameResult, names: Sequence[str]) -> bool:
        """Return True if a game meets the conditions."""
        seats = [s for s, p in enumerate(game.seats) if self.player in {None, names[p]}]
        return (
            bool(seats)
            and (not self.result or any(RESULTS[self.result](game.shares[s]) for s in seats))
            and (not self.forfeit or any(forfeit.seat in seats for forfeit in game.forfeits))
            and self.opening in {None, game.seed}
            and (self.least or 0) <= game.plies
            and (self.most is None or game.plies <= self.most)
        )


def is_run(folder: Path) -> bool:
    """Return True if a folder holds the records of a run, and may be read."""
    return any(os.path.isfile(folder / name) for name in PLANS)  # noqa: PTH113  (never raises)


def read(folder: Path, active: bool | None = None) -> RecordedRun:
    """Return the records in a folder. Raises QuartetError and TextError.

    Args:
        folder: The run's folder.
        active: True if a process plays the run; None to check its lock.
    """
    active = is_active(folder) if active is None else active
    goal = read_goal(folder)
    if not (folder / Records.PLAN).is_file():
        plan = read_plan(folder / ResultStore.PLAN)
        units = sum(1 for path in folder.iterdir() if path.suffix == ".samples")
        if plan.get("kind") == "selfplay":
            units, goal = units * SELFPLAY_GAMES, goal and goal * SELFPLAY_GAMES
        if (folder / ResultStore.LINES).is_file():
            units = (folder / ResultStore.LINES).read_bytes().count(b"\n")
        return RecordedRun(folder, plan, [], active=active, samples=units, goal=goal)
    plan, results = records.read(folder)
    live = sum(1 for _ in (folder / records.LIVE).glob("*.jsonl")) if active else 0
    return RecordedRun(folder, plan, results, live, active, len(results), goal)


def state_of(run: RecordedRun, found: Outcome | None) -> str:
    """Return ACTIVE, "finished" or "stopped"."""
    if run.active:
        return ACTIVE
    units = units_of(run, found)
    whole = (found is not None and found.finished) or (units is not None and run.samples >= units)
    return "finished" if whole else "stopped"


def listed(path: Path, run: RecordedRun, found: Outcome | None) -> dict[str, Any]:
    """Return a run's line in a list of runs.

    Args:
        path: The run's folder.
        run: The run.
        found: Its outcome, if it has games.
    """
    last = dt.datetime.fromtimestamp(last_change(path), dt.UTC)
    line: dict[str, Any] = {
        "kind": run.kind,
        "game": run.plan.get("game", "?"),
        "players": found.names if found else [],
        "games": len(run.results) if found else run.samples,
        "of": units_of(run, found),
        "state": state_of(run, found),
        "last": last.strftime("%Y-%m-%d %H:%M"),
    }
    if found is not None and found.results:
        line["outcome"] = _in_short(found)
    if run.kind == "tune" and (steps := tuning.read(path)):
        values = steps[-1].values.items()
        line["outcome"] = ", ".join(f"{name} {value:.4g}" for name, value in values)
    return line


def last_change(folder: Path) -> float:
    """Return the time of the last change in a folder, in seconds since 1970."""
    times = [0.0]
    with suppress(OSError):  # it was removed meanwhile
        for entry in folder.iterdir():
            with suppress(OSError):
                times.append(entry.stat().st_mtime)
    return max(times)


def is_active(folder: Path) -> bool:
    """Return True if a process plays the run now; takes the run's lock for a moment."""
    return is_held(folder / "lock")


def units_of(run: RecordedRun, found: Outcome | None) -> int | None:
    """Return the number of units of a run, None if it is not known.

    Args:
        run: The run.
        found: Its outcome, if it has games.
    """
    if found is not None:
        if found.total is not None:
            return found.total
        return None if run.goal is None else max(run.goal, found.recorded)
    logs = run.plan.get("logs")
    if isinstance(logs, list):
        return len(logs)
    games = run.plan.get("games")
    return games if isinstance(games, int) else run.goal


def _in_short(found: Outcome) -> str:
    if found.test is not None:
        state = found.test.state(found.scores)
        return f"LLR {state.ratio:.2f}{f', {state.decision.value}' if state.decision else ''}"
    if found.groups:
        return ", ".join(
            f"{name} {100 * score.share:.1f} %"
            for name, score in gauntlet.by_group(found.results, found.groups).items()
            if score.games
        )
    first, second = found.order[:2]
    lines = standings(found.results, len(found.names))
    if lines[first].share == lines[second].share and found.plan.pairing != "swiss":
        return "nobody leads"
    return f"{found.names[first]} leads"


def live_games(folder: Path) -> list[tuple[int, int]]:
    """Return the running games and their numbers of turns."""
    found = []
    for path in sorted((folder / records.LIVE).glob("*.jsonl")):
        with suppress(OSError, ValueError):  # it has ended meanwhile
            found.append((int(path.stem), max(0, path.read_bytes().count(b"\n") - 1)))
    return found


def by_opening(
    games: Sequence[GameResult], found: Outcome, player: str | None
) -> list[dict[str, Any]]:
    """Return the mean win share of a player (default: the best) by opening, the worst first."""
    chosen = found.names.index(player) if player is not None else found.order[0]
    seen: dict[int, list[GameResult]] = defaultdict(list)
    for game in games:
        if chosen in game.seats:
            seen[game.seed].append(game)
    lines = [
        {
            "opening": seed,
            "player": found.names[chosen],
            "games": len(own),
            "share": round(standings(own, len(found.names))[chosen].share, 4),
            "plies": round(fmean(game.plies for game in own), 1),
        }
        for seed, own in seen.items()
    ]
    return sorted(lines, key=lambda line: (line["share"], line["opening"]))


def figures(
    results: Sequence[GameResult], names: Sequence[str], rated: Sequence[Rating] | None
) -> list[dict[str, Any]]:
    """Return the figures of all players as JSON can hold them; None for what is not known."""
    found = []
    for line in standings(results, len(names)):
        rating = None if rated is None else rated[line.player]
        spent = line.use
        found.append(
            {
                "name": names[line.player],
                "games": line.games,
                "wins": line.wins,
                "draws": line.draws,
                "losses": line.losses,
                "score": line.score,
                "share": known(line.share),
                "error": known(line.error),
                "elo": None if rating is None else known(rating.elo),
                "elo95": None if rating is None else [known(rating.low), known(rating.high)],
                "first_seat_share": line.first_score / line.firsts if line.firsts else None,
                "seconds": spent.seconds,
                "turns": spent.turns,
                "longest": spent.longest,
                "depth": known(line.depth),
                "nodes_per_second": known(line.speed),
                "lost": spent.lost,
            }
        )
    return found


def test_figures(test: Sprt, scores: Sequence[float]) -> dict[str, object]:
    """Return the state of a sequential test, by the scores of its blocks, as JSON can hold it."""
    state = test.state(scores)
    counts = {score: count for score, count in test.counts(scores).items() if count}
    rating = ratings.elo(counts) if test.seats == 2 and counts else None
    return {
        "decision": None if state.decision is None else state.decision.value,
        "llr": state.ratio,
        "bounds": [state.lower, state.upper],
        "scores": [test.s0, test.s1],
        "blocks": len(scores),
        "mean": known(sum(scores) / len(scores)) if scores else None,
        "elo": None if rating is None else known(rating.elo),
        "elo95": None if rating is None else [known(rating.low), known(rating.high)],
        "counts": {f"{score:g}": count for score, count in test.counts(scores).items()},
    }


def known(value: float) -> float | None:
    """Return the value, None for nan and infinity, which JSON lacks."""
    return value if math.isfinite(value) else None
