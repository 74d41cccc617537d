"""The fast rules of Ataxx equal the reference rules on boards that no game from the start reaches.
Tests of UAI texts have a separate file."""

from __future__ import annotations

import json
from itertools import combinations
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ataxx import reference, rules
from ataxx.fen import EMPTY, FIRST, SECOND, SIZE, START, WALL
from ataxx.protocol import ILLEGAL, PASS
from ataxx.reference import FAR, NAMES, NEAR
from core.errors import IllegalMoveError, RuleError
from tests.games import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.rules import Move

CELLS = SIZE * SIZE
TABLE = json.loads((ROOT / "tests" / "data" / "ataxx" / "perft.json").read_text(encoding="utf-8"))
SAMPLE_MOVES = "3x2x/7/xxxxxxx/xxxxxxx/7/7/xxxxxxx x 0 1"


def agree(slow: reference.Position, fast: rules.Position) -> None:
    """Assert that all properties of the two positions are equal."""
    assert fast.text() == slow.text()
    assert fast.cells == slow.cells
    assert (fast.ply, fast.to_move, fast.halfmoves) == (slow.ply, slow.to_move, slow.halfmoves)
    assert (fast.plies, fast.halfmove_limit) == (slow.plies, slow.halfmove_limit)
    assert (fast.over, fast.scores()) == (slow.over, slow.scores())
    assert fast.legal() == slow.legal()
    assert fast.pseudolegal() == slow.pseudolegal()
    assert fast.key == fast.recomputed_key()
    assert fast.perft(1) == fast.perft(1, bulk=False) == slow.perft(1)


def both(cells: Sequence[int], **state: int) -> tuple[reference.Position, rules.Position]:
    return reference.Position(tuple(cells), **state), rules.Position.from_cells(cells, **state)


@st.composite
def boards(draw: st.DrawFn) -> tuple[reference.Position, rules.Position]:
    """Draw any board: with walls, crowded, empty, or without pieces of a side. Its counters are
    near their limits or far from them."""
    random = draw(st.randoms(use_true_random=False))
    weights = [
        draw(st.sampled_from(choice))
        for choice in ([0.1, 1, 5, 20], [0, 1, 5], [0, 1, 5], [0, 1, 5, 30])
    ]
    ply, halfmoves = draw(st.integers(0, 60)), draw(st.integers(0, 12))
    return both(
        random.choices([EMPTY, FIRST, SECOND, WALL], weights, k=CELLS),
        ply=ply,
        halfmoves=halfmoves,
        plies=draw(st.sampled_from([400, ply, ply + 1, ply + 2, ply + 9])),
        halfmove_limit=draw(st.sampled_from([0, 100, halfmoves, halfmoves + 1, halfmoves + 2])),
    )


@given(boards())
def test_both_rules_describe_any_board_alike(
    pair: tuple[reference.Position, rules.Position],
) -> None:
    slow, fast = pair
    agree(slow, fast)
    for move in slow.legal():
        agree(slow.play(move), fast.play(move))


@given(boards(), st.randoms(use_true_random=False))
def test_both_rules_play_any_board_alike(
    pair: tuple[reference.Position, rules.Position], random: Random
) -> None:
    slow, fast = pair
    while not slow.over and slow.ply < 120:
        move = random.choice(slow.legal())
        slow, fast = slow.play(move), fast.play(move)
        agree(slow, fast)


def test_both_rules_pass_alike() -> None:
    """Use many walls: one side often has no legal move while the other can move."""
    random = Random(3)
    passes = 0
    for _ in range(2000):
        slow, fast = both(
            random.choices([EMPTY, FIRST, SECOND, WALL], [1, 1, 1, 10], k=CELLS),
            ply=random.randrange(2),
            halfmoves=5,
        )
        agree(slow, fast)
        if slow.legal() == [PASS]:
            agree(slow.play(PASS), fast.play(PASS))
            passes += 1
    assert passes > 50


@given(boards())
def test_leaves_are_counted_and_generated_alike(
    pair: tuple[reference.Position, rules.Position],
) -> None:
    """Search two plies, so that the last ply starts in every kind of final position."""
    slow, fast = pair
    if len(slow.legal()) <= 40:
        assert fast.perft(2) == fast.perft(2, bulk=False) == slow.perft(2)
    assert fast.perft(3) == fast.perft(3, bulk=False)


@pytest.mark.parametrize("bulk", [True, False])
def test_perft_of_the_table(bulk: bool) -> None:
    for line in TABLE:
        position = rules.Position.parse(line["position"] or START, **line["options"])
        assert position.perft(line["depth"], bulk=bulk) == line["nodes"], line


@given(boards(), st.tuples(*[st.integers(-1, 8)] * 4))
def test_names_of_moves(pair: tuple[reference.Position, rules.Position], move: Move) -> None:
    slow, fast = pair
    assert fast.canonical(move) == slow.canonical(move)
    if slow.canonical(move) in slow.legal():
        agree(slow.play(move), fast.play(move))
        return
    for position in pair:
        with pytest.raises(IllegalMoveError) as refused:
            position.play(move)
        assert refused.value.code == ILLEGAL


@given(boards())
def test_all_names_of_all_moves(pair: tuple[reference.Position, rules.Position]) -> None:
    """Check that any piece next to the cell may be named, and no other."""
    slow, fast = pair
    legal = set(slow.legal()) - {PASS}
    for end in {move[2:] for move in legal}:
        index = NAMES.index(end)
        for start in [*NEAR[index], *FAR[index]]:
            move = NAMES[start] + end
            named = fast.canonical(move)
            assert named == slow.canonical(move)
            if named in legal:
                assert fast.play(move).text() == fast.play(named).text()
            else:
                with pytest.raises(IllegalMoveError):
                    fast.play(move)


def test_the_neighbours_of_every_cell() -> None:
    """Check that a lone piece reaches all cells within two steps, and takes all pieces within one
    step."""
    for cell in range(CELLS):
        alone = [EMPTY] * CELLS
        alone[cell] = FIRST
        reached = [NAMES[cell] + NAMES[end] for end in sorted(NEAR[cell] + FAR[cell])]
        assert rules.Position.from_cells(alone).pseudolegal() == reached
        crowd = [SECOND] * CELLS
        crowd[cell], crowd[FAR[cell][0]] = EMPTY, FIRST
        after = rules.Position.from_cells(crowd).play(NAMES[FAR[cell][0]] + NAMES[cell]).cells
        assert [index for index, label in enumerate(after) if label == FIRST] == sorted(
            [cell, *NEAR[cell]]
        )


def test_many_moves() -> None:
    """Test a board with very many moves, found by hill climbing. The list of moves has room for
    256."""
    slow, fast = reference.Position.parse(SAMPLE_MOVES), rules.Position.parse(SAMPLE_MOVES)
    assert fast.pseudolegal() == slow.pseudolegal()
    assert len(fast.pseudolegal()) == 197


def test_keys_distinguish_pieces_and_side() -> None:
    """Check that keys are distinct on all boards with up to two pieces and either side to move.
    Their halves collide no more often than chance predicts."""
    keys = []
    for places in [*combinations(range(CELLS), 1), *combinations(range(CELLS), 2)]:
        for labels in range(2 ** len(places)):
            cells = [EMPTY] * CELLS
            for number, place in enumerate(places):
                cells[place] = FIRST + (labels >> number & 1)
            keys += [rules.Position.from_cells(cells, ply).key for ply in (0, 1)]
    assert len(set(keys)) == len(keys)
    for shift in (0, 16, 32, 48):
        slots = {key >> shift & 0xFFFF for key in keys}
        expected = 65536 * (1 - (1 - 1 / 65536) ** len(keys))
        assert abs(len(slots) - expected) < 0.02 * expected


def test_the_key_does_not_depend_on_the_path() -> None:
    """Check that two leaps in either order give one key. The clock, the limits and walls do not
    change it."""
    start = rules.Position.parse("xx5/7/7/7/7/7/5oo x 0 1")
    first: list[Move] = [(1, 1, 3, 1), (7, 7, 5, 7), (1, 2, 3, 2), (7, 6, 5, 6)]
    second = [first[2], first[3], first[0], first[1]]
    ends: list[Any] = []
    for moves in (first, second):
        position = start
        for move in moves:
            position = position.play(move)
        ends.append(position)
    assert ends[0].key == ends[1].key != start.key
    assert (
        rules.Position.parse("7/7/xx5/7/5oo/7/7 x 9 30", plies=90, halfmove_limit=10).key
        == ends[0].key
    )
    assert rules.Position.parse("7/7/xx5/7/5oo/7/7 o 0 1").key != ends[0].key


@pytest.mark.parametrize(
    ("cells", "state"),
    [
        ([EMPTY] * 48, {}), ([EMPTY] * 48 + [4], {}), ([EMPTY] * 48 + [-1], {}),
        ([EMPTY] * 49, {"ply": -1}), ([EMPTY] * 49, {"plies": 1 << 40}), (
            [EMPTY] * 49, {"halfmoves": 40000}
        ), ([EMPTY] * 49, {"halfmove_limit": -5}),
    ],
)  # fmt: skip
def test_values_out_of_range_are_rejected(cells: list[int], state: dict[str, int]) -> None:
    with pytest.raises(RuleError) as refused:
        rules.Position.from_cells(cells, **state)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize(
    "position_of", [reference.Position, rules.Position], ids=["reference", "fast"]
)
def test_the_greatest_counts(position_of: type[reference.Position | rules.Position]) -> None:
    position = position_of.parse("x5o/7/7/7/7/7/o5x o 9999 9999", plies=20000)
    assert (position.ply, position.halfmoves) == (19997, 9999)
    assert position.play((1, 7, 1, 5)).text() == "x3o2/7/7/7/7/7/o5x x 10000 10000"
