"""Compiled self-play of Ugolki searches well, and its units and samples are reproducible."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from core.errors import IllegalMoveError, QuartetError, RuleError, TextError
from core.limits import Limits
from core.nn.contract import FIRST, OFF_PATH
from core.nn.sealed import seal
from quartet.training import selfplay as units
from ugolki.frozen.pool.players import HALVES, TEST_HALF
from ugolki.geometry import SEATS
from ugolki.players import player
from ugolki.rules import Position
from ugolki.train import gumbel, selfplay
from ugolki.train.__main__ import command
from ugolki.train.generate import Generator, halving

WEIGHTS = gumbel.PACKAGE_WEIGHTS.read_bytes()


def made(iterations: int = 32, considered: int = 16) -> Generator:
    return Generator([WEIGHTS], iterations=iterations, considered=considered)


@pytest.mark.parametrize(
    ("considered", "iterations"), [(1, 5), (2, 16), (3, 7), (16, 32), (16, 64)]
)
def test_halving_divides_the_iterations(considered: int, iterations: int) -> None:
    """Play the schedule: every move visited again was among the best of the phase before."""
    wanted = halving(considered, iterations)
    assert len(wanted) == iterations
    visits = [0] * considered
    for number in wanted:
        visits[visits.index(number)] += 1  # raises ValueError if no move has that many
    assert visits == sorted(visits, reverse=True)
    if iterations >= 2 * considered > 2:
        assert visits[-1] > 0
        assert visits[0] == visits[1] or visits[0] == visits[1] + 1


def test_a_search_gives_a_policy_over_all_moves() -> None:
    position = Position.start(3, opening=4)
    generator = made(iterations=32, considered=8)
    found = generator.search(position, 1)
    assert sorted(move for move, _, _ in found) == position.legal()
    assert sum(share for _, _, share in found) == pytest.approx(1, abs=1e-5)
    assert sum(visits for _, visits, _ in found) == 32
    assert sum(visits > 0 for _, visits, _ in found) == 8
    assert found[0][1] == max(visits for _, visits, _ in found)
    assert sum(generator.expectation()) == pytest.approx(1, abs=1e-5)
    assert generator.search(position, 1) == found
    assert len({generator.search(position, seed)[0][0] for seed in range(30)}) > 1


def test_a_search_takes_the_win() -> None:
    """Place both seats one step from home; seat 0 moves first."""
    cells = [0] * 100
    for column, row in ((6, 6), (7, 6), (8, 6), (6, 7), (7, 7), (5, 9)):
        cells[row * 10 + column] = 1
    for column, row in ((0, 6), (1, 6), (2, 6), (0, 7), (1, 7), (4, 8)):
        cells[row * 10 + column] = 2
    generator = made(iterations=32)
    for seed in range(8):
        found = generator.search(Position.from_cells(cells), seed)
        assert found[0][0] == (5, 9, 6, 9)
        assert found[0][2] > 0.99
    assert generator.expectation()[0] > 0.9


def test_search_rejects_invalid_positions_and_weights() -> None:
    start = Position.start()
    with pytest.raises(RuleError, match="fewer than two legal moves"):
        made().search(Position.from_cells([0] * 100), 1)
    for iterations, considered in ((0, 16), (5000, 16), (32, 0)):
        with pytest.raises(ValueError, match="a generator takes"):
            made(iterations, considered)
    with pytest.raises(ValueError, match="no weights 1"):
        made().search(start, 1, 1)
    with pytest.raises(ValueError, match="no weights 7"):
        made().game(start, 1, seats=(0, 0, 7, 0))
    with pytest.raises(TextError):
        Generator([b"nothing"])


def unpacked(sample: bytes) -> tuple[Position, tuple[int, ...]]:
    numbers = selfplay.RECORD.unpack(sample)
    cells = [0] * 100
    for index, cell in enumerate(numbers[4:28]):
        if cell != selfplay.NOWHERE:
            cells[cell] = index // 6 + 1
    return Position.from_cells(cells, numbers[0], numbers[1] // SEATS), numbers


def test_samples_follow_the_game() -> None:
    """Check that on a game's path each position follows from the one before by one or more
    moves."""
    generator = made(iterations=16)
    for seed in range(6):
        start = selfplay.opening(Random(seed))
        samples = generator.game(start, seed)
        assert samples == generator.game(start, seed)
        assert samples != generator.game(start, seed + 100)
        flags = [sample[2] for sample in samples]
        path = flags.index(FIRST | OFF_PATH) if FIRST | OFF_PATH in flags else len(flags)
        assert flags == [FIRST] + [0] * (path - 1) + [FIRST | OFF_PATH] * (len(flags) - path)
        assert 0.05 < 1 - path / len(flags) < 0.4
        results = {numbers[32:36] for numbers in map(selfplay.RECORD.unpack, samples[:path])}
        assert len(results) == 1
        assert sum(results.pop()) == 12
        for number, sample in enumerate(samples):
            position, numbers = unpacked(sample)
            assert sum(numbers[28:32]) == pytest.approx(65535, abs=2)
            moves = numbers[36:]
            shares = moves[2 : 3 * numbers[3] : 3]
            assert list(shares) == sorted(shares, reverse=True)
            assert 200 < sum(shares) <= 258
            legal = position.legal()
            for at in range(numbers[3]):
                start_cell, end_cell = moves[3 * at], moves[3 * at + 1]
                move = (start_cell % 10, start_cell // 10, end_cell % 10, end_cell // 10)
                assert move in legal
            if number >= path:
                assert numbers[32:36] == (0, 0, 0, 0)
        plies = [sample[0] for sample in samples[:path]]
        assert plies == sorted(set(plies))


def test_other_players_move_and_give_no_samples() -> None:
    seen = []

    def choose(position: Position) -> tuple[int, ...]:
        seen.append(position.to_move)
        return position.legal()[0]

    samples = made(iterations=16).game(
        Position.start(), 5, off_path_share=0, others={1: choose, 2: choose}
    )
    assert set(seen) == {1, 2}
    assert {sample[0] % SEATS for sample in samples} == {0, 3}
    with pytest.raises(IllegalMoveError):
        made().game(Position.start(), 5, others={0: lambda _: (0, 0, 0, 0)})


def test_it_plays_well_with_few_iterations() -> None:
    """Play against three greedy players; a quarter of the wins is fair."""
    wins: Counter[bool] = Counter()
    for seed in range(12):
        greedy = player("greedy", seed)
        position = Position.start(seed, opening=4)
        generator = made(iterations=32)
        while not position.over:
            if position.to_move == seed % SEATS and len(position.legal()) > 1:
                found = generator.search(position, seed)
                move = max(found, key=lambda one: one[2])[0]
            else:
                move = greedy.choose(position, Limits()).move
            position = position.play(move)
        wins[position.scores()[seed % SEATS] == 0] += 1
    assert wins[True] >= 9


@pytest.mark.parametrize("name", ["gumbel", "gumbel:outsiders=0.4,considered=8"])
def test_units_are_reproducible(name: str) -> None:
    unit = units.SelfplayUnit(number=1, game="ugolki", seed=3, games=2, nodes=16, player=name)
    first = units.play(unit)
    assert first == units.play(unit)
    assert first.result.positions * selfplay.RECORD.size == len(first.samples) > 0
    one, two = (selfplay.play_games(range(number, number + 1), 3, 16, name) for number in (2, 3))
    assert b"".join(one + two) == first.samples


def test_seats_are_drawn_from_several_weights(tmp_path: Path) -> None:
    other = tmp_path / "other.bin"
    other.write_bytes(WEIGHTS)
    name = f"gumbel:weights={gumbel.PACKAGE_WEIGHTS}+{other}"
    assert selfplay.play_games(range(1), 3, 16, name)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("gumbel:weights=/nowhere", "cannot read /nowhere"),
        ("gumbel:seats=1", "gumbel has no option 'seats'"),
        ("gumbel:considered=0", "considered takes an integer from 1 to 168"),
    ],
)
def test_wrong_options(name: str, why: str) -> None:
    with pytest.raises(QuartetError, match=why):
        selfplay.play_games(range(0), 1, 16, name)
    with pytest.raises(QuartetError, match="a generator takes weights, 1 to 4096 iterations"):
        selfplay.play_games(range(0), 1, 5000, "gumbel")


def test_the_test_set_does_not_play_in_its_games() -> None:
    assert not set(gumbel.FIELD) & set(HALVES[TEST_HALF])


def test_the_networks_learn_from_its_samples(tmp_path: Path) -> None:
    for number in range(2):
        unit = units.SelfplayUnit(
            number=number, game="ugolki", seed=3, games=8, nodes=16, player="gumbel"
        )
        samples = units.play(unit).samples
        file = tmp_path / f"{number:06}.samples"
        file.write_bytes(seal("samples", {"game": "ugolki"}, samples))
    out = tmp_path / "weights.bin"
    options = ["--begin", gumbel.PACKAGE_WEIGHTS, "--epochs", 1, "--policy-epochs", 1]
    done = CliRunner().invoke(command, ["fit", *map(str, [tmp_path, "--out", out, *options])])
    assert done.exit_code == 0, done.output
    assert "sharpness of the search's win shares" in done.output
    assert Generator([out.read_bytes()]).game(Position.start(), 1)
