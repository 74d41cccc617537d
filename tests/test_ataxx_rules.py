"""Both rules of Ataxx are correct in what is specific to the game; test_contract.py has the tests
for every game."""

from __future__ import annotations

from random import Random

import pytest

from ataxx import rules
from ataxx.fen import START
from ataxx.players import player
from ataxx.reference import PASS, Position
from core.errors import IllegalMoveError, RuleError, TextError, UnknownNameError
from core.limits import Limits

BOTH = pytest.mark.parametrize("position_of", [Position, rules.Position], ids=["reference", "fast"])
Rules = type[Position] | type[rules.Position]


def played(position_of: Rules, fen: str, *moves: tuple[int, ...]) -> str:
    position = position_of.parse(fen)
    for move in moves:
        position = position.play(move)
    return position.text()


@BOTH
def test_the_start(position_of: Rules) -> None:
    position = position_of.start()
    assert position.text() == START
    assert position.cells.count(0) == 45
    assert position.cells[0] == position.cells[48] == 1  # FIRST on (1,1) and (7,7)
    assert position.cells[6] == position.cells[42] == 2  # SECOND on (1,7) and (7,1)
    assert position.scores() == (2, 2)
    assert [position.perft(depth) for depth in range(4)] == [1, 16, 256, 6460]


@BOTH
def test_division_leap_and_infection(position_of: Rules) -> None:
    assert (
        played(position_of, "x6/7/1oo4/7/7/7/7 x 5 1", (1, 1, 2, 2)) == "x6/1x5/1xx4/7/7/7/7 o 0 1"
    )
    assert (
        played(position_of, "x6/7/1oo4/7/7/7/7 x 5 1", (1, 1, 2, 1), (3, 3, 1, 2))
        == "oo5/o6/1x5/7/7/7/7 x 1 2"
    )
    assert played(position_of, "x6/7/3oo2/7/7/7/7 x 5 1", (1, 1, 3, 3)) == "7/7/2xxo2/7/7/7/7 o 6 1"


@BOTH
def test_divisions_into_one_cell_are_one_move(
    position_of: Rules,
) -> None:
    position = position_of.parse("xx4o/7/7/7/7/7/7 x 0 1")
    onto = [move for move in position.legal() if move[2:] == (2, 1)]
    assert onto == [(1, 1, 2, 1)]
    assert position.canonical((1, 2, 2, 1)) == (1, 1, 2, 1)
    assert position.play((1, 2, 2, 1)).text() == position.play((1, 1, 2, 1)).text()
    with pytest.raises(IllegalMoveError):
        position.play((2, 2, 2, 1))


def test_aliases_of_moves_have_a_canonical_move() -> None:
    random = Random(4)
    for _ in range(5):
        position = Position.start()
        while not position.over:
            legal = position.legal()
            assert [position.canonical(move) for move in legal] == legal
            named = tuple(random.randint(1, 7) for _ in range(4))
            if position.canonical(named) in legal:
                assert position.play(named) == position.play(position.canonical(named))
            else:
                with pytest.raises(IllegalMoveError):
                    position.play(named)
            position = position.play(random.choice(legal))
            assert Position.parse(position.text()) == position


@BOTH
def test_a_pass_is_forced_or_forbidden(position_of: Rules) -> None:
    stuck = position_of.parse("x--4/---4/---4/7/7/7/6o x 0 1")
    assert stuck.legal() == [PASS]
    assert stuck.pseudolegal() == []
    assert stuck.play(PASS).text() == "x--4/---4/---4/7/7/7/6o o 1 1"
    with pytest.raises(IllegalMoveError):
        position_of.start().play(PASS)


@BOTH
@pytest.mark.parametrize(
    ("fen", "options", "over"),
    [
        ("xx5/7/7/7/7/7/7 o 0 1", {}, True),
        ("7/7/7/7/7/7/7 x 0 1", {}, True),
        ("xxxxxxx/xxxxxxx/xxxxxxx/xxxxxxx/xxxxxxx/xxxxxxx/ooooooo x 0 9", {}, True),
        ("xxxxxxx/xxxxxxx/xxxxxxx/xxxxxxx/xxxxxxx/xxxxxxx/oooooo1 x 0 9", {}, False),
        ("x-5/--5/7/7/7/5--/5-o x 0 1", {}, False),  # a leap crosses a wall
        (
            "x--4/---4/---4/7/4---/4---/4--o x 0 1",
            {},
            True,
        ),  # empty cells, but neither side can move
        ("x5o/7/7/7/7/7/o5x x 100 1", {}, False),
        ("x5o/7/7/7/7/7/o5x x 100 1", {"halfmove_limit": 100}, True),
        ("x5o/7/7/7/7/7/o5x x 99 1", {"halfmove_limit": 100}, False),
        ("x5o/7/7/7/7/7/o5x o 0 200", {}, False),
        ("x5o/7/7/7/7/7/o5x x 0 201", {}, True),
        ("x5o/7/7/7/7/7/o5x o 0 1", {"plies": 1}, True),
    ],
)
def test_the_end(position_of: Rules, fen: str, options: dict[str, int], *, over: bool) -> None:
    position = position_of.parse(fen, **options)
    assert position.over is over
    assert (position.legal() == []) is over
    assert (position.perft(1) == 0) is over
    if over:
        with pytest.raises(IllegalMoveError, match="the game is over"):
            position.play((1, 1, 1, 2))


@BOTH
@pytest.mark.parametrize(
    "fen",
    [
        START,
        "x5o/7/2-1-2/3-3/2-1-2/7/o5x o 17 23",
        "7/7/7/7/-------/-------/x5o x 0 1",
        "x1x1o1-/7/7/7/7/7/7 o 3 2",
    ],
)
def test_fen_is_parsed_back(position_of: Rules, fen: str) -> None:
    assert position_of.parse(fen).text() == fen


@BOTH
@pytest.mark.parametrize(
    "text",
    [
        "", "x5o/7/7/7/7/7/o5x", "x5o/7/7/7/7/7/o5x x 0", "x5o/7/7/7/7/7/o5x x 0 1 1",
        "x5o/7/7/7/7/7 x 0 1", "x5o/7/7/7/7/7/o5x/7 x 0 1",
        "x6o/7/7/7/7/7/o5x x 0 1", "x4o/7/7/7/7/7/o5x x 0 1", "x5O/7/7/7/7/7/o5x x 0 1",
        "x5o/7/7/7/7/7/o5x w 0 1", "8/7/7/7/7/7/7 x 0 1",
        "x5o/7/7/7/7/7/o5x x 0 0", "x5o/7/7/7/7/7/o5x x -1 1", "x5o/7/7/7/7/7/o5x x ² 1",
        "x5o/7/7/7/7/7/o5x x 0 10000", "x5o/7/7/7/7/7/o5x x 10000 1", "x0o5/7/7/7/7/7/7 x 0 1",
    ],
)  # fmt: skip
def test_bad_fen_is_rejected_with_one_sentence(position_of: Rules, text: str) -> None:
    with pytest.raises(TextError) as refused:
        position_of.parse(text)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("move", "why"),
    [
        (PASS, "only when no piece can move"), ((1, 1), "four numbers"), (
            (0, 1, 1, 1), "off the board"
        ), ((1, 1, 1, 8), "off the board"), ((1, 1, 1, 1), "another cell"),
        ((1, 7, 1, 6), "none of the mover's"), (
            (3, 3, 3, 4), "none of the mover's"
        ), ((1, 1, 1, 4), "further than two"), ((7, 7, 7, 1), "not empty"),
        ((1 << 40,) * 4, "off the board"),
    ],
)  # fmt: skip
def test_messages_of_illegal_moves(move: tuple[int, ...], why: str) -> None:
    with pytest.raises(IllegalMoveError, match=why) as refused:
        Position.start().play(move)
    assert refused.value.code == "Not legal"


@BOTH
def test_forfeited_turns_are_not_part_of_the_rules(position_of: Rules) -> None:
    with pytest.raises(RuleError):
        position_of.start().lose_turn()


def test_greedy_takes_most() -> None:
    position = Position.parse("x6/7/1oo4/7/7/7/7 x 0 1")
    info = player("greedy", 1).choose(position, Limits())
    assert info.move[2:] == (2, 2)
    assert info.score == 4
    assert player("random", 1).choose(position, Limits()).move in position.legal()
    with pytest.raises(UnknownNameError, match="greedy"):
        player("unknown")
    with pytest.raises(RuleError):
        player("greedy").choose(Position.parse("x6/7/7/7/7/7/7 x 0 1"), Limits())
