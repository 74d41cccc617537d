"""The examination of a player at tables with three of a pool: who sits where, and what the results
say. Pure functions, as `quartet.arena.schedule`.

A block is one table: every order of turns, each with an opening of its own, and in each everybody
on every seat once. Of four different players these are 6 orders of 4 games.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from statistics import fmean, stdev

from quartet.arena.schedule import Casting, Schedule, Seating, orders, rotations, size
from quartet.arena.unit import GameResult


@dataclass(frozen=True)
class Half:
    """A part of an examination: the tables that belong together.

    Attributes:
        name: str. tables: Sequence[Seating]; of every block, the examined player first.
    """

    name: str
    tables: Sequence[Seating]


@dataclass
class Line:
    """What games with somebody say.

    Attributes:
        blocks: dict[int, list[float]]; the examined player's shares of the win, by block.
        others: list[float]; the shares of those whom the line is about, seat by seat.
    """

    blocks: dict[int, list[float]] = field(default_factory=dict)
    others: list[float] = field(default_factory=list)

    @property
    def games(self) -> int:
        """How many there were."""
        return sum(map(len, self.blocks.values()))

    @property
    def share(self) -> float:
        """Of the examined player, nan without games."""
        return (
            fmean(share for block in self.blocks.values() for share in block)
            if self.blocks
            else math.nan
        )

    @property
    def error(self) -> float:
        """Standard error of `share`, over blocks; nan for fewer than two."""
        means = [fmean(block) for block in self.blocks.values()]
        return stdev(means) / math.sqrt(len(means)) if len(means) > 1 else math.nan

    @property
    def theirs(self) -> float:
        """The mean share of those whom the line is about, nan without games."""
        return fmean(self.others) if self.others else math.nan

    def add(self, result: GameResult, seats: Iterable[int]) -> None:
        """Count a game, and in it the seats that the line is about."""
        self.blocks.setdefault(result.block, []).append(result.shares[result.seats.index(0)])
        self.others += [result.shares[seat] for seat in seats]


def drawn(players: Sequence[int], seats: int, blocks: int, seed: str) -> list[Seating]:
    """Tables of player 0 and others of `players`, drawn without putting back until too few are
    left: so everybody sits at as many tables as any other, give or take one."""
    random = Random(seed)
    tables: list[Seating] = []
    left: list[int] = []
    while len(tables) < blocks:
        chosen: list[int] = []
        while len(chosen) < seats - 1:
            if not left:
                left = random.sample(list(players), len(players))
            # whoever sits there already waits for the next table
            found = next((player for player in left if player not in chosen), None)
            if found is None:
                left += random.sample(list(players), len(players))
                continue
            left.remove(found)
            chosen.append(found)
        tables.append((0, *chosen))
    return tables


def blocks_of(halves: Sequence[Half]) -> list[tuple[str, Seating]]:
    """Half and table of every block, in the order in which they are played: the halves in turn."""
    longest = max((len(half.tables) for half in halves), default=0)
    return [
        (half.name, half.tables[number])
        for number in range(longest)
        for half in halves
        if number < len(half.tables)
    ]


def schedule(casting: Casting, halves: Sequence[Half]) -> Schedule:
    """All games. Blocks of the same number in two halves have the same openings."""
    number = 0
    seen: dict[str, int] = {}
    for block, (half, table) in enumerate(blocks_of(halves)):
        before = seen.get(half, 0)
        for opening, order in enumerate(orders(table)):
            for seating in rotations(list(order)):
                yield casting.unit(number, block, seating, before + opening)
                number += 1
        seen[half] = before + len(orders(table))


def total(halves: Sequence[Half]) -> int:
    """Games of the examination."""
    return sum(size(table) for half in halves for table in half.tables)


def by_half(results: Iterable[GameResult], halves: Sequence[Half]) -> dict[str, Line]:
    """A line for each half; it is about the three others."""
    half_of = [name for name, _ in blocks_of(halves)]
    lines = {half.name: Line() for half in halves}
    for result in results:
        others = [seat for seat, player in enumerate(result.seats) if player != 0]
        lines[half_of[result.block]].add(result, others)
    return lines


def by_opponent(results: Iterable[GameResult], players: int) -> dict[int, Line]:
    """A line for each opponent that had a game, by its number."""
    lines: dict[int, Line] = {}
    for result in results:
        for player in range(1, players):
            seats = [seat for seat, other in enumerate(result.seats) if other == player]
            if seats:
                lines.setdefault(player, Line()).add(result, seats)
    return lines


def by_kind(results: Iterable[GameResult], kinds: Mapping[int, str]) -> dict[str, Line]:
    """A line for each kind of opponents, of the games in which one sits; `kinds` are by number."""
    lines: dict[str, Line] = {}
    for result in results:
        for kind in dict.fromkeys(kinds.values()):
            seats = [seat for seat, other in enumerate(result.seats) if kinds.get(other) == kind]
            if seats:
                lines.setdefault(kind, Line()).add(result, seats)
    return dict(sorted(lines.items()))
