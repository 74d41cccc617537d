"""Schedules have blocks with every player on every seat, correct pairings, and a fixed order of
games."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from itertools import combinations, islice, permutations
from random import Random

import pytest

from core.errors import QuartetError
from quartet.arena import schedule, swiss
from quartet.arena.config import GameUnit, PlayerConfig, RunConfig, rotations
from quartet.arena.runner import drive
from quartet.arena.schedule import Results, Schedule, gauntlet, round_robin
from quartet.arena.unit import GameResult, Played, Use


def config(seats: int, players: int, seed: int = 5) -> RunConfig:
    game = "ataxx" if seats == 2 else "ugolki"
    everyone = tuple(PlayerConfig(f"p{i}", "x") for i in range(players))
    return RunConfig(game=game, players=everyone, seed=seed)


def fake(unit: GameUnit, strength: Callable[[int], float] = float, luck: float = 0.0) -> Played:
    """Play a game that the strongest player wins; with luck another one, by the seed."""
    random = Random(f"{unit.seed} {unit.seats}")
    value = [strength(player) + luck * random.gauss(0, 1) for player in unit.seats]
    first = [v == max(value) for v in value]
    shares = tuple(1 / sum(first) if win else 0.0 for win in first)
    places = tuple(1 + sum(other > v for other in value) for v in value)
    use = tuple(Use() for _ in unit.seats)
    return Played(
        GameResult(
            unit.number, unit.block, unit.seats, unit.seed, 9, places, places, shares, use, 0.0
        ),
        b"",
    )


class Fake:
    """Workers that play fake games in threads, and lose some of them."""

    lost: tuple[type[BaseException], ...] = (ConnectionError,)

    def __init__(self, play: Callable[[GameUnit], Played] = fake, width: int = 3) -> None:
        self.executor: Executor = ThreadPoolExecutor(width)
        self.play, self._width = play, width
        self.played: list[GameUnit] = []

    @property
    def width(self) -> int:
        return self._width

    def submit(self, unit: GameUnit) -> Future[Played]:
        self.played.append(unit)
        return self.executor.submit(self.play, unit)

    def repair(self) -> None:
        pass

    def close(self) -> None:
        self.executor.shutdown()


def play(
    plan: Callable[[Results], Schedule],
    workers: Fake | None = None,
    done: dict[int, GameResult] | None = None,
) -> list[GameResult]:
    workers, done = workers or Fake(), {} if done is None else done
    drive(plan(done), workers, done, lambda _: None)
    workers.close()
    return [done[number] for number in sorted(done)]


def test_rotations() -> None:
    assert rotations([7, 8]) == [(7, 8), (8, 7)]
    assert rotations([0, 1, 2, 3]) == [(0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2)]


def test_pairings_of_two_seats() -> None:
    assert round_robin(3, 2) == [(0, 1), (0, 2), (1, 2)]
    assert gauntlet(4, 2) == [(0, 1), (0, 2), (0, 3)]
    assert round_robin(2, 2) == gauntlet(2, 2) == [(0, 1)]


def test_tables_of_four_seats() -> None:
    assert round_robin(2, 4) == [(0, 1, 0, 0), (0, 1, 1, 1)], "three against one both ways"
    assert round_robin(3, 4) == [(0, 1, 2, 0), (0, 1, 2, 1), (0, 1, 2, 2)]
    assert round_robin(6, 4) == list(combinations(range(6), 4))
    assert gauntlet(2, 4) == [(0, 1, 1, 1)]
    assert gauntlet(3, 4) == [(0, 1, 1, 1), (0, 1, 1, 2), (0, 1, 2, 2), (0, 2, 2, 2)]
    assert gauntlet(5, 4) == [(0, *rest) for rest in combinations(range(1, 5), 3)]


@pytest.mark.parametrize(("seats", "players"), [(2, 2), (2, 5), (4, 2), (4, 3), (4, 4), (4, 5)])
def test_blocks_are_fair(seats: int, players: int) -> None:
    """Check that games of a block share the opening, that every player has every seat, and that
    other blocks have other openings."""
    tables = round_robin(players, seats)
    units = [
        unit
        for unit in schedule.fixed(config(seats, players), tables, 3 * seats - 1)
        if unit is not None
    ]
    assert [unit.number for unit in units] == list(range(3 * seats * len(tables)))
    blocks: dict[int, list[GameUnit]] = {}
    for unit in units:
        blocks.setdefault(unit.block, []).append(unit)
    for block in blocks.values():
        assert len({unit.seed for unit in block}) == 1
        held = [Counter(unit.seats[seat] for unit in block) for seat in range(seats)]
        assert all(seat == held[0] for seat in held)
    assert Counter(unit.seed for unit in units) == dict.fromkeys((5, 6, 7), seats * len(tables)), (
        "all tables play an opening first"
    )


def test_the_move_order_changes_between_openings() -> None:
    units = [
        unit for unit in schedule.fixed(config(4, 4), round_robin(4, 4), 40) if unit is not None
    ]
    rounds = {tuple(unit.seats[(unit.seats.index(0) + i) % 4] for i in range(4)) for unit in units}
    assert len(rounds) > 3


def test_swiss_is_for_two_seats() -> None:
    with pytest.raises(QuartetError, match="Swiss pairs two players, and ugolki seats 4"):
        next(schedule.swiss_rounds(config(4, 4), 1, 2, {}, []))


@pytest.mark.parametrize("players", [2, 5, 8])
def test_swiss_plays_its_rounds(players: int) -> None:
    rounds: list[swiss.Round] = []
    results = play(lambda done: schedule.swiss_rounds(config(2, players), 4, 3, done, rounds))
    assert len(rounds) == 4
    assert [result.number for result in results] == list(range(4 * (players // 2) * 4))
    assert all(sum(points) == 4 for r in rounds for points in r.points)
    assert swiss.ranking(players, rounds)[0].player == players - 1
    for number in range(0, len(results), 2):
        one, other = results[number], results[number + 1]
        assert (one.seats, one.seed, one.block) == (other.seats[::-1], other.seed, other.block)


def test_swiss_resumes() -> None:
    whole = play(lambda done: schedule.swiss_rounds(config(2, 5), 4, 2, done, []))
    for stop in (0, 1, 4, 7, 15):
        done = {result.number: result for result in whole[:stop]}
        workers = Fake()
        assert (
            play(lambda found: schedule.swiss_rounds(config(2, 5), 4, 2, found, []), workers, done)
            == whole
        )
        assert len(workers.played) == len(whole) - stop


def test_a_lost_game_is_played_again() -> None:
    lost = {3, 4, 11}

    def unlucky(unit: GameUnit) -> Played:
        if unit.number in lost:
            lost.discard(unit.number)
            raise ConnectionError
        return fake(unit)

    plan = lambda _: schedule.fixed(config(2, 3), round_robin(3, 2), 8)  # noqa: E731
    assert play(plan, Fake(unlucky)) == play(plan)


def test_a_unit_that_keeps_losing_workers_aborts_the_run() -> None:
    def broken(unit: GameUnit) -> Played:
        raise ConnectionError("gone")

    with pytest.raises(QuartetError, match="game 0 lost its worker 5 times: ConnectionError gone"):
        play(lambda _: schedule.fixed(config(2, 2), [(0, 1)], 2), Fake(broken, width=1))


def test_records_of_another_schedule_are_rejected() -> None:
    done = {0: fake(config(2, 2, seed=9).unit(0, 0, (0, 1), 0)).result}
    with pytest.raises(QuartetError, match="game 0 of the records is not the one of the schedule"):
        play(lambda _: schedule.fixed(config(2, 2), [(0, 1)], 2), done=done)


@pytest.mark.parametrize("seats", [2, 4])
def test_a_sequential_test_depends_only_on_the_games(seats: int) -> None:
    """Check that it counts complete blocks in order, and stops at the same block for every number
    of jobs."""
    sizes = []
    for width in (1, 2, 7):
        seen: list[Sequence[GameResult]] = []

        def decided(
            blocks: Sequence[Sequence[GameResult]], seen: list[Sequence[GameResult]] = seen
        ) -> bool:
            seen[:] = blocks
            return (
                sum(game.shares[game.seats.index(0)] for block in blocks for game in block)
                >= 6 * seats
            )

        workers = Fake(lambda unit: fake(unit, luck=1.5), width)
        play(lambda done: schedule.sprt(config(seats, 2), done, decided, None), workers)
        sizes.append([[game.number for game in block] for block in seen])
        size = 2 if seats == 2 else 8
        assert all(
            block == list(range(i * size, (i + 1) * size)) for i, block in enumerate(sizes[-1])
        )
        if width == 1:
            assert len(workers.played) == len(seen) * size, "no game after the decision"
    assert sizes[0] == sizes[1] == sizes[2]


@pytest.mark.parametrize("width", [1, 3, 40])
def test_a_sequential_test_counts_its_last_block(width: int) -> None:
    seen: list[int] = []

    def decided(blocks: Sequence[Sequence[GameResult]]) -> bool:
        seen.append(len(blocks))
        return False

    assert (
        len(play(lambda done: schedule.sprt(config(2, 2), done, decided, 11), Fake(width=width)))
        == 10
    )
    assert seen == [1, 2, 3, 4, 5]


def test_a_block_of_four_seats_has_both_lone_players() -> None:
    units = [
        unit
        for unit in islice(schedule.sprt(config(4, 2), {}, lambda _: False, None), 16)
        if unit is not None
    ]
    assert len(units) == 16
    for block in (units[:8], units[8:]):
        assert [unit.seats.count(0) for unit in block] == [1] * 4 + [3] * 4
        assert (
            {unit.seats.index(0) for unit in block[:4]}
            == {unit.seats.index(1) for unit in block[4:]}
            == set(range(4))
        )
        assert len({unit.seed for unit in block}) == 1


def test_a_block_of_every_move_order() -> None:
    """Check that four players play all 24 seatings once, from six openings. With two pairs of equal
    players, half suffice."""
    four = config(4, 4, seed=9)
    units = [unit for unit in schedule.all_orders(four, [(0, 1, 2, 3)], 25) if unit is not None]
    assert [unit.number for unit in units] == list(range(48))
    assert [unit.block for unit in units] == [0] * 24 + [1] * 24
    assert sorted(unit.seats for unit in units[:24]) == sorted(permutations(range(4)))
    assert [unit.seed for unit in units] == [9 + i // 4 for i in range(48)]
    for opening in range(12):
        games = units[4 * opening : 4 * opening + 4]
        assert {unit.seats.index(0) for unit in games} == {0, 1, 2, 3}
    # The lone player comes first, wherever it is named; others that are alike are not told apart.
    assert schedule.move_orders((0, 0, 1, 2)) == [(1, 0, 0, 2), (1, 0, 2, 0), (1, 2, 0, 0)]
    assert schedule.size((0, 1, 1, 1)) == 4
    tables = [(0, 1, 2, 2), (0, 1, 1, 1)]
    mixed = [unit for unit in schedule.all_orders(four, tables, 12) if unit is not None]
    assert len(mixed) == 12 + 12
    assert len({unit.seats for unit in mixed[:12]}) == 12
    assert [unit.block for unit in mixed] == [0] * 12 + [1] * 4 + [2] * 4 + [3] * 4
    assert schedule.TournamentPlan("roundrobin", 25, orders=True).total(four) == 48
