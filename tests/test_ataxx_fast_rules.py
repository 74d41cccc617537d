"""The fast rules of Ataxx against the reference, beyond what every game promises: walls, odd positions, names of moves, keys."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ataxx import fen, reference, rules
from core.errors import IllegalMoveError, RuleError, TextError

boards = st.lists(st.sampled_from([0, 0, 0, 1, 1, 2, 2, 3]), min_size=49, max_size=49)


@given(boards, st.integers(0, 401), st.integers(0, 101), st.sampled_from([0, 100]))
def test_any_board_is_the_same_to_both(cells: list[int], ply: int, halfmoves: int, limit: int) -> None:
    slow = reference.Position(tuple(cells), ply, halfmoves, halfmove_limit=limit)
    fast = rules.Position.from_cells(cells, ply, halfmoves, halfmove_limit=limit)
    assert fast.text() == slow.text()
    assert fast.cells == slow.cells
    assert fast.over == slow.over
    assert fast.legal() == slow.legal()
    assert fast.pseudolegal() == slow.pseudolegal()
    assert fast.scores() == slow.scores()
    assert fast.perft(1) == fast.perft(1, bulk=False) == slow.perft(1)
    assert fast.perft(2) == fast.perft(2, bulk=False)
    for move in slow.legal():
        assert fast.play(move).text() == slow.play(move).text()


def test_any_name_of_a_move_is_taken_and_no_other() -> None:
    random = Random(2)
    slow, fast = reference.Position.start(), rules.Position.start()
    while not slow.over:
        legal = slow.legal()
        for _ in range(30):
            name = tuple(random.randint(0, 8) for _ in range(4))
            if slow.canonical(name) in legal:
                assert fast.canonical(name) == slow.canonical(name)
                assert fast.play(name).text() == slow.play(name).text()
            else:
                assert fast.canonical(name) not in legal
                with pytest.raises(IllegalMoveError):
                    fast.play(name)
        move = random.choice(legal)
        slow, fast = slow.play(move), fast.play(move)
    with pytest.raises(IllegalMoveError, match="over"):
        fast.play((1, 1, 2, 2))


def test_the_key_is_of_the_pieces_and_the_side_alone() -> None:
    position = rules.Position.start()
    assert position.key == rules.Position.parse("x5o/7/7/7/7/7/o5x x 7 20").key
    assert position.key != rules.Position.parse("x5o/7/7/7/7/7/o5x o 0 1").key
    random = Random(3)
    seen: dict[int, object] = {}
    for _ in range(20):
        while not position.over:
            board = (position.cells, position.to_move)
            assert seen.setdefault(position.key, board) == board
            position = position.play(random.choice(position.legal()))
        position = rules.Position.start()
    assert len(seen) > 500


def test_a_long_fen_is_refused_by_both() -> None:
    for position in (reference.Position, rules.Position):
        with pytest.raises(TextError, match="10000"):
            position.parse("x5o/7/7/7/7/7/o5x x 10000 1")
    with pytest.raises(RuleError, match="plies"):
        rules.Position.start(plies=40_000)
    with pytest.raises(RuleError, match="48 cells"):
        rules.Position.from_cells([0] * 48)
    with pytest.raises(RuleError, match="label 4 at row 1, column 2"):
        rules.Position.from_cells([0, 4] + [0] * 47)


def test_the_step_tables_are_the_geometry() -> None:
    """One piece alone on the board shows what is in its rows of the tables."""
    for index in range(49):
        cells = [0] * 49
        cells[index] = fen.FIRST
        cells[(index + 24) % 49] = fen.SECOND
        assert rules.Position.from_cells(cells).pseudolegal() == reference.Position(tuple(cells)).pseudolegal()
