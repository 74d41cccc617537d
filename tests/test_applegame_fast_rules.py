"""The fast rules of the apple game equal the reference rules on boards that few games reach.
Figures of start boards are as published."""

from __future__ import annotations

from random import Random
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from applegame import reference, rules
from applegame.protocol import COLUMNS, PASS, ROWS
from core.errors import IllegalMoveError


def agree(slow: reference.Position, fast: rules.Position) -> None:
    """Assert that all properties of the two positions are equal."""
    assert (fast.text(), fast.rows, fast.scores()) == (slow.text(), slow.rows, slow.scores())
    assert (fast.ply, fast.to_move, fast.passes, fast.over) == (
        slow.ply,
        slow.to_move,
        slow.passes,
        slow.over,
    )
    assert fast.legal() == slow.legal()
    assert fast.pseudolegal() == slow.pseudolegal()
    assert fast.key == fast.recomputed_key()


@st.composite
def boards(draw: st.DrawFn) -> tuple[reference.Position, rules.Position]:
    """Draw any board: full or nearly empty, with small digits, or with empty cells without an
    owner."""
    random = draw(st.randoms(use_true_random=False))
    digits = draw(st.sampled_from(["123456789", "1", "12", "19", "5", "1112345"]))
    weights = [
        draw(st.sampled_from([0.1, 1, 5])),
        *(draw(st.sampled_from([0, 1, 5])) for _ in range(3)),
    ]
    rows = tuple(
        "".join(
            random.choice(digits) if kind == "d" else kind
            for kind in random.choices("dFS0", weights, k=COLUMNS)
        )
        for _ in range(ROWS)
    )
    ply = draw(st.integers(2, 60))
    slow = reference.Position(rows, ply, draw(st.sampled_from([0, 0, 1, 2])))
    return slow, rules.Position.parse(slow.text())


@given(boards(), st.randoms(use_true_random=False))
def test_both_rules_play_any_board_alike(
    pair: tuple[reference.Position, rules.Position], random: Random
) -> None:
    slow, fast = pair
    agree(slow, fast)
    while not slow.over:
        move = random.choice(slow.legal())
        slow, fast = slow.play(move), fast.play(move)
        agree(slow, fast)


@given(boards())
def test_incremental_moves_equal_moves_from_scratch(
    pair: tuple[reference.Position, rules.Position],
) -> None:
    slow, fast = pair
    assert fast.perft(3) == fast.perft(3, incremental=False)
    if len(slow.legal()) <= 40:
        assert fast.perft(2) == slow.perft(2)


@given(boards(), st.tuples(*[st.integers(-1, 17)] * 4))
def test_illegal_moves_have_the_same_messages(
    pair: tuple[reference.Position, rules.Position], move: tuple[int, int, int, int]
) -> None:
    slow, fast = pair
    if move in slow.legal():
        agree(slow.play(move), fast.play(move))
        return
    refused = []
    for position in pair:
        with pytest.raises(IllegalMoveError) as refusal:
            position.play(move)
        refused.append((str(refusal.value), refusal.value.code))
    assert refused[0] == refused[1]


def test_start_boards_have_54_rectangles_on_average() -> None:
    """Compare with known figures over 300 random boards: mean 54, standard deviation 8, range 36 to
    81."""
    counts = [len(rules.Position.start(seed).legal()) - 1 for seed in range(300)]
    assert 52 < fmean(counts) < 56
    assert 7 < stdev(counts) < 9
    assert 30 < min(counts) < max(counts) < 90


def test_keys_distinguish_side_and_passes() -> None:
    start = rules.Position.start(1)
    first, other = (start.play(move) for move in start.legal()[1:3])
    keys = [start, start.play(PASS), start.play(PASS).play(PASS), first, first.play(PASS), other]
    assert len({position.key for position in keys}) == len(keys)
