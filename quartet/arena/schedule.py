"""Who plays whom, where they sit, and in what order: pure functions of the players, the seed
and, for Swiss, the results so far.

A schedule is a generator of units. It may yield WAIT instead of a unit: the next one depends on
results that are still to come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, combinations_with_replacement, count, permutations
from random import Random

from core.errors import QuartetError
from quartet.arena import swiss
from quartet.arena.unit import GameResult, Player, Unit

WAIT = None
"""Nothing can be played before a game that is running has ended."""

Seating = tuple[int, ...]
"""The player on each seat, by index."""

Results = Mapping[int, GameResult]
"""Results so far, by the number of the unit; a schedule may look at it whenever it is asked for the
next unit."""

Schedule = Iterator[Unit | None]


@dataclass(frozen=True)
class Casting:
    """What all units of a run share, and how one is made.

    Attributes:
        game, options, disqualify, megabytes, in_process, replay_overloaded: as in Unit.
        seats: of the game; players: all of them; seed: of the run.
    """

    game: str
    seats: int
    players: Sequence[Player]
    seed: int = 0
    options: dict[str, bool | int] = field(default_factory=dict)
    disqualify: bool = False
    megabytes: float | None = None
    in_process: bool = False
    replay_overloaded: int = 0

    def unit(self, number: int, block: int, seating: Seating, opening: int) -> Unit:
        """One game; games with the same `opening` have the same seed."""
        return Unit(
            number=number,
            block=block,
            game=self.game,
            seats=seating,
            players=tuple(self.players[player] for player in seating),
            seed=self.seed + opening,
            options=self.options,
            disqualify=self.disqualify,
            megabytes=self.megabytes,
            in_process=self.in_process,
            replay_overloaded=self.replay_overloaded,
        )

    def block(self, number: int, block: int, table: Sequence[int], opening: int) -> list[Unit]:
        """A block of games, `number` that of the first: the same opening, everybody on every seat
        once."""
        order = list(table)
        if len(order) > 2:
            # Who sits behind whom matters as well, and rotation keeps it: another order for another
            # opening.
            Random(f"{self.seed} {opening}").shuffle(order)
        return [
            self.unit(number + i, block, seating, opening)
            for i, seating in enumerate(rotations(order))
        ]


def rotations(table: Sequence[int]) -> list[Seating]:
    """The same people around the table, moved on seat by seat."""
    return [(*table[i:], *table[:i]) for i in range(len(table))]


def orders(table: Seating) -> list[Seating]:
    """Every order of turns at a table; those that look alike once. Whoever sits once, the first of
    them, comes first."""
    lone = next((player for player in table if table.count(player) == 1), table[0])
    rest = list(table)
    rest.remove(lone)
    return [(lone, *others) for others in sorted(set(permutations(rest)))]


def size(table: Seating) -> int:
    """Games of a block of all orders of turns at a table."""
    return len(orders(table)) * len(table)


def blocks(games: int, seats: int) -> int:
    """The whole blocks that hold at least so many games."""
    return -(-games // seats)


def round_robin(players: int, seats: int) -> list[Seating]:
    """Every table at which all who sit are different; with fewer players than seats, all sit and
    some of them more than once."""
    if players >= seats:
        return list(combinations(range(players), seats))
    everybody = tuple(range(players))
    return [
        (*everybody, *again)
        for again in combinations_with_replacement(everybody, seats - players)
        if _lone(everybody + again)
    ]


def _lone(table: Seating) -> bool:
    """Whether somebody has one seat only: two against two tells nothing that one against three and
    three against one do not."""
    return any(table.count(player) == 1 for player in table)


def gauntlet(players: int, seats: int) -> list[Seating]:
    """The first player, always on one seat, against the others; where they are too few, they
    take several seats each."""
    others = range(1, players)
    pick = (
        combinations
        if players > seats - 1 and len(others) >= seats - 1
        else combinations_with_replacement
    )
    return [(0, *rest) for rest in pick(others, seats - 1)]


def fixed(casting: Casting, tables: Sequence[Seating], games: int) -> Schedule:
    """So many games, rounded up to whole blocks, at each table. All tables play an opening before
    any plays the next one."""
    number = block = 0
    for opening in range(blocks(games, casting.seats)):
        for table in tables:
            yield from casting.block(number, block, table, opening)
            number += casting.seats
            block += 1


def all_orders(casting: Casting, tables: Sequence[Seating], games: int) -> Schedule:
    """So many games, rounded up to whole blocks, at each table; a block is every order of turns,
    each with another opening, and in each everybody on every seat. All tables play a block before
    any plays the next one."""
    left = [-(-games // size(table)) for table in tables]
    number = block = opening = 0
    while any(left):
        for i, table in enumerate(tables):
            if not left[i]:
                continue
            left[i] -= 1
            for turn, order in enumerate(orders(table)):
                for seating in rotations(order):
                    yield casting.unit(number, block, seating, opening + turn)
                    number += 1
            block += 1
        opening += max(len(orders(table)) for table in tables)


def swiss_rounds(
    casting: Casting, rounds: int, games: int, results: Results, played: list[swiss.Round]
) -> Schedule:
    """Swiss rounds between two-player players, with so many games, rounded up to whole pairs, in
    every match.

    Every round that is over is appended to `played`.
    """
    if casting.seats != 2:
        raise QuartetError(
            f"Swiss pairs two players, and {casting.game} seats {casting.seats}; choose roundrobin "
            "or gauntlet"
        )
    pairs = blocks(games, 2)
    numbers, block_numbers = count(step=2), count()
    for _ in range(rounds):
        pairing = swiss.pair(len(casting.players), played)
        matches: list[list[Unit]] = []
        for match in pairing.matches:
            matches.append([])
            for _ in range(pairs):
                block = next(block_numbers)
                # All matches of a round have the same openings; no round repeats one.
                opening = len(played) * pairs + len(matches[-1]) // 2
                matches[-1] += casting.block(next(numbers), block, match, opening)
        units = [unit for match_units in matches for unit in match_units]
        yield from units
        while not all(unit.number in results for unit in units):
            yield WAIT
        points = [points_of(match_units, results) for match_units in matches]
        played.append(swiss.Round(pairing, points, full=2.0 * pairs))


def points_of(units: Sequence[Unit], results: Results) -> tuple[float, float]:
    """The points of the two sides of a match, in the order of its first game: win 1, draw 1/2."""
    first, second = units[0].seats
    total = {first: 0.0, second: 0.0}
    for unit in units:
        for seat, player in enumerate(unit.seats):
            total[player] += results[unit.number].shares[seat]
    return total[first], total[second]


def sprt(
    casting: Casting,
    results: Results,
    decided: Callable[[Sequence[Sequence[GameResult]]], bool],
    most_games: int | None,
) -> Schedule:
    """Blocks of the new version (player 0) against the old one, without end until `decided` says
    so.

    Two seats: pairs. More seats: NEW alone against OLD on all others, then OLD alone against NEW,
    every lone seat once, all with the same opening. `decided` sees the blocks that are complete, in
    the order of the schedule and without a gap, whatever the order in
    which games end: the decision depends neither on the number of jobs nor on which games are
        quick.
    """
    tables = (
        [(0, 1)]
        if casting.seats == 2
        else [(0, *[1] * (casting.seats - 1)), (1, *[0] * (casting.seats - 1))]
    )
    size = casting.seats * len(tables)
    complete: list[list[GameResult]] = []

    def ended() -> bool:
        """Count the blocks that have become complete; whether that decides it."""
        while all(len(complete) * size + i in results for i in range(size)):
            complete.append([results[len(complete) * size + i] for i in range(size)])
            if decided(complete):
                return True
        return False

    most = None if most_games is None else most_games // size
    for block in count() if most is None else range(most):
        for i, table in enumerate(tables):
            for unit in casting.block(block * size + i * casting.seats, block, table, block):
                if ended():
                    return
                yield unit
    while not ended() and len(complete) < (most or 0):
        yield WAIT
