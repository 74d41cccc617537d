"""The engine of Ugolki finds tactics, respects limits, uses threads, and is strong."""

from __future__ import annotations

import math
import threading
from _thread import start_new_thread
from concurrent.futures import ProcessPoolExecutor
from statistics import fmean
from typing import TYPE_CHECKING

import msgspec
import pytest

from core.errors import RuleError
from core.limits import Limits, SearchInfo
from core.native.clock import now
from quartet.arena.config import GameUnit, PlayerConfig, RunConfig
from quartet.arena.cores import pin, usable_cores
from quartet.arena.unit import GameResult, play
from ugolki import engine as engines
from ugolki.engine import DEFAULT_ITERATIONS, Engine
from ugolki.geometry import SEATS, SIZE, distance
from ugolki.players import player
from ugolki.rules import Position

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def alone(position: Position, seat: int = 0) -> Position:
    """Return the position with the pieces of one seat only."""
    return Position.from_cells(
        [label if label == seat + 1 else 0 for label in position.cells], position.ply
    )


def board(*pieces: tuple[int, int, int]) -> Position:
    """Return the position with these pieces (column, row, label)."""
    cells = [0] * (SIZE * SIZE)
    for column, row, label in pieces:
        cells[row * SIZE + column] = label
    return Position.from_cells(cells)


def test_alone_it_comes_home_within_20_moves() -> None:
    position, moves, engine = alone(Position.start()), 0, Engine()
    while not position.over:
        if position.to_move == 0:
            position = position.play(engine.choose(position, Limits(nodes=20_000)).move)
            moves += 1
        else:
            position = position.lose_turn()
    assert position.scores()[0] == 0
    assert moves <= 20  # 19 is optimal


def test_it_takes_a_win() -> None:
    home = [(6, 6, 1), (7, 6, 1), (8, 6, 1), (6, 7, 1), (7, 7, 1)]
    position = board(*home, (5, 8, 1), (9, 0, 3), (9, 9, 2))
    for nodes in (100, 3000):
        assert position.play(Engine().choose(position, Limits(nodes=nodes)).move).over


def test_it_stops_a_rival_that_would_win() -> None:
    """Block seat 3, which comes home by the step from (5, 3) to (6, 3). Seat 0 then comes home
    first, over (6, 4) and (6, 6)."""
    rival = [(6, 0, 4), (7, 0, 4), (8, 0, 4), (6, 1, 4), (7, 3, 4), (5, 3, 4)]
    position = board(
        *rival, (6, 4, 2), (6, 2, 1), (6, 6, 1), (7, 6, 1), (8, 6, 1), (7, 7, 1), (8, 7, 1)
    )
    after = position.lose_turn().lose_turn().lose_turn()
    assert [move for move in after.legal() if after.play(move).over] == [(5, 3, 6, 3)]
    assert Engine().choose(position, Limits(nodes=3000)).move == (6, 2, 6, 3)


def test_after_the_end_of_the_game_it_moves_sensibly() -> None:
    """Check that the engine minimises its own penalty if a rival is home: a judge may play the
    round out."""
    rival = [(c, r, 3) for c, r in ((0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (3, 3))]
    position = board(*rival, (9, 9, 1), (9, 8, 1), (9, 7, 1), (9, 6, 1), (8, 9, 1), (5, 9, 1))
    assert position.over
    assert Engine().choose(position, Limits(nodes=100)).move == (5, 9, 6, 9)


def test_no_move_at_all_is_an_error() -> None:
    with pytest.raises(RuleError, match="no piece can move"):
        Engine().choose(board((5, 5, 2)), Limits(nodes=1))


def test_limits_hold() -> None:
    engine, position = Engine(), Position.start()
    for nodes in (1, 100, 5000):
        assert engine.choose(position, Limits(nodes=nodes)).nodes == nodes
    late = engine.choose(position, Limits(deadline=now() - 1))
    assert late.nodes == 128  # already late, but a first short search is always made
    assert late.move in position.legal()
    assert engine.choose(position, Limits()).nodes == DEFAULT_ITERATIONS


def test_a_search_continues_in_a_full_tree() -> None:
    """Search more iterations than the tree has room for: only the memory is bounded."""
    info = Engine().choose(Position.start(), Limits(nodes=500_000))
    assert info.nodes == 500_000
    assert info.move in Position.start().legal()


def test_a_single_move_is_answered_at_once() -> None:
    walls = [(1, 0, 2), (2, 0, 2), (0, 1, 2), (1, 1, 2), (0, 3, 2), (0, 4, 2)]
    position = board((0, 0, 1), *walls)
    assert position.legal() == [(0, 0, 0, 2)]
    assert Engine().choose(position, Limits(deadline=now() + 60)).nodes == 1


def test_reports_lead_to_the_choice_and_same_nodes_give_the_same() -> None:
    reports: list[SearchInfo] = []
    position = Position.start()
    one = Engine().choose(position, Limits(nodes=20_000), reports.append)
    two = Engine().choose(position, Limits(nodes=20_000))
    assert (one.move, one.score, one.pv) == (two.move, two.score, two.pv)
    assert reports[0].nodes == 128
    assert [r.nodes for r in reports] == sorted(r.nodes for r in reports)
    assert reports[-1].move == one.move


def test_the_principal_variation_can_be_played() -> None:
    position = Position.start()
    for move in Engine().choose(position, Limits(nodes=5000)).pv:
        position = position.play(move)
    assert position.ply >= 4


def test_penalties_of_the_fast_rules_are_the_distances() -> None:
    """Compare distance.h with geometry.distance, cell by cell."""
    for seat in range(SEATS):
        for index in range(SIZE * SIZE):
            cells = [0] * (SIZE * SIZE)
            cells[index] = seat + 1
            assert Position.from_cells(cells).scores()[seat] == distance(
                seat, index % SIZE, index // SIZE
            )


def unit(players: Sequence[PlayerConfig], number: int) -> GameUnit:
    """Return game `number` of a match within this process. In four successive games with one seed,
    every player takes every seat once."""
    block, shift = divmod(number, SEATS)
    order = tuple((seat + shift) % SEATS for seat in range(SEATS))
    config = RunConfig(game="ugolki", players=tuple(players), seed=1, in_process=True)
    return config.unit(number, block, order, block)


def play_unit(unit: GameUnit) -> GameResult:
    return play(unit).result


@pytest.mark.slow
def test_it_beats_three_greedy_players() -> None:
    """Play at fixed node limits and seeds, so that the games are the same on every machine.
    docs/results/ugolki.md has the win share over 400 games."""
    names = ("bot", "greedy", "greedy", "greedy")
    players = [PlayerConfig(str(number), name, nodes=1000) for number, name in enumerate(names)]
    with ProcessPoolExecutor(2) as executor:
        outcomes = list(executor.map(play_unit, [unit(players, number) for number in range(40)]))
    share = fmean(outcome.shares[outcome.seats.index(0)] for outcome in outcomes)
    assert share >= 0.85  # fair is 0.25
    assert math.isclose(sum(sum(outcome.shares) for outcome in outcomes), len(outcomes))


@pytest.mark.slow
def test_it_beats_the_search_by_distances() -> None:
    """Play against three of them at a quarter of their iterations. Node limits and seeds are fixed,
    so the games are the same on every machine."""
    engine, won = Engine(), 0.0
    for game in range(16):
        position = Position.start(game // SEATS, opening=4)
        others = {seat: player("uct:500") for seat in range(SEATS) if seat != game % SEATS}
        while not position.over:
            searcher = others.get(position.to_move, engine)
            position = position.play(
                searcher.choose(position, Limits(nodes=2000 if searcher is engine else None)).move
            )
        scores = position.scores()
        won += (scores[game % SEATS] == min(s for s in scores if s is not None)) / scores.count(
            min(s for s in scores if s is not None)
        )
    assert won >= 6  # fair is 4


def test_expected_win_shares_add_up() -> None:
    engine = Engine()
    assert engine.expectation() is None
    assert engine.visits() == []
    position = Position.start(1, opening=4)
    info = engine.choose(position, Limits(nodes=800))
    expected, visits = engine.expectation(), engine.visits()
    assert expected is not None
    assert sum(expected) == pytest.approx(1, abs=1e-5)
    assert min(expected) > 0.05
    assert visits[0][0] == info.move
    assert sum(count for _, count in visits) == 800
    assert {move for move, _ in visits} <= set(position.legal())


def test_candidates_are_the_moves_of_the_search() -> None:
    """Check that a win in one has the most visits, the first place and no penalty. Visits add up to
    the iterations."""
    engine = Engine()
    assert engine.candidates() == []
    home = [(6, 6, 1), (7, 6, 1), (8, 6, 1), (6, 7, 1), (7, 7, 1)]
    rivals = [(c, r, 3) for c, r in ((9, 0), (8, 0), (7, 0), (9, 1), (8, 1), (9, 2))]
    position = board(*home, (5, 8, 1), *rivals)
    info = engine.choose(position, Limits(nodes=2000))
    rows = engine.candidates()
    assert rows[0] == {
        "move": info.move,
        "visits": rows[0]["visits"],
        "share": 1.0,
        "order": "0 2",
        "penalty": 0.0,
    }
    assert sum(int(str(row["visits"])) for row in rows) == 2000
    assert {row["move"] for row in rows} <= set(position.legal())
    assert any(row["penalty"] for row in rows[1:])


def test_no_candidates_without_a_search() -> None:
    engine = Engine()
    engine.choose(Position.start(), Limits(nodes=200))
    rival = [(c, r, 3) for c, r in ((0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (3, 3))]
    engine.choose(
        board(*rival, (5, 9, 1), (9, 8, 1), (9, 7, 1), (9, 6, 1), (8, 9, 1), (9, 9, 1)),
        Limits(nodes=100),
    )
    assert engine.candidates() == []


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that records the number of every additional thread that an engine starts."""
    numbers: list[int] = []

    def note(target: Callable[..., None], arguments: tuple[Engine, int, float]) -> int:
        numbers.append(arguments[1])
        return start_new_thread(target, arguments)

    monkeypatch.setattr(engines, "start_new_thread", note)
    return numbers


def test_threads_search_one_tree(started: list[int]) -> None:
    """Check that the threads together make exactly the given iterations, all in one tree."""
    engine, position = Engine(threads=3), Position.start(1, opening=4)
    for nodes in (1, 100, 5000):
        info = engine.choose(position, Limits(nodes=nodes))
        expected = engine.expectation()
        assert (info.nodes, sum(count for _, count in engine.visits())) == (nodes, nodes)
        assert expected is not None
        assert sum(expected) == pytest.approx(1, abs=1e-5)
    assert started == [1, 2] * 3
    for move in info.pv:
        position = position.play(move)
    home = [(6, 6, 1), (7, 6, 1), (8, 6, 1), (6, 7, 1), (7, 7, 1)]
    winning = board(*home, (5, 8, 1), (9, 0, 3), (9, 9, 2))
    assert winning.play(engine.choose(winning, Limits(nodes=3000)).move).over


def test_the_number_of_threads(monkeypatch: pytest.MonkeyPatch, started: list[int]) -> None:
    """Check that a search at a node limit has one thread, for reproducible moves, and a timed
    search has all. An explicit number always counts."""

    def begin(engine: Engine, limits: Limits) -> None:
        engine.choose(Position.start(), limits, lambda _: engine.stop())

    for setting, usual in (("3", [1, 2]), ("1", []), ("99", list(range(1, 32)))):
        monkeypatch.setenv("QUARTET_THREADS", setting)
        for threads, limits, wanted in (
            (0, Limits(deadline=now() + 600), usual),
            (0, Limits(deadline=now() - 1), []),
            (0, Limits(nodes=200), []),
            (0, Limits(nodes=200, deadline=now() + 60), []),
            (0, Limits(), []),
            (2, Limits(nodes=200), [1]),
            (1, Limits(deadline=now() + 600), []),
        ):
            started.clear()
            begin(Engine(threads=threads), limits)
            assert started == wanted
    for setting in ("0", "", "many", "-2"):  # as many as cores
        monkeypatch.setenv("QUARTET_THREADS", setting)
        started.clear()
        begin(Engine(), Limits(deadline=now() + 600))
        assert len(started) == min(len(usable_cores()), 32) - 1


@pytest.mark.parametrize("count", [1, 2])
def test_a_game_has_a_thread_for_each_of_its_cores(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """End each search as soon as its threads have started, so that slow machines pass too."""
    started: list[int] = []

    def note(target: Callable[..., None], arguments: tuple[Engine, int, float]) -> int:
        started.append(arguments[1])
        found = start_new_thread(target, arguments)
        arguments[0].stop()
        return found

    monkeypatch.setattr(engines, "start_new_thread", note)
    monkeypatch.setenv("QUARTET_THREADS", "9")
    usable, names = usable_cores(), ("bot", "greedy", "greedy", "greedy")
    ms = 600_000 if len(usable[:count]) > 1 else 20
    players = [PlayerConfig(str(number), name, ms=ms) for number, name in enumerate(names)]
    try:
        short = unit(players, 0)
        config = msgspec.structs.replace(short.config, options={"moves": 3})
        play(msgspec.structs.replace(short, config=config), tuple(usable[:count]))
    finally:
        pin(usable)
    assert started == [1] * 3 * (len(usable[:count]) - 1)


def test_a_search_works_if_no_thread_can_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(engines, "start_new_thread", fail)
    engine = Engine(threads=4)
    assert engine.choose(Position.start(), Limits(nodes=3000)).nodes == 3000
    assert sum(count for _, count in engine.visits()) == 3000


def test_stop_ends_all_threads() -> None:
    engine, position = Engine(threads=3), Position.start()
    found: list[SearchInfo] = []
    for _ in range(3):
        searching = threading.Event()

        def think(began: threading.Event = searching) -> None:
            limits = Limits(deadline=now() + 600)
            found.append(engine.choose(position, limits, lambda _: began.set()))

        thread = threading.Thread(target=think)
        thread.start()
        assert searching.wait(60)
        while thread.is_alive():
            engine.stop()
            thread.join(0.01)
    assert len(found) == 3
    assert engine.visits()  # this waits for the other threads


def test_an_exception_in_a_report_ends_all_threads() -> None:
    engine, position = Engine(threads=3), Position.start()

    def report(info: SearchInfo) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        engine.choose(position, Limits(deadline=now() + 600), report)
    assert engine.visits()
    assert engine.choose(position, Limits(nodes=300)).nodes == 300


def test_it_measures_its_longest_stall() -> None:
    engine = Engine()
    engine.choose(Position.start(), Limits(nodes=500))
    assert engine.stall == 0  # a search at a node limit never reads the clock
    began = now()
    engine.choose(Position.start(), Limits(deadline=began + 0.05, late=began + 10))
    assert 0 < engine.stall < now() - began


def test_a_report_may_read_the_expectation() -> None:
    """Call it while the other threads are searching; the call does not wait for them."""
    engine = Engine(threads=2)
    asked = []

    def hear(info: SearchInfo) -> None:
        asked.append((info.move, engine.expectation()))
        engine.stop()

    begun = now()
    engine.choose(Position.start(), Limits(deadline=begun + 60), hear)
    assert now() < begun + 30
    assert sum(asked[0][1] or ()) == pytest.approx(1)
