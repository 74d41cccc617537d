"""What lies in the folders of runs, finished or not, and what it comes to; it reads records only."""

from __future__ import annotations

import datetime as dt
import math
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from core.errors import QuartetError, TextError
from quartet.arena import exam, outcome, records, tuning
from quartet.arena.files import is_held
from quartet.arena.standings import standings
from quartet.judge.turn import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from quartet.arena.outcome import Outcome
    from quartet.arena.ratings import Rating
    from quartet.arena.sprt import Sprt
    from quartet.arena.unit import GameResult

RESULTS = {
    "win": lambda share: share == 1,
    "draw": lambda share: 0 < share < 1,
    "loss": lambda share: share == 0,
}
"""Results of a player, by its share of the win."""


@dataclass
class Run:
    """A folder of records.

    Attributes:
        folder: Path.
        plan: dict[str, Any]; of run.json, or of plan.json.
        results: list[GameResult]; on record. live: int; games that go on.
        going: bool; whether a process plays it now.
        samples: int; games on record; units of self-play, of a review, of a calibration, where it
            is that.
    """

    folder: Path
    plan: dict[str, Any]
    results: list[GameResult]
    live: int = 0
    going: bool = False
    samples: int = 0

    @property
    def kind(self) -> str:
        """Of the plan."""
        return str(self.plan.get("kind", "?"))

    @property
    def shown(self) -> bool:
        """Whether it has games and a table."""
        return self.kind in {"tournament", "sprt", "exam", "gauntlet"}

    def outcome(self) -> Outcome:
        """What it has come to. Raises TextError."""
        if not self.shown:
            raise TextError(f"{self.folder} is a run of {self.kind}, which has no table of players")
        seats = outcome.seats_of(self.plan)
        test = outcome.read_test(self.folder, seats) if self.kind == "sprt" else None
        return outcome.of_records(self.plan, self.results, test)


class Filter(msgspec.Struct, frozen=True):
    """Which games are meant; None: all.

    Attributes:
        player: str | None. result: str | None; of that player, a key of RESULTS.
        forfeit: bool; only games with a forfeited turn (of that player).
        opening: int | None; the seed. least, most: int | None; plies.
    """

    player: str | None = None
    result: str | None = None
    forfeit: bool = False
    opening: int | None = None
    least: int | None = None
    most: int | None = None

    def takes(self, game: GameResult, names: Sequence[str]) -> bool:
        """Whether a game is meant."""
        seats = [s for s, p in enumerate(game.seats) if self.player in {None, names[p]}]
        if not seats:
            return False
        if self.result and not any(RESULTS[self.result](game.shares[s]) for s in seats):
            return False
        if self.forfeit and not any(foul.seat in seats for foul in game.fouls):
            return False
        if self.opening is not None and game.seed != self.opening:
            return False
        return (self.least or 0) <= game.plies <= (self.most or game.plies)


def is_run(folder: Path) -> bool:
    """Whether a folder holds the records of a run."""
    return any((folder / name).is_file() for name in ("run.json", "plan.json"))


def read(folder: Path) -> Run:
    """The records in a folder. Raises QuartetError and TextError."""
    going = is_going(folder)
    if not (folder / "run.json").is_file():
        try:
            plan = msgspec.json.decode((folder / "plan.json").read_bytes(), type=dict[str, Any])
        except OSError as error:
            raise QuartetError(f"{folder} holds no records of a run: {error.strerror}") from error
        except UNREADABLE as error:
            raise TextError(f"{folder} holds records that cannot be read: {error}") from error
        units = sum(1 for path in folder.iterdir() if path.suffix == ".samples")
        if (folder / records.LINES).is_file():
            units = (folder / records.LINES).read_bytes().count(b"\n")
        return Run(folder, plan, [], going=going, samples=units)
    plan, results = records.read(folder)
    live = folder / records.LIVE
    number = sum(1 for _ in live.glob("*.jsonl")) if going and live.is_dir() else 0
    return Run(folder, plan, results, number, going, len(results))


def state_of(run: Run, found: Outcome | None) -> str:
    """Whether a run goes on, in a word or two."""
    if run.going:
        return "goes on"
    units = units_of(run.plan) if found is None else None
    whole = found.finished if found is not None else units is not None and run.samples >= units
    return "finished" if whole else "stopped"


def listed(path: Path, run: Run, found: Outcome | None) -> dict[str, Any]:
    """What a list of runs says of one.

    Args:
        path: Path; its folder. run: Run; read from there. found: Outcome | None; what it has come
            to, where it has games.
    """
    last = dt.datetime.fromtimestamp(last_change(path), dt.UTC)
    line: dict[str, Any] = {
        "kind": run.kind,
        "game": run.plan.get("game", "?"),
        "players": found.names if found else [],
        "games": len(run.results) if found else run.samples,
        "of": found.total if found else units_of(run.plan),
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
    """When something in a folder has changed, in seconds as of `time.time`."""
    times = []
    for entry in folder.iterdir():
        with suppress(OSError):  # it has just gone
            times.append(entry.stat().st_mtime)
    return max(times, default=0.0)


def is_going(folder: Path) -> bool:
    """Whether a process plays the run now; for that its lock is held for a moment."""
    return is_held(folder / "lock")


def units_of(plan: Mapping[str, Any]) -> int | None:
    """All units of a review or a calibration, None where the plan does not say."""
    logs = plan.get("logs")
    if isinstance(logs, list):
        return len(logs)
    games = plan.get("games")
    return games if isinstance(games, int) else None


def _in_short(found: Outcome) -> str:
    if found.test is not None:
        state = found.test.state(found.scores)
        return f"LLR {state.ratio:.2f}{f', {state.decision.value}' if state.decision else ''}"
    if found.halves:
        return ", ".join(
            f"{name} {100 * line.share:.1f} %"
            for name, line in exam.by_half(found.results, found.halves).items()
            if line.games
        )
    best = found.order[0]
    return f"{found.names[best]} leads"


def live_games(folder: Path) -> list[tuple[int, int]]:
    """Games that go on, and their turns so far."""
    found = []
    for path in sorted((folder / records.LIVE).glob("*.jsonl")):
        try:
            found.append((int(path.stem), max(0, path.read_bytes().count(b"\n") - 1)))
        except (OSError, ValueError):  # it has just ended
            continue
    return found


def by_opening(
    games: Sequence[GameResult], found: Outcome, player: str | None
) -> list[dict[str, Any]]:
    """The mean share of a player (by default the best one) from every opening, the worst first."""
    who = found.names.index(player) if player is not None else found.order[0]
    shares: dict[int, list[float]] = defaultdict(list)
    plies: dict[int, list[int]] = defaultdict(list)
    for game in games:
        for seat, sitting in enumerate(game.seats):
            if sitting == who:
                shares[game.seed].append(game.shares[seat])
                plies[game.seed].append(game.plies)
    lines = [
        {
            "opening": seed,
            "player": found.names[who],
            "games": len(own),
            "share": round(sum(own) / len(own), 4),
            "plies": round(sum(plies[seed]) / len(own), 1),
        }
        for seed, own in shares.items()
    ]
    return sorted(lines, key=lambda line: (line["share"], line["opening"]))


def points_against(
    games: Sequence[GameResult], players: int
) -> tuple[list[list[float]], list[list[int]]]:
    """Points of everybody (row) beside everybody (column), and in how many seats of games."""
    points = [[0.0] * players for _ in range(players)]
    number = [[0] * players for _ in range(players)]
    for game in games:
        for seat, player in enumerate(game.seats):
            for other, sitting in enumerate(game.seats):
                if seat != other:
                    points[player][sitting] += game.shares[seat]
                    number[player][sitting] += 1
    return points, number


def figures(
    results: Sequence[GameResult], names: Sequence[str], ratings: Sequence[Rating] | None
) -> list[dict[str, Any]]:
    """Everybody's figures for machines; None for what is not known."""
    found = []
    for line in standings(results, len(names)):
        rating = None if ratings is None else ratings[line.player]
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
    """Where a sequential test stands, by the scores of its blocks, for machines."""
    state = test.state(scores)
    return {
        "decision": None if state.decision is None else state.decision.value,
        "llr": state.ratio,
        "bounds": [state.lower, state.upper],
        "scores": [test.s0, test.s1],
        "blocks": len(scores),
        "mean": known(sum(scores) / len(scores)) if scores else None,
        "counts": {f"{score:g}": count for score, count in test.counts(scores).items()},
    }


def known(value: float) -> float | None:
    """The value, None where it is no number: JSON has neither nan nor infinity."""
    return value if math.isfinite(value) else None
