"""A player against standing opponents: who meets whom, its win share, and one rating that is kept.

A block is one table of opponents with every move order, each from another opening, and in each
order every player once on every seat. Four different players make 6 orders of 4 games.

The rating is relative to the opponents. 0 Elo is the strength at which the player would win as
often as each opponent, if all of these were alike. Ratings against the same opponents under the
same conditions can be compared.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import NormalDist, fmean
from typing import TypeVar

import msgspec

from core.errors import QuartetError
from quartet.arena.config import RunConfig, Seating
from quartet.arena.files import write_whole
from quartet.arena.ratings import LEVEL, Rating, elo, pair_scores
from quartet.arena.schedule import Schedule, move_orders, order_blocks, size
from quartet.arena.standings import standard_error
from quartet.arena.store import read_lines
from quartet.arena.unit import GameResult

FOLDER = Path("docs/ratings")
"""The folder of kept ratings, a file per game, below the working directory."""
UNBOUNDED = (-math.inf, math.inf)
KindT = TypeVar("KindT", int, str)


@dataclass(frozen=True)
class OpponentGroup:
    """Opponents that are scored together.

    Attributes:
        name: The group's name.
        tables: The table of every block; player 0, the one to measure, comes first.
    """

    name: str
    tables: Sequence[Seating]


@dataclass
class OpponentScore:
    """The score of player 0 in games with some opponents.

    Attributes:
        blocks: Its win shares by block.
        others: Win shares of these opponents, one per seat and game.
    """

    blocks: dict[int, list[float]] = field(default_factory=dict)
    others: list[float] = field(default_factory=list)

    @property
    def games(self) -> int:
        """Number of games."""
        return sum(map(len, self.blocks.values()))

    @property
    def share(self) -> float:
        """Mean win share of player 0, nan without games."""
        shares = [share for block in self.blocks.values() for share in block]
        return fmean(shares) if shares else math.nan

    @property
    def error(self) -> float:
        """Standard error of `share` over blocks; nan if all blocks scored the same."""
        return standard_error([fmean(block) for block in self.blocks.values()])

    @property
    def theirs(self) -> float:
        """Mean win share of an opponent, nan without games."""
        return fmean(self.others) if self.others else math.nan

    def add(self, result: GameResult, seats: Iterable[int]) -> None:
        """Add a game with these opponents on `seats`."""
        self.blocks.setdefault(result.block, []).append(result.share_of(0))
        self.others += [result.shares[seat] for seat in seats]


# Schedule


def draw_tables(players: Sequence[int], seats: int, blocks: int, seed: str) -> list[Seating]:
    """Draw tables of player 0 and opponents, without replacement until too few are left.

    So every opponent is drawn as often as any other, or once more.

    Args:
        players: The opponents.
        seats: Players of a table, player 0 included.
        blocks: Number of tables.
        seed: Seed of the draw.
    """
    random = Random(seed)
    tables: list[Seating] = []
    left: list[int] = []
    while len(tables) < blocks:
        chosen: list[int] = []
        while len(chosen) < seats - 1:
            # An opponent that is at the table already waits for the next one.
            found = next((player for player in left if player not in chosen), None)
            if found is None:
                left += random.sample(list(players), len(players))
                continue
            left.remove(found)
            chosen.append(found)
        tables.append((0, *chosen))
    return tables


def blocks_of(groups: Sequence[OpponentGroup]) -> list[tuple[str, Seating]]:
    """Return group and table of every block in the order of play: the groups in turn."""
    longest = max((len(group.tables) for group in groups), default=0)
    return [
        (group.name, group.tables[number])
        for number in range(longest)
        for group in groups
        if number < len(group.tables)
    ]


def schedule(config: RunConfig, groups: Sequence[OpponentGroup]) -> Schedule:
    """Yield all games. The n-th blocks of two groups have the same openings."""
    openings: Counter[str] = Counter()
    blocks = []
    for group, table in blocks_of(groups):
        blocks.append((table, openings[group]))
        openings[group] += len(move_orders(table))
    return order_blocks(config, blocks)


def total(groups: Sequence[OpponentGroup]) -> int:
    """Return the number of games."""
    return sum(size(table) for group in groups for table in group.tables)


# Scores


def by_group(
    results: Iterable[GameResult], groups: Sequence[OpponentGroup]
) -> dict[str, OpponentScore]:
    """Return the score against each group."""
    group_of = [name for name, _ in blocks_of(groups)]
    scores = {group.name: OpponentScore() for group in groups}
    for result in results:
        others = [seat for seat, player in enumerate(result.seats) if player != 0]
        scores[group_of[result.block]].add(result, others)
    return scores


def by_kind(
    results: Iterable[GameResult], kinds: Mapping[int, KindT]
) -> dict[KindT, OpponentScore]:
    """Return the score in games with each kind of opponent; `kinds` is by player."""
    scores: dict[KindT, OpponentScore] = {}
    for result in results:
        for kind in {kinds[player] for player in result.seats if player in kinds}:
            seats = [seat for seat, player in enumerate(result.seats) if kinds.get(player) == kind]
            scores.setdefault(kind, OpponentScore()).add(result, seats)
    return dict(sorted(scores.items()))


def by_opponent(results: Iterable[GameResult], players: int) -> dict[int, OpponentScore]:
    """Return the score in games with each opponent, by its index."""
    return by_kind(results, {player: player for player in range(1, players)})


# Rating


@dataclass(frozen=True)
class GauntletResult:
    """What the games say about player 0.

    Attributes:
        share: Its win share.
        error: Standard error of the win share, nan if it is not known.
        rating: Its rating.
    """

    share: float
    error: float
    rating: Rating


def elo_of(share: float, seats: int) -> float:
    """Return the Elo of a win share against equal opponents: Plackett-Luce, or logistic if 2
    play."""
    if share <= 0 or share >= 1:
        return math.copysign(math.inf, share - 0.5)
    return 400 * math.log10(share * (seats - 1) / (1 - share))


def rate(results: Iterable[GameResult], seats: int) -> GauntletResult:
    """Return the rating of player 0.

    Two players are rated as `ratings.elo` does. Else the interval is a normal approximation over
    blocks, and unbounded if all blocks scored the same.
    """
    score = OpponentScore()
    for result in results:
        score.add(result, ())
    return rate_score(score, seats)


def rate_score(score: OpponentScore, seats: int) -> GauntletResult:
    """Return the rating of a score, as `rate` does."""
    share, error = score.share, score.error
    if seats == 2:
        return GauntletResult(share, error, elo(pair_scores(score.blocks.values())))
    reach = NormalDist().inv_cdf((1 + LEVEL) / 2) * error
    if not reach > 0:
        return GauntletResult(share, error, Rating(elo_of(share, seats), *UNBOUNDED))
    low, middle, high = (elo_of(share + part * reach, seats) for part in (-1, 0, 1))
    return GauntletResult(share, error, Rating(middle, low, high))


class RatingRecord(msgspec.Struct, frozen=True):
    """A kept rating: a line of `docs/ratings/GAME.jsonl`.

    Attributes:
        day: The date, such as 2026-11-23.
        commit: The checkout's commit, in words.
        player: The rated player.
        opponents: The opponents; commits by their whole ids. One that has several seats at every
            table is named as often.
        conditions: Clock, nodes and all else that decides which ratings can be compared.
        seed: The run's seed.
        games: Number of games.
        share: Win share.
        error: Standard error of the win share, None if it is not known.
        elo: The rating, None if it is infinite.
        low: Lower bound of its 95 % interval, None if there is none.
        high: Upper bound of its 95 % interval, None if there is none.
        records: The run's folder.
    """

    day: str
    commit: str
    player: str
    opponents: list[str]
    conditions: dict[str, str]
    seed: int
    games: int
    share: float
    error: float | None
    elo: float | None
    low: float | None
    high: float | None
    records: str

    @property
    def group(self) -> str:
        """A digest that ratings share if they can be compared."""
        what = msgspec.json.encode([sorted(self.opponents), sorted(self.conditions.items())])
        return hashlib.sha256(what).hexdigest()[:6]


def keep(file: Path, record: RatingRecord) -> None:
    """Write a rating in place of the one of the same run. Raises QuartetError and TextError."""

    def run(rating: RatingRecord) -> tuple[object, ...]:
        return rating.records, rating.player, rating.group, rating.seed

    before = [other for other in read_lines(file, RatingRecord) if run(other) != run(record)]
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, b"".join(msgspec.json.encode(r) + b"\n" for r in (*before, record)))
    except OSError as error:
        raise QuartetError(f"cannot write {file}: {error.strerror}") from error


def standing(text: str) -> list[str]:
    """Return the opponents that a game's `gauntlet.txt` names, one a line; # begins a comment
    line."""
    lines = map(str.strip, text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def comparable(records: Sequence[RatingRecord]) -> dict[str, list[RatingRecord]]:
    """Return the ratings by the group in which they can be compared, the latest group last."""
    groups: dict[str, list[RatingRecord]] = {}
    for record in records:
        groups[record.group] = [*groups.pop(record.group, []), record]
    return groups
