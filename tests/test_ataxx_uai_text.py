"""Moves of Ataxx are written and parsed in UAI notation."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ataxx import reference, rules
from ataxx.protocol import PASS
from ataxx.uai_text import format_uai, parse_uai
from core.errors import IllegalMoveError, TextError

BOTH = pytest.mark.parametrize(
    "position_of", [reference.Position, rules.Position], ids=["reference", "fast"]
)
Rules = type[reference.Position] | type[rules.Position]


@pytest.mark.parametrize(
    ("move", "text"),
    [
        ((1, 7, 2, 7), "g6"), ((7, 7, 6, 7), "g2"), ((7, 1, 6, 2), "b2"), (
            (7, 1, 5, 3), "a1c3"
        ), ((1, 1, 3, 1), "a7a5"), (PASS, "0000"),
    ],
)  # fmt: skip
def test_names_of_cells(move: tuple[int, ...], text: str) -> None:
    assert format_uai(move) == text


@BOTH
def test_every_legal_move_is_parsed_back(position_of: Rules) -> None:
    random = Random(2)
    position = position_of.start()
    while not position.over:
        legal = position.legal()
        texts = [format_uai(move) for move in legal]
        assert len(set(texts)) == len(texts)
        assert [parse_uai(text, position) for text in texts] == legal
        position = position.play(random.choice(legal))


@BOTH
def test_the_piece_that_divides_may_be_named(position_of: Rules) -> None:
    position = position_of.parse("xx4o/7/7/7/7/7/7 x 0 1")
    assert (
        parse_uai("b6", position)
        == parse_uai("b7b6", position)
        == parse_uai("a7b6", position)
        == (1, 1, 2, 2)
    )


@BOTH
def test_a_pass_if_no_move_is_possible(position_of: Rules) -> None:
    stuck = position_of.parse("x--4/---4/---4/7/7/7/6o x 0 1")
    assert stuck.play(parse_uai("0000", stuck)).text() == "x--4/---4/---4/7/7/7/6o o 1 1"


@BOTH
@pytest.mark.parametrize("text", ["g2", "a1", "d4"])
def test_divisions_that_no_piece_can_make(position_of: Rules, text: str) -> None:
    with pytest.raises(IllegalMoveError, match=f"divide into {text}"):
        parse_uai(text, position_of.parse("x6/7/7/7/7/7/o6 x 0 1"))


@BOTH
@pytest.mark.parametrize("text", ["a7a4", "a7a7", "c5b5", "a1a2", "0000"])
def test_other_illegal_moves_are_rejected_by_play(position_of: Rules, text: str) -> None:
    position = position_of.parse("x6/7/7/7/7/7/o6 x 0 1")
    with pytest.raises(IllegalMoveError):
        position.play(parse_uai(text, position))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "g",
        "h2",
        "g0",
        "g8",
        "G2",
        "a1c",
        "a1c9",
        "a1c3x",
        "000",
        "00000",
        "none",
        "1a",
        "²2",
        "a²",
        "g2 ",
    ],
)
def test_invalid_texts_are_rejected(text: str) -> None:
    with pytest.raises(TextError) as refused:
        parse_uai(text, reference.Position.start())
    assert len(str(refused.value).splitlines()) == 1


@given(st.text(st.sampled_from("abgh0178 \n²"), max_size=5))
def test_any_text_is_parsed_or_rejected(text: str) -> None:
    position = rules.Position.start()
    try:
        move = parse_uai(text, position)
    except (TextError, IllegalMoveError):
        return
    assert move in position.legal() or move == PASS or len(text) == 4


@pytest.mark.parametrize(
    "move", [(), (1, 1), (1, 1, 1, 1), (1, 1, 1, 4), (0, 1, 1, 1), (7, 7, 8, 8), (-1, -1, 1, 1)]
)
def test_invalid_moves_have_no_text(move: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="not a move"):
        format_uai(move)
