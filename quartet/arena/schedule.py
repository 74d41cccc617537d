"""Who plays whom, on which seats, and in what order.

All are pure functions of the players, the seed and, for Swiss and sequential tests, the results so
far. A schedule is a generator of units. It yields WAIT if the next unit depends on running games.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, combinations_with_replacement, count, permutations
from typing import Any

import msgspec

from core.errors import QuartetError
from quartet.arena import swiss
from quartet.arena.config import GameUnit, RunConfig, Seating, rotations
from quartet.arena.unit import GameResult

WAIT = None
"""The next unit depends on games that are still running."""

Results = Mapping[int, GameResult]
"""Results so far by the number of the unit; a schedule reads it when it is asked for a unit."""

Schedule = Iterator[GameUnit | None]


class TournamentPlan(msgspec.Struct, frozen=True):
    """Who meets whom in a tournament, as its plan on disk has it.

    Attributes:
        pairing: "roundrobin", "swiss", or "gauntlet": the first player against all others.
        games: Games for every pair of players, or every table if more than two play.
        rounds: Rounds of Swiss.
        orders: A block is every move order of a table.
    """

    pairing: str = "roundrobin"
    games: int = 0
    rounds: int | None = None
    orders: bool = False

    def facts(self) -> dict[str, Any]:
        """Return the lines of the plan on disk; `orders` is named only if it is set."""
        lines = msgspec.structs.asdict(self)
        return {name: value for name, value in lines.items() if name != "orders" or value}

    def tables(self, config: RunConfig) -> list[Seating]:
        """Return the tables of a tournament that is not Swiss."""
        choose = gauntlet if self.pairing == "gauntlet" else round_robin
        return choose(len(config.players), config.seats)

    def total(self, config: RunConfig) -> int:
        """Return the number of games."""
        if self.orders:
            sizes = map(size, self.tables(config))
            return sum(blocks(self.games, each) * each for each in sizes)
        each = blocks(self.games, config.seats) * config.seats
        if self.pairing == "swiss":
            return (self.rounds or 0) * (len(config.players) // 2) * each
        return len(self.tables(config)) * each

    def schedule(self, config: RunConfig, done: Results, played: list[swiss.Round]) -> Schedule:
        """Return the schedule; `done` and `played` as for `swiss_rounds`."""
        if self.pairing == "swiss":
            return swiss_rounds(config, self.rounds or 0, self.games, done, played)
        plan = all_orders if self.orders else fixed
        return plan(config, self.tables(config), self.games)


def move_orders(table: Seating) -> list[Seating]:
    """Return every move order of a table, equal ones once.

    They begin with the first player that has one seat, or with the first player.
    """
    lone = next((player for player in table if table.count(player) == 1), table[0])
    rest = list(table)
    rest.remove(lone)
    return [(lone, *others) for others in sorted(set(permutations(rest)))]


def size(table: Seating) -> int:
    """Return the games of a block with every move order of a table."""
    return len(move_orders(table)) * len(table)


def order_blocks(config: RunConfig, blocks: Iterable[tuple[Seating, int]]) -> Schedule:
    """Yield blocks of every move order of a table.

    Each order has the next opening, and in it every player takes every seat.

    Args:
        config: The settings.
        blocks: Table and number of the first opening of every block.
    """
    numbers = count()
    for block, (table, opening) in enumerate(blocks):
        for turn, order in enumerate(move_orders(table)):
            for seating in rotations(order):
                yield config.unit(next(numbers), block, seating, opening + turn)


def blocks(games: int, seats: int) -> int:
    """Return the number of whole blocks that hold at least `games` games."""
    return -(-games // seats)


def round_robin(players: int, seats: int) -> list[Seating]:
    """Return every table of different players.

    With fewer players than seats all of them sit at every table, some more than once. A table then
    has a player with one seat: 2 v 2 shows nothing that 1 v 3 and 3 v 1 do not show.
    """
    if players >= seats:
        return list(combinations(range(players), seats))
    everyone = tuple(range(players))
    tables = [
        (*everyone, *again) for again in combinations_with_replacement(everyone, seats - players)
    ]
    return [table for table in tables if any(table.count(player) == 1 for player in table)]


def gauntlet(players: int, seats: int) -> list[Seating]:
    """Return the tables of the first player, on one seat, against the others.

    If the others are too few, they take several seats each.
    """
    pick = combinations if players >= seats else combinations_with_replacement
    return [(0, *rest) for rest in pick(range(1, players), seats - 1)]


def fixed(config: RunConfig, tables: Sequence[Seating], games: int) -> Schedule:
    """Yield `games` games, rounded up to whole blocks, at each table.

    All tables play an opening before any plays the next one.
    """
    numbers = count()
    for opening in range(blocks(games, config.seats)):
        for table in tables:
            block = next(numbers)
            yield from config.block(block * config.seats, block, table, opening)


def all_orders(config: RunConfig, tables: Sequence[Seating], games: int) -> Schedule:
    """Yield `games` games, rounded up to whole blocks of every move order, at each table.

    All tables play a block before any plays the next one.
    """
    rounds = [-(-games // size(table)) for table in tables]
    step = max(len(move_orders(table)) for table in tables)
    return order_blocks(
        config,
        [
            (table, number * step)
            for number in range(max(rounds))
            for table, own in zip(tables, rounds, strict=True)
            if number < own
        ],
    )


def swiss_rounds(
    config: RunConfig, rounds: int, games: int, results: Results, played: list[swiss.Round]
) -> Schedule:
    """Yield Swiss rounds of matches of `games` games, rounded up to whole pairs.

    All matches of a round have the same openings; no two rounds share one. Every round that ends is
    appended to `played`.

    Raises:
        QuartetError: The game does not seat two.
    """
    if config.seats != 2:
        raise QuartetError(
            f"Swiss pairs two players, and {config.game} seats {config.seats}; choose roundrobin "
            "or gauntlet"
        )
    pairs = blocks(games, 2)
    numbers = count()
    for _ in range(rounds):
        pairing = swiss.pair(len(config.players), played)
        units: list[GameUnit] = []
        for match in pairing.matches:
            for pair in range(pairs):
                block = next(numbers)
                units += config.block(2 * block, block, match, len(played) * pairs + pair)
        yield from units
        while not all(unit.number in results for unit in units):
            yield WAIT
        points = [
            points_of(units[first : first + 2 * pairs], results)
            for first in range(0, len(units), 2 * pairs)
        ]
        played.append(swiss.Round(pairing, points, full=2.0 * pairs))


def points_of(units: Sequence[GameUnit], results: Results) -> tuple[float, float]:
    """Return the points of both sides of a match, first the first seat of its first game."""
    first, second = (
        sum(results[unit.number].share_of(player) for unit in units) for player in units[0].seats
    )
    return first, second


def sprt_block_size(seats: int) -> int:
    """Return the games of a block of a sequential test: a pair, or every lone seat of both
    sides."""
    return seats if seats == 2 else 2 * seats


def complete_blocks(results: Results, size: int, first: int = 0) -> Iterator[list[GameResult]]:
    """Yield the blocks from `first` on that are complete, in the order of the schedule, to a
    gap."""
    for block in count(first):
        numbers = range(block * size, (block + 1) * size)
        if not all(number in results for number in numbers):
            return
        yield [results[number] for number in numbers]


def sprt(
    config: RunConfig,
    results: Results,
    decided: Callable[[Sequence[Sequence[GameResult]]], bool],
    max_games: int | None,
) -> Schedule:
    """Yield blocks of the new version (player 0) against the old one until `decided` returns True.

    With two seats a block is a pair. With more, NEW alone plays against OLD on all others, then OLD
    alone against NEW: every lone seat once, all with one opening.

    Args:
        config: The settings.
        results: The results so far.
        decided: Called with the complete blocks in the order of the schedule, without gaps. So the
            decision depends neither on the number of jobs nor on which games are quick.
        max_games: Stop before a block that would exceed this number, None for no limit.
    """
    seats = config.seats
    tables = [(0, 1)] if seats == 2 else [(0, *[1] * (seats - 1)), (1, *[0] * (seats - 1))]
    size = sprt_block_size(seats)
    complete: list[list[GameResult]] = []

    def ended() -> bool:
        """Add new complete blocks; return True if they decide the test."""
        for block in complete_blocks(results, size, len(complete)):
            complete.append(block)
            if decided(complete):
                return True
        return False

    limit = None if max_games is None else max_games // size
    for block in count() if limit is None else range(limit):
        for i, table in enumerate(tables):
            for unit in config.block(block * size + i * seats, block, table, block):
                if ended():
                    return
                yield unit
    while not ended() and len(complete) < (limit or 0):
        yield WAIT
