"""Ugolki's model of the others: what it predicts, with what confidence, and what it remembers
between the moves of a contest."""

from __future__ import annotations

import time
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import pytest

from core.background import BackgroundSearch
from core.limits import Limits
from core.native.clock import now
from ugolki.engine import Engine
from ugolki.geometry import SEATS
from ugolki.opponents.beliefs import ACCURACIES, LEVELS, POLICIES, Beliefs
from ugolki.opponents.model import FILE, OpponentModel, moves_between
from ugolki.opponents.policies import likelihood, predict
from ugolki.players import gain, player
from ugolki.protocol import PASS
from ugolki.rules import Position

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

BEAM, BEST_REPLY, GREEDY = range(POLICIES)
WEIGHTS = 1 + POLICIES * len(ACCURACIES)  # in a line of beliefs
SAME = (
    ("beam:10", BEAM, 0),
    ("beam:30", BEAM, 1),
    ("beam:90", BEAM, 2),
    ("brs:3", BEST_REPLY, 0),
    ("brs:4", BEST_REPLY, 1),
)
"""Frozen players whose search is that of a policy at a level. They have code of their own, so each
tests the other."""


def game(name: str, seed: int, noise: float = 0.0) -> list[tuple[Position, tuple[int, ...]]]:
    """Positions and moves of a game of four of a kind, who play at random now and then."""
    random, searcher, position = Random(seed), player(name, seed), Position.start(seed, opening=4)
    played: list[tuple[Position, tuple[int, ...]]] = []
    while not position.over:
        legal = position.legal()
        move: tuple[int, ...] = PASS
        if legal != [PASS]:
            move = (
                random.choice(legal)
                if random.random() < noise
                else searcher.choose(position, Limits()).move
            )
            played.append((position, move))
        position = position.play(move)
    return played


@pytest.mark.parametrize(("name", "policy", "level"), SAME, ids=[name for name, *_ in SAME])
def test_a_policy_is_what_the_player_of_that_kind_does(name: str, policy: int, level: int) -> None:
    searcher = player(name)
    for seed in range(2):
        for position, _ in game("beam:3", seed, 0.2):
            assert predict(position, policy, level) == [searcher.choose(position, Limits()).move]


def test_greedy_is_any_of_the_moves_that_gain_most() -> None:
    several = 0
    for position, _ in game("beam:3", 0, 0.2):
        best = max(gain(position, move) for move in position.legal())
        found = predict(position, GREEDY, 0)
        assert sorted(found) == sorted(
            move for move in position.legal() if gain(position, move) == best
        )
        several += len(found) > 1
        for move in position.legal():
            chance = 1 / len(found) if move in found else 0
            assert likelihood(position, move, GREEDY, 0) == chance
    assert several > 10


def test_what_a_policy_is_not_for() -> None:
    position = Position.start()
    with pytest.raises(ValueError, match=f"policy {POLICIES}"):
        predict(position, POLICIES, 0)
    with pytest.raises(ValueError, match=f"level {LEVELS}"):
        predict(position, BEAM, LEVELS)
    for policy in range(POLICIES):
        assert predict(Position.from_cells([2] + [0] * 99), policy, 0) == []


def test_beliefs_are_by_bayes_rule() -> None:
    beliefs = Beliefs()
    assert beliefs.expectation()[1] == 0
    hits = (1, 0, 0.5)  # the third predicts two moves
    beliefs.learn(hits, 0.25)
    each = 0.5 / (POLICIES * len(ACCURACIES))
    rows = [
        [each * (accuracy * hit + (1 - accuracy) * 0.25) for accuracy in ACCURACIES] for hit in hits
    ]
    total = 0.5 * 0.25 + sum(map(sum, rows))
    assert beliefs.unknown == pytest.approx(0.125 / total)
    for followed, row in zip(beliefs.followed, rows, strict=True):
        assert followed == pytest.approx([weight / total for weight in row])
    for _ in range(20):
        beliefs.learn(hits, 0.25)
    policy, confidence = beliefs.expectation()
    assert policy == 0
    assert confidence == pytest.approx(max(ACCURACIES), abs=0.02)
    other, anybody = Beliefs(), Beliefs()
    for _ in range(20):
        other.learn([0, 0, 0], 0.25)
        anybody.learn([1, 1, 1], 0.99)  # as everybody would
    assert other.expectation()[1] == anybody.expectation()[1] == 0


def observed(name: str) -> Engine:
    """An engine of seat 0 that has seen a game of three others."""
    engine = Engine()
    for position, move in game(name, 3):
        if position.to_move == 0:
            engine.choose(position, Limits(nodes=200))
        else:
            engine.observe(position, move)
    return engine


@pytest.mark.parametrize(
    ("name", "policy", "level"),
    [
        ("beam:100", BEAM, 0),
        ("beam:15", BEAM, 1),
        ("brs:4", BEST_REPLY, 1),
        ("brs:3", BEST_REPLY, 0),
        ("greedy", GREEDY, 0),
    ],
)
def test_it_sees_who_plays_by_a_policy(name: str, policy: int, level: int) -> None:
    model = observed(name).opponents
    for seat in range(1, SEATS):
        best, confidence = model.expectation(seat, level)
        assert best == policy
        assert confidence > 0.6


def test_it_does_not_see_policies_where_there_are_none() -> None:
    model = observed("random").opponents
    for seat in range(SEATS):
        for level in range(LEVELS):
            assert model.expectation(seat, level)[1] == 0


def test_it_learns_nothing_of_another_game() -> None:
    engine = observed("beam:100")
    engine.choose(Position.start(), Limits(nodes=200))
    assert text(engine.opponents) == text(OpponentModel())


def test_there_is_a_good_report_before_it_learns() -> None:
    """Learning takes milliseconds, and a judge might not wait."""
    engine, reports = Engine(), []
    (before, move), (position, _) = game("brs:4", 1)[3:5]
    engine.observe(before, move)
    engine.choose(
        position,
        Limits(nodes=500),
        lambda info: reports.append((info.nodes, engine.opponents.beliefs[0][3].unknown)),
    )
    assert reports[0] == (128, Beliefs().unknown)
    assert engine.opponents.beliefs[0][3].unknown != Beliefs().unknown


def test_learning_lets_others_run_and_hears_stop() -> None:
    """A prediction at the last level takes many milliseconds. Of some tries one is not disturbed by
    what else this machine does."""
    played = [(position, move) for position, move in game("brs:4", 1)[:60] if position.to_move]
    gaps, stops = [], []
    for _ in range(6):
        engine = Engine()
        for position, move in played[:30]:
            engine.observe(position, move)
        thinking = BackgroundSearch(engine, played[30][0], Limits(nodes=1 << 40))
        last = max(range(LEVELS))
        while engine.opponents.beliefs[last][1].unknown == Beliefs().unknown:
            assert not thinking.wait(0.001)
        started = now()
        moments = [started]
        while moments[-1] < started + 0.05:
            time.sleep(0.001)
            moments.append(now())
        gaps.append(max(after - before for before, after in pairwise(moments)))
        started = now()
        thinking.stop()
        stops.append(now() - started)
        assert thinking.outcome().move in played[30][0].legal()
        assert engine.opponents.observed == []
    assert min(gaps) < 0.012  # 20 ms and more where the lock is held
    assert min(stops) < 0.012


def test_who_does_not_learn_plays_on_as_before() -> None:
    engine, ignorant = Engine(), Engine(model=False)
    for position, move in game("beam:100", 3)[:8]:
        if position.to_move:
            ignorant.observe(position, move)
        else:
            found = [one.choose(position, Limits(nodes=300)) for one in (engine, ignorant)]
            assert (found[0].move, found[0].score) == (found[1].move, found[1].score)


@pytest.mark.slow
def test_knowing_them_wins() -> None:
    """Fixed nodes and openings, so the same games on every machine; the measured shares are in
    docs/experiments/009 and 010."""
    won = {True: 0, False: 0}
    for knowing in won:
        for number in range(16):
            engine, others, seat = Engine(), player("beam:100"), number % SEATS
            position = Position.start(number // SEATS, opening=4)
            while not position.over:
                searcher = engine if position.to_move == seat else others
                move = (
                    searcher.choose(position, Limits(nodes=500)).move
                    if position.legal() != [PASS]
                    else PASS
                )
                if knowing and searcher is others and move != PASS:
                    engine.observe(position, move)
                position = position.play(move)
            won[knowing] += position.scores()[seat] == 0
    assert won[True] >= 13
    assert won[True] > won[False]


# Between moves.


def keys(played: Iterable[tuple[Position, tuple[int, ...]]]) -> list[tuple[int, tuple[int, ...]]]:
    return [(position.key, move) for position, move in played]


def test_moves_are_told_from_two_positions() -> None:
    for seed in range(3):
        played = game("beam:3", seed, 0.3)
        for i in range(0, len(played) - SEATS, SEATS):
            before, after = played[i + 1][0], played[i + SEATS][0]
            assert before.to_move == 1
            assert keys(moves_between(before, after.cells) or ()) == keys(played[i + 1 : i + SEATS])


def test_a_lost_turn_is_no_move() -> None:
    before = Position.start().play((1, 1, 0, 1))
    after = before.lose_turn()
    move = after.legal()[0]
    assert keys(moves_between(before, after.play(move).lose_turn().cells) or ()) == keys(
        [(after, move)]
    )


def test_what_cannot_have_been_played() -> None:
    before = Position.start().play((1, 1, 0, 1))
    cells = list(before.cells)
    assert moves_between(before, Position.start().cells) is None  # our own piece
    first, second = [cell for cell, label in enumerate(cells) if label == 2][:2]
    cells[first], cells[40] = 0, 2
    assert moves_between(before, tuple(cells)) is None  # too far
    cells[second], cells[41] = 0, 2
    assert moves_between(before, tuple(cells)) is None  # two pieces


def text(model: OpponentModel) -> list[list[str]]:
    return [[one.text() for one in row] for row in model.beliefs]


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    played = game("beam:100", 3)
    (position, move), after = played[SEATS], played[2 * SEATS][0]
    known, loaded = observed("beam:100").opponents, OpponentModel()
    assert not loaded.load(str(tmp_path), position)
    known.save(str(tmp_path), position.play(move))
    assert not loaded.load(str(tmp_path), played[3 * SEATS][0])  # a round later
    assert not loaded.load(str(tmp_path), position)
    assert (text(loaded), loaded.observed) == (text(OpponentModel()), [])
    assert loaded.load(str(tmp_path), after)
    assert text(loaded) == text(known)
    assert keys(loaded.observed) == keys(played[SEATS + 1 : 2 * SEATS])


def test_a_spoilt_file_is_none(tmp_path: Path) -> None:
    played = game("beam:100", 3)
    (position, move), after = played[SEATS], played[2 * SEATS][0]
    model, folder = OpponentModel(), str(tmp_path)
    model.save(folder, position.play(move))
    written = (tmp_path / FILE).read_text()
    lines = written.splitlines()
    spoilt = [written[:end] for end in range(0, len(written) - 1, 7)]
    for i in range(len(lines)):
        spoilt += [
            "\n".join([*lines[:i], line, *lines[i + 1 :]])
            for line in ("", "nan " * WEIGHTS, "9" * 30, "-1 " * WEIGHTS, "\x00", "x")
        ]
        spoilt.append("\n".join(lines[:i] + lines[i + 1 :]))
    for wrong in spoilt:
        (tmp_path / FILE).write_text(wrong)
        assert not model.load(folder, after)
    (tmp_path / FILE).write_bytes(b"\xff" * 1000)
    assert not model.load(folder, after)
    (tmp_path / FILE).write_text(written)
    assert model.load(folder, after)
    (tmp_path / FILE).unlink()
    (tmp_path / FILE).mkdir()
    assert not model.load(folder, after)
    model.save(folder, position)  # it cannot; no reason to fail


def test_files_that_lie_about_stay_readable(tmp_path: Path) -> None:
    """The format is part of what a contestant has: it holds from version to version."""
    start = Position.start()
    position = start.play(start.legal()[0])
    weights = " ".join(["0.5", *[repr(0.5 / (WEIGHTS - 1))] * (WEIGHTS - 1)])
    rows = "".join(f"{weights}\n" for _ in range(LEVELS * SEATS))
    cells = "".join(map(str, position.cells))
    (tmp_path / FILE).write_text(f"ugolki memory 1\n1\n{cells}\n{rows}end\n")
    model = OpponentModel()
    assert model.load(str(tmp_path), position.lose_turn().lose_turn().lose_turn())
    assert text(model) == [[weights] * SEATS] * LEVELS
