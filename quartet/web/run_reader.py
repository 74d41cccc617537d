"""One run's folder as the page shows it. Records are only read, and only after a change."""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec

from core.errors import QuartetError
from quartet.arena import catalogue, outcome, records, tuning
from quartet.arena.catalogue import RecordedRun, known
from quartet.arena.curves import Curve, curves
from quartet.arena.outcome import Outcome
from quartet.arena.ratings import RESAMPLES, Rating
from quartet.arena.records import Records
from quartet.arena.standings import by_seat, points_against
from quartet.arena.store import PLANS, ResultStore, read_plan
from quartet.arena.unit import GameResult
from quartet.judge import game as games
from quartet.judge.process.words import printable
from quartet.web import views
from quartet.web.errors import Refused
from quartet.web.payloads import MAX_GAMES, GamesRequest
from quartet.web.sources import checked

LOCK_EVERY = 5.0
"""Seconds between two checks whether a process plays a run. A check holds the run's lock
briefly."""
SMALL = 2**20
"""Bytes of records that are read for the list of runs alone."""
REMARK = re.compile(r"ply (\d+), (.*?): (.*)")
"""A line of the record of standard error: ply, player and text."""
FILES = (
    *PLANS,
    *(Records.LINES, ResultStore.LINES),
    *(outcome.TEST, tuning.TRAJECTORY),
)
"""Files whose change shows in the page."""


class RunReader:
    """A run. Its methods are slow; call them in threads.

    Attributes:
        folder: The run's folder.
        name: The folder's name.
        changed: Number of times that something new was found.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.name = folder, folder.name
        self.changed = 0
        self._lock = threading.RLock()
        self._stamp: tuple[Any, ...] = ()
        self._run = RecordedRun(folder, {}, [])
        self._active = (float("-inf"), False)
        self._outcome: Outcome | None = None
        self._rated: tuple[list[Rating] | None, str | None] | None = None
        self._shown: views.Json = {}

    def refresh(self) -> RecordedRun:
        """Read what is new, and return the run. Raises QuartetError."""
        with self._lock:
            active = self._is_active()
            files = [_stamp(self.folder / name) for name in FILES]
            stamp = (active, *files, len(self.live()) if active else 0)
            if stamp != self._stamp:
                self._run = catalogue.read(self.folder, active)
                self._stamp = stamp
                self._outcome, self._rated, self._shown = None, None, {}
                self.changed += 1
            return self._run

    def line(self) -> views.Json:
        """Return the run's line in the list."""
        with self._lock:
            try:
                if self._stamp or sum(_stamp(self.folder / name)[0] for name in FILES) <= SMALL:
                    found = catalogue.listed(self.folder, self.refresh(), self._found())
                else:
                    found = self._counted()
            except QuartetError as error:
                found = {"kind": "?", "state": str(error)}
        default = {"game": "?", "players": [], "games": 0, "of": None, "last": "", "outcome": ""}
        return {**default, **found, "name": self.name}

    def shown(self) -> views.Json:
        """Return the run as the page shows it. Raises QuartetError."""
        with self._lock:
            found = self._found()
            self._shown = self._shown or self._make(found)
            return {**self._shown, "live": self.live()}

    def rate(self) -> None:
        """Compute the ratings of a finished run; that can take long."""
        found = self._found()
        if found is None or self._rated is not None or self._run.active or not found.results:
            return
        rated = found.rate(range(RESAMPLES))
        with self._lock:
            if found is self._outcome:
                self._rated, self._shown = rated, {}
                self.changed += 1

    def games(self, payload: GamesRequest) -> views.Json:
        """Return a page of the run's games. Raises QuartetError."""
        found = self._found()
        if found is None:
            raise Refused("this run has no games", 404)
        if payload.result is not None and payload.player is None:
            raise Refused("a result needs a player", 400)
        if payload.player is not None and payload.player not in found.names:
            raise Refused(f"no player is called {payload.player[:40]!r}", 404)
        taken = [game for game in self._run.results if payload.takes(game, found.names)]
        taken.sort(key=attrgetter(payload.sort), reverse=payload.order == "desc")
        offset, limit = max(0, payload.offset), min(max(0, payload.limit), MAX_GAMES)
        page = taken[offset : offset + limit]
        return {"total": len(taken), "games": [_game(game, found.names) for game in page]}

    def series(self) -> views.Json:
        """Return the curves of the run. Raises QuartetError."""
        found = self._found()
        drawn = curves(found) if found is not None else self._parameters()
        if found is None and not drawn:
            raise Refused("this run has no curves", 404)
        return {
            "curves": [
                {
                    "name": curve.name,
                    "unit": curve.unit,
                    "games": [round(x, 2) for x in curve.games],
                    "values": list(map(known, curve.values)),
                    "low": list(map(known, curve.low)) or None,
                    "high": list(map(known, curve.high)) or None,
                    "bounds": curve.bounds,
                }
                for curve in drawn
            ]
        }

    def live(self) -> list[views.Json]:
        """Return the running games."""
        return [{"number": n, "turns": t} for n, t in catalogue.live_games(self.folder)]

    def log(self, number: int) -> tuple[bytes, bool]:
        """Return the log of a game, and whether the game is running. Raises Refused."""
        for name, is_running in (
            (records.log_name(number), False),
            (records.live_name(number), True),
        ):
            with suppress(OSError):
                return (self.folder / name).read_bytes(), is_running
        raise Refused(f"there is no game {number} in this run", 404)

    def end(self, number: int) -> views.Json | None:
        """Return how a game ended, None if it is not recorded. Raises QuartetError."""
        result = self._result(number)
        if result is None:
            return None
        return {name: getattr(result, name) for name in ("scores", "places", "shares", "reason")}

    def view(self, number: int) -> views.Json:
        """Return a game as browsers show it. Raises QuartetError."""
        found, match = checked(self.log(number)[0])
        shown = views.of_log(found, match, self.clocks(number, match.names))
        self._complete(shown, number)
        return {"source": {"run": self.name, "number": number}, **shown}

    def _complete(self, view: views.Json, number: int) -> None:
        """Add to the view of a log what only the run's records have.

        That is the players' names, the reason of the end, and what programs wrote on standard
        error.
        """
        result = self._result(number)
        if result is None:
            return
        listed = [player["name"] for player in self._run.plan["players"]]
        view["players"] = names = [listed[player] for player in result.seats]
        view["result"] = {**(view["result"] or {}), **(self.end(number) or {})}
        try:
            text = (self.folder / records.stderr_name(number)).read_text("utf-8", "replace")
        except OSError:
            return
        turns = {turn["ply"]: turn for turn in view["turns"]}
        for remark in map(REMARK.match, text.splitlines()):
            turn = remark and turns.get(int(remark[1]))
            if remark and turn and len(turn["said"]) < views.MAX_LINES:
                seat = turn["seat"]  # a player may sit on several seats
                if names[seat] != remark[2]:
                    seat = names.index(remark[2]) if remark[2] in names else 0
                turn["said"].append([seat, printable(remark[3])])

    def clocks(self, number: int, names: Sequence[str | None]) -> list[float | None]:
        """Return the clock of each seat of a game in milliseconds, None if it is not known.

        `names` are the players in a log of the game: it is not recorded while it is running.
        """
        result, players = self._result(number), self._run.plan.get("players", [])
        if result is not None:
            return [players[player].get("ms") for player in result.seats]
        own = {player["name"]: player.get("ms") for player in players}
        return [own.get(name) for name in names]

    def commands(self) -> dict[str, str]:
        """Return the players' commands, by name. Raises QuartetError."""
        return {p["name"]: p["command"] for p in self.refresh().plan.get("players", [])}

    def _result(self, number: int) -> GameResult | None:
        return next((game for game in self.refresh().results if game.number == number), None)

    def _parameters(self) -> list[Curve]:
        """Return the parameters of a tuning as curves. Raises QuartetError."""
        steps = tuning.read(self.folder)
        plays = [float(step.games) for step in steps]
        return [
            Curve(name, "parameter", plays, [s.values.get(name, math.nan) for s in steps], [], [])
            for name in (steps[0].values if steps else {})
        ]

    def _is_active(self) -> bool:
        """Return True if a process plays the run."""
        checked, active = self._active
        if time.monotonic() > checked + LOCK_EVERY:
            active = catalogue.is_active(self.folder)
            self._active = time.monotonic(), active
        return active

    def _counted(self) -> views.Json:
        """Return the line of a run with too many records to read them all."""
        plan = {**read_plan(self.folder / Records.PLAN), "games": None}  # the total is unknown
        names = [player["name"] for player in plan.get("players", [])]
        number = (self.folder / Records.LINES).read_bytes().count(b"\n")
        run = RecordedRun(self.folder, plan, [], active=self._is_active(), samples=number)
        return {**catalogue.listed(self.folder, run, None), "players": names}

    def _found(self) -> Outcome | None:
        """Return the outcome so far, None if the run has no games. Raises QuartetError."""
        with self._lock:
            run = self.refresh()
            if self._outcome is None and run.shown:
                self._outcome = run.outcome()
            return self._outcome

    def _make(self, found: Outcome | None) -> views.Json:
        run = self._run
        game = run.plan.get("game")
        shown: views.Json = {
            "name": self.name,
            "kind": run.kind,
            "game": game,
            "title": games.load(game).info.title if isinstance(game, str) and game else "",
            "state": catalogue.state_of(run, found),
            "recorded": len(run.results) if found is not None else run.samples,
            "of": catalogue.units_of(run, found),
            "plan": run.plan,
            "standings": [],
            "crosstable": [],
            "test": None,
            "by_seat": [],
            "note": None,
        }
        if found is None:
            return shown
        is_pair = found.config.seats == 2 and len(found.names) == 2
        if self._rated is None and (is_pair or found.kind == "sprt"):
            self._rated = found.rate(())  # quick: a pair needs no resamples
        rated, note = self._rated or (None, None)
        points, number = points_against(found.results, len(found.names))
        figures = catalogue.figures(found.results, found.names, rated)
        shown |= {
            "standings": [
                {"rank": rank, **figures[player]} for rank, player in enumerate(found.order, 1)
            ],
            "names": found.names,
            "crosstable": [
                [{"points": p, "games": n} if n else None for p, n in zip(row, counts, strict=True)]
                for row, counts in zip(points, number, strict=True)
            ],
            "by_seat": by_seat(found.results),
            "note": note,
        }
        if found.test is not None:
            shown["test"] = catalogue.test_figures(found.test, found.scores)
        return shown


def _stamp(file: Path) -> tuple[int, int, int]:
    """Return size, time and inode of a file; zeros if there is none."""
    try:
        about = file.stat()
    except OSError:
        return 0, 0, 0
    return about.st_size, about.st_mtime_ns, about.st_ino


def _game(game: GameResult, names: list[str]) -> views.Json:
    """Return a game as a line of the list."""
    players = [names[player] for player in game.seats]
    forfeits = [{**msgspec.structs.asdict(f), "player": players[f.seat]} for f in game.forfeits]
    return {
        "number": game.number,
        "opening": game.seed,
        "players": players,
        "shares": game.shares,
        "scores": game.scores,
        "plies": game.plies,
        "seconds": round(game.seconds, 3),
        "reason": game.reason,
        "forfeits": forfeits,
    }
