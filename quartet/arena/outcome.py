"""The outcome of a run, from its records alone: `tournament`, `sprt` and `runs` print the same."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from core.errors import QuartetError, TextError
from quartet.arena import gauntlet, schedule, swiss
from quartet.arena import ratings as rating
from quartet.arena.config import RunConfig
from quartet.arena.files import write_whole
from quartet.arena.gauntlet import OpponentGroup
from quartet.arena.ratings import Rating
from quartet.arena.schedule import TournamentPlan
from quartet.arena.sprt import Sprt, block_score, expected_score
from quartet.arena.standings import points_against, standings
from quartet.arena.unit import GameResult
from quartet.judge import game as games
from quartet.judge.turn import UNREADABLE

TEST = "test.json"
"""The file in the folder of a sequential test with the hypotheses of the last command. The same
games can be tested again with others."""
FAIR_STEP = 0.05
"""Default of the second hypothesis for more than two seats: this much above the fair win share."""
USUAL_ELO = 10.0
"""Default of the second hypothesis for two seats."""


@dataclass
class Outcome:
    """A run, finished or not.

    Attributes:
        config: The settings.
        kind: "tournament", "sprt", "gauntlet" or "exam".
        results: The games that count, in the order of the schedule.
        recorded: Games on record, including those that do not count.
        plan: Who meets whom in a tournament.
        groups: The opponents of a gauntlet.
        test: The hypotheses of a sequential test.
        scores: Scores of its complete blocks, up to the block that decided it.
        played: The rounds of Swiss that ended.
    """

    config: RunConfig
    kind: str
    results: Sequence[GameResult]
    recorded: int
    plan: TournamentPlan = TournamentPlan()  # noqa: RUF009  (frozen)
    groups: Sequence[OpponentGroup] = ()
    test: Sprt | None = None
    scores: list[float] = field(default_factory=list)
    played: list[swiss.Round] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """Names of the players."""
        return self.config.names

    @property
    def total(self) -> int | None:
        """Games of the run, None for a sequential test."""
        if self.groups:
            return gauntlet.total(self.groups)
        return self.plan.total(self.config) if self.kind == "tournament" else None

    @property
    def finished(self) -> bool:
        """Return True if the run needs no more games."""
        if self.test is not None:
            return self.test.state(self.scores).decision is not None
        return self.total is not None and self.recorded >= self.total

    @property
    def order(self) -> list[int]:
        """The players, the best first, by the rules of the pairing; NEW and OLD of a test."""
        players = len(self.names)
        if self.kind == "sprt":
            return [0, 1]
        if self.plan.pairing == "swiss":
            return [place.player for place in swiss.ranking(players, self.played)]
        if self.plan.pairing == "roundrobin" and self.config.seats == 2:
            points, _ = points_against(self.results, players)
            tie_break = swiss.sonneborn_berger(points)
            return sorted(range(players), key=lambda c: (-sum(points[c]), -tie_break[c], c))
        return by_share(self.results, players)

    @property
    def tie_breaks(self) -> dict[str, list[str]]:
        """Columns of the table that explain the order of equal scores."""
        players = len(self.names)
        if self.plan.pairing == "swiss":
            places = sorted(swiss.ranking(players, self.played), key=lambda place: place.player)
            return {
                "rounds won": [str(place.won) for place in places],
                "opponents": [f"{place.opponents:g}" for place in places],
                "early": [f"{place.early:g}" for place in places],
                "opp. early": [f"{place.opponents_early:g}" for place in places],
            }
        if self.plan.pairing == "roundrobin" and self.config.seats == 2 and players > 2:
            tie_break = swiss.sonneborn_berger(points_against(self.results, players)[0])
            return {"SB": [f"{value:g}" for value in tie_break]}
        return {}

    def rate(self, resamples: Iterable[int]) -> tuple[list[Rating] | None, str | None]:
        """Return the ratings of all players, and why there are none.

        Each of two players has the difference to the other. In a gauntlet, only the measured player
        has a rating.

        Args:
            resamples: As for `plackett_luce`.
        """
        seats, players = self.config.seats, len(self.names)
        if not self.results or (self.kind == "sprt" and seats > 2):
            return None, None
        if self.groups:
            own = gauntlet.rate(self.results, seats).rating
            unknown = Rating(math.nan, -math.inf, math.inf)
            return [own, *[unknown] * (players - 1)], None
        if seats == players == 2:
            blocks = rating.blocks(self.results)
            first = rating.elo(rating.pair_scores([[g.share_of(0) for g in b] for b in blocks]))
            return [first, Rating(-first.elo, -first.high, -first.low)], None
        blocks = rating.blocks(self.results)
        try:
            rated = rating.plackett_luce(
                blocks, players, resamples=resamples, seed=self.config.seed
            )
        except QuartetError as error:
            return None, str(error)
        return rated, None


def of_records(
    plan: Mapping[str, Any], results: Sequence[GameResult], test: Sprt | None = None
) -> Outcome:
    """Return the outcome of a run from its plan and the games on record.

    Args:
        plan: Content of run.json.
        results: The games on record.
        test: Hypotheses of a sequential test, None for the default ones.

    Raises:
        TextError: The plan is not of a run with a table of players, or of other games.
    """
    try:
        kind, config = plan["kind"], RunConfig.read(plan)
        tournament = msgspec.convert(plan, TournamentPlan)
        groups = _groups(kind, plan.get("tables", []))
    except (KeyError, IndexError, TypeError, ValueError, msgspec.ValidationError) as error:
        raise TextError(f"this is no plan of a run that can be shown: {error}") from error
    ordered = sorted(results, key=lambda result: result.number)
    planned = len(gauntlet.blocks_of(groups))
    if groups and any(game.block >= planned or 0 not in game.seats for game in ordered):
        raise TextError("the games on record are not those of the plan")
    for game in ordered:
        if len(game.seats) != config.seats:
            raise TextError(f"game {game.number} has {len(game.seats)} seats, not {config.seats}")
    if groups:
        tournament = msgspec.structs.replace(tournament, pairing="gauntlet")
    found = Outcome(config, kind, ordered, len(ordered), tournament, groups)
    if ordered and found.total is not None and ordered[-1].number >= found.total:
        raise TextError(f"game {ordered[-1].number} is not one of the plan's {found.total} games")
    known = {result.number: result for result in ordered}
    if kind == "sprt":
        found.test = test or usual_test(config.seats)
        blocks = schedule.complete_blocks(known, schedule.sprt_block_size(config.seats))
        scores = [block_score(block) for block in blocks]
        end = found.test.end(scores)
        found.scores = scores[:end]
        found.results = [game for game in ordered if end is None or game.block < end]
    elif tournament.pairing == "swiss":
        for unit in tournament.schedule(config, known, found.played):
            if unit is schedule.WAIT:
                break
    return found


def _groups(kind: str, tables: Sequence[Any]) -> list[OpponentGroup]:
    """Return the opponents of a plan; tables without names are one group.

    Raises TypeError, ValueError or IndexError if these are no tables.
    """
    named = tables if tables and isinstance(tables[0][0], str) else [(kind, tables)]
    return [
        OpponentGroup(name, [tuple(map(int, table)) for table in drawn])
        for name, drawn in named
        if drawn
    ]


def seats_of(plan: Mapping[str, Any]) -> int:
    """Return the seats of a run's game. Raises UnknownNameError and TextError."""
    if not isinstance(plan.get("game"), str):
        raise TextError("this is no plan of a run that can be shown: it names no game")
    return games.load(plan["game"]).info.players


def usual_test(seats: int) -> Sprt:
    """Return the test of `quartet sprt` without options."""
    if seats == 2:
        return Sprt(seats, expected_score(0), expected_score(USUAL_ELO))
    return Sprt(seats, 1 / seats, 1 / seats + FAIR_STEP)


def keep_test(folder: Path, test: Sprt) -> None:
    """Write the hypotheses of a test into its folder. Raises QuartetError."""
    data = {"s0": test.s0, "s1": test.s1, "alpha": test.alpha, "beta": test.beta}
    try:
        write_whole(folder / TEST, msgspec.json.encode(data) + b"\n")
    except OSError as error:
        raise QuartetError(f"cannot write {folder / TEST}: {error.strerror}") from error


def read_test(folder: Path, seats: int) -> Sprt | None:
    """Return the hypotheses in a folder, None if there are none. Raises TextError."""
    try:
        data = msgspec.json.decode((folder / TEST).read_bytes(), type=dict[str, float])
        return Sprt(seats, data["s0"], data["s1"], data["alpha"], data["beta"])
    except OSError:
        return None
    except (*UNREADABLE, KeyError) as error:
        raise TextError(f"{folder / TEST} cannot be read: {error}") from error


def by_share(results: Sequence[GameResult], players: int) -> list[int]:
    """Return the players by their win share, the best first; equal ones by their points against
    the others."""
    lines = standings(results, players)
    points = [sum(row) for row in points_against(results, players)[0]]
    lines.sort(key=lambda line: (-line.share, -points[line.player]) if line.games else (0.0, 0.0))
    return [line.player for line in lines]
