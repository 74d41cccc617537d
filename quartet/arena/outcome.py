"""What a run has come to, from its records alone: tournament, sprt and runs print the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from core.errors import QuartetError, TextError
from quartet.arena import exam, schedule, swiss
from quartet.arena import ratings as rating
from quartet.arena.exam import Half
from quartet.arena.files import write_whole
from quartet.arena.ratings import Rating
from quartet.arena.schedule import Casting, Results, Schedule
from quartet.arena.sprt import Sprt, block_score, expected_score
from quartet.arena.standings import crosstable, standings
from quartet.arena.unit import GameResult, Player
from quartet.judge import game as games
from quartet.judge.turn import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

TEST = "test.json"
"""The file in the folder of a sequential test that has its hypotheses: the last command's, as the
same games can be tested again with others."""
FAIR_STEP = 0.05
"""The usual second hypothesis for more than two seats: so much above the fair share."""
USUAL_ELO = 10.0
"""The usual second hypothesis for two."""


@dataclass
class Outcome:
    """A run, finished or not.

    Attributes:
        casting: Casting; who plays what.
        kind: str; "tournament", "sprt", "exam" or "gauntlet".
        results: Sequence[GameResult]; those that count, in the order of the schedule.
        pairing: str; of a tournament: roundrobin, swiss or gauntlet.
        games: int; for every pair or table. rounds: int | None; of Swiss.
        orders: bool; whether a block is every order of turns.
        halves: list[Half]; of an examination, and of a rating by standing opponents.
        test: Sprt | None; of a sequential test.
        scores: list[float]; of its complete blocks, up to the one that decided it.
        played: list[swiss.Round]; the rounds of Swiss that are over.
        recorded: int; games on record, those that do not count included.
    """

    casting: Casting
    kind: str
    results: Sequence[GameResult]
    pairing: str = ""
    games: int = 0
    rounds: int | None = None
    test: Sprt | None = None
    scores: list[float] = field(default_factory=list)
    played: list[swiss.Round] = field(default_factory=list)
    recorded: int = 0
    orders: bool = False
    halves: list[Half] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """Of the players."""
        return [player.name for player in self.casting.players]

    @property
    def total(self) -> int | None:
        """All games of the run; None for a sequential test, which nobody knows the end of."""
        if self.halves:
            return exam.total(self.halves)
        if self.kind != "tournament":
            return None
        return total(self.casting, self.pairing, self.games, self.rounds, orders=self.orders)

    @property
    def finished(self) -> bool:
        """Whether all was played that was to be."""
        if self.test is not None:
            return self.test.state(self.scores).decision is not None
        return self.total is not None and self.recorded >= self.total

    @property
    def order(self) -> list[int]:
        """The players, the best first, by the rules of the pairing; NEW and OLD of a test."""
        if self.kind == "sprt":
            return [0, 1]
        return ranking(self.results, self.casting, self.pairing, self.played)

    def rate(self, resamples: Iterable[int]) -> tuple[list[Rating] | None, str | None]:
        """Everybody's rating, or why there is none; `resamples` as for `plackett_luce`."""
        if self.kind == "sprt" and self.casting.seats > 2:
            return None, None
        return rate(self.results, self.casting, resamples)


def of_records(
    plan: Mapping[str, Any], results: Sequence[GameResult], test: Sprt | None = None
) -> Outcome:
    """A run by its plan and the games on record.

    Args:
        plan: Mapping; of run.json. results: Sequence[GameResult].
        test: Sprt | None; the hypotheses of a sequential test, by default the usual ones.

    Raises:
        TextError: the plan is not one of a tournament, a test or an examination, or has other
            games.
    """
    try:
        kind = plan["kind"]
        casting = Casting(
            game=plan["game"],
            seats=games.load(plan["game"]).info.players,
            players=[msgspec.convert(player, Player) for player in plan["players"]],
            seed=plan["seed"],
            options=plan["options"],
            disqualify=plan["disqualify"],
            megabytes=plan["megabytes"],
            in_process=plan["in_process"],
            replay_overloaded=plan["replay_overloaded"],
        )
        halves = _halves(kind, plan.get("tables", []))
    except (KeyError, TypeError, ValueError, msgspec.ValidationError) as error:
        raise TextError(f"this is no plan of a run that can be shown: {error}") from error
    ordered = sorted(results, key=lambda result: result.number)
    planned = len(exam.blocks_of(halves))
    if halves and any(game.block >= planned or 0 not in game.seats for game in ordered):
        raise TextError("the games on record are not those of the plan")
    if kind == "sprt":
        test = test or usual_test(casting.seats)
        blocks = complete(ordered, 2 if casting.seats == 2 else 2 * casting.seats)
        scores = [block_score(block) for block in blocks]
        end = test.end(scores)
        scores = scores[:end]
        counted = [r for r in ordered if end is None or r.block < end]
        return Outcome(casting, kind, counted, test=test, scores=scores, recorded=len(ordered))
    found = Outcome(
        casting,
        kind,
        ordered,
        plan.get("pairing", "gauntlet" if halves else "roundrobin"),
        plan.get("games", 0),
        plan.get("rounds"),
        recorded=len(ordered),
        orders=plan.get("orders", False),
        halves=halves,
    )
    if found.pairing == "swiss":
        found.played = rounds_played(casting, found.rounds or 0, found.games, ordered)
    return found


def _halves(kind: str, tables: Sequence[Any]) -> list[Half]:
    """The tables of a plan; those of a rating are one part. Raises TypeError and ValueError."""
    parts = [(kind, tables)] if kind == "gauntlet" else tables
    return [Half(name, [tuple(map(int, table)) for table in drawn]) for name, drawn in parts]


def seats_of(plan: Mapping[str, Any]) -> int:
    """The seats of a run's game. Raises UnknownNameError and TextError."""
    if not isinstance(plan.get("game"), str):
        raise TextError("this is no plan of a run that can be shown: it names no game")
    return games.load(plan["game"]).info.players


def complete(results: Sequence[GameResult], size: int) -> list[list[GameResult]]:
    """The blocks of a sequential test that are whole, without a gap, in the schedule's order."""
    known = {result.number: result for result in results}
    found: list[list[GameResult]] = []
    while all(len(found) * size + i in known for i in range(size)):
        found.append([known[len(found) * size + i] for i in range(size)])
    return found


def rounds_played(
    casting: Casting, rounds: int, number: int, results: Sequence[GameResult]
) -> list[swiss.Round]:
    """The rounds of a Swiss tournament that are over, by its results."""
    played: list[swiss.Round] = []
    known = {result.number: result for result in results}
    for unit in schedule.swiss_rounds(casting, rounds, number, known, played):
        if unit is schedule.WAIT:
            break
    return played


def usual_test(seats: int) -> Sprt:
    """The test of `quartet sprt` without options."""
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
    """The hypotheses that a folder has, None where it says nothing. Raises TextError."""
    try:
        data = msgspec.json.decode((folder / TEST).read_bytes(), type=dict[str, float])
        return Sprt(seats, data["s0"], data["s1"], data["alpha"], data["beta"])
    except OSError:
        return None
    except (*UNREADABLE, KeyError) as error:
        raise TextError(f"{folder / TEST} cannot be read: {error}") from error


def tables(casting: Casting, pairing: str) -> list[schedule.Seating]:
    """Who meets whom, unless it is Swiss."""
    choose = schedule.gauntlet if pairing == "gauntlet" else schedule.round_robin
    return choose(len(casting.players), casting.seats)


def total(
    casting: Casting, pairing: str, number: int, rounds: int | None, *, orders: bool = False
) -> int:
    """All games of a tournament."""
    if orders:
        sizes = map(schedule.size, tables(casting, pairing))
        return sum(schedule.blocks(number, size) * size for size in sizes)
    size = schedule.blocks(number, casting.seats) * casting.seats
    if pairing == "swiss":
        return (rounds or 0) * (len(casting.players) // 2) * size
    return len(tables(casting, pairing)) * size


def plan_of(
    casting: Casting,
    pairing: str,
    number: int,
    rounds: int | None,
    done: Results,
    played: list[swiss.Round],
    *,
    orders: bool = False,
) -> Schedule:
    """The schedule of a tournament; `done` and `played` as for `schedule.swiss_rounds`."""
    if orders:
        return schedule.all_orders(casting, tables(casting, pairing), number)
    if pairing == "swiss":
        return schedule.swiss_rounds(casting, rounds or 0, number, done, played)
    return schedule.fixed(casting, tables(casting, pairing), number)


def by_share(results: Sequence[GameResult], players: int) -> list[int]:
    """The players by their share of wins."""
    lines = standings(results, players)
    lines.sort(key=lambda line: -line.share if line.games else 0.0)
    return [line.player for line in lines]


def ranking(
    results: Sequence[GameResult], casting: Casting, pairing: str, played: Sequence[swiss.Round]
) -> list[int]:
    """The players, the best first, by the rules of the pairing."""
    players = len(casting.players)
    if pairing == "swiss":
        return [place.player for place in swiss.ranking(players, played)]
    if pairing == "roundrobin" and casting.seats == 2:
        points = crosstable(results, players)
        tie_break = swiss.sonneborn_berger(points)
        return sorted(range(players), key=lambda c: (-sum(points[c]), -tie_break[c], c))
    return by_share(results, players)


def tie_breaks(
    results: Sequence[GameResult], casting: Casting, pairing: str, played: Sequence[swiss.Round]
) -> dict[str, list[str]]:
    """Columns that tell why equal scores rank as they do."""
    players = len(casting.players)
    if pairing == "swiss":
        places = sorted(swiss.ranking(players, played), key=lambda place: place.player)
        return {
            "rounds won": [str(place.won) for place in places],
            "opponents": [f"{place.opponents:g}" for place in places],
            "early": [f"{place.early:g}" for place in places],
            "opp. early": [f"{place.opponents_early:g}" for place in places],
        }
    if pairing == "roundrobin" and casting.seats == 2 and players > 2:
        return {
            "SB": [f"{value:g}" for value in swiss.sonneborn_berger(crosstable(results, players))]
        }
    return {}


def pair_scores(results: Sequence[GameResult]) -> dict[float, float]:
    """How often player 0 of two had which score in a block of games."""
    pairs: dict[float, float] = {}
    for block in rating.blocks(results):
        score = sum(game.shares[game.seats.index(0)] for game in block) / len(block)
        pairs[score] = pairs.get(score, 0) + 1
    return pairs


def rate(
    results: Sequence[GameResult], casting: Casting, resamples: Iterable[int]
) -> tuple[list[Rating] | None, str | None]:
    """Everybody's rating, or why there is none. Of two players each has the difference to the
    other."""
    if not results:
        return None, None
    if casting.seats == 2 and len(casting.players) == 2:
        first = rating.elo(pair_scores(results))
        return [first, Rating(-first.elo, -first.high, -first.low)], None
    blocks = rating.blocks(results)
    try:
        return rating.plackett_luce(
            blocks, len(casting.players), resamples=resamples, seed=casting.seed
        ), None
    except QuartetError as error:
        return None, str(error)
