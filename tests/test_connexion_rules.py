"""The reference rules of Connexion and the judge's sample AI are correct in what is specific to the
game."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from connexion import rules
from connexion.geometry import CELL, CELLS, MISSING, NEIGHBOURS, TILE, TILES
from connexion.players import NAMES, player
from connexion.reference import PASS, Position, group_score
from core.errors import IllegalMoveError, RuleError, TextError, UnknownNameError
from core.limits import Limits

EXAMPLE = (Path(__file__).parent / "data" / "connexion" / "example_input.txt").read_text(
    encoding="ascii"
)


def random_game(seed: int) -> list[Position]:
    random = Random(seed)
    positions = [Position.start(seed)]
    while not positions[-1].over:
        positions.append(positions[-1].play(random.choice(positions[-1].legal())))
    return positions


def test_the_board() -> None:
    assert len(CELLS) == 64
    assert list(CELLS) == sorted(CELLS, key=lambda name: (name[0], name[1], name[2] == "+"))
    assert not set(MISSING) & set(CELLS)
    assert Counter(map(len, NEIGHBOURS)) == {2: 32, 3: 32}
    assert all(cell in NEIGHBOURS[other] for cell in range(64) for other in NEIGHBOURS[cell])
    assert {CELLS[n] for n in NEIGHBOURS[CELL["c5-"]]} == {"c5+", "b5+", "c4+"}
    assert {CELLS[n] for n in NEIGHBOURS[CELL["f4+"]]} == {"f4-", "f5-"}


def test_scores_of_the_statement() -> None:
    cells: list[int | None] = [None] * 64
    for pair in [
        "a4+ G2",
        "a5- G1",
        "b4- B2",
        "b4+ Y2",
        "b5- Y4",
        "b5+ R4",
        "b6- B4",
        "c4+ R3",
        "c5- R2",
        "c5+ Y2",
    ]:
        place, tile = pair.split()
        cells[CELL[place]] = TILE[tile]
    assert group_score(cells, lambda tile: tile % 4) == 24
    assert group_score(cells, lambda tile: tile // 4) == 20


def test_two_samples_play_the_game_of_the_statement() -> None:
    position, sample, move = rules.Position.parse(EXAMPLE), player("sample"), PASS
    while not position.over:
        move = sample.choose(position, Limits()).move
        position = position.play(move)
    assert position.scores() == (314, 270)
    assert (CELLS[move[0]], TILES[move[1]]) == ("f4+", "R2")


def test_hands_and_bags() -> None:
    for seed in range(3):
        positions = random_game(seed)
        assert len(positions) == 65
        assert [p.ply for p in positions] == list(range(65))
        for before, after in pairwise(positions):
            seat = before.to_move
            n = before.ply // 2  # plies of this seat so far
            assert len(before.hands[seat]) == min(5, 32 - n)
            assert (after.drawn is None) == (n >= 27)
            if after.drawn is not None:
                assert after.hands[seat][-1] == after.drawn == before.tiles[seat][5]
            assert after.hands[1 - seat] == before.hands[1 - seat]
            assert Position.parse(after.text()) == after
        assert all(p.drawn is None for p in (positions[0], *positions[55:]))
        assert positions[54].drawn is not None


def test_start_shuffles_two_full_bags() -> None:
    assert Position.start(3) == Position.start(3) != Position.start(4)
    for bag in Position.start(3).tiles:
        assert sorted(bag) == [tile for tile in range(16) for _ in range(2)]
    assert Position.start(3).drawn is None


def test_equal_tiles_are_one_move() -> None:
    position = next(p for seed in range(100) if len(set((p := Position.start(seed)).hands[0])) == 4)
    assert len(position.legal()) == 4 * 64


def test_reveal_exchanges_tiles_within_the_bag() -> None:
    for seed in range(3):
        for position in random_game(seed)[1:54]:
            seat = 1 - position.to_move
            for tile in set(position.tiles[seat][5:]):
                told = position.reveal(tile)
                assert told.drawn == tile
                assert told.hands[seat][:4] == position.hands[seat][:4]
                assert sorted(told.tiles[seat]) == sorted(position.tiles[seat])
                assert (told.cells, told.tiles[1 - seat]) == (
                    position.cells,
                    position.tiles[1 - seat],
                )
            assert position.reveal(position.drawn) is position


def test_impossible_draws_are_rejected() -> None:
    positions = random_game(1)
    with pytest.raises(RuleError, match="draws a tile"):
        positions[1].reveal(None)
    with pytest.raises(RuleError, match="draws nothing"):
        positions[60].reveal(3)
    with pytest.raises(RuleError, match="left in the bag"):
        positions[54].reveal(next(tile for tile in range(16) if tile != positions[54].drawn))
    with pytest.raises(RuleError, match="no tile 16"):
        positions[1].reveal(16)


@pytest.mark.parametrize(
    ("move", "code"),
    [
        ((), "PUT PARSE FAILED"),
        ((1, 2, 3), "PUT PARSE FAILED"),
        (PASS, "CELL PARSE FAILED"),
        ((64, 0), "CELL PARSE FAILED"),
        ((1, 16), "TILE PARSE FAILED"),
    ],
)
def test_illegal_moves_have_the_official_codes(move: tuple[int, ...], code: str) -> None:
    with pytest.raises(IllegalMoveError) as refused:
        Position.start().play(move)
    assert refused.value.code == code


def test_an_occupied_cell_is_noticed_before_a_missing_tile() -> None:
    position = Position.start().play(Position.start().legal()[0])
    absent = next(tile for tile in range(16) if tile not in position.hands[1])
    for cell, code in ((position.legal()[0][0], "NO TILE"), (0, "NOT EMPTY")):
        with pytest.raises(IllegalMoveError) as refused:
            position.play((cell, absent))
        assert refused.value.code == code
    with pytest.raises(IllegalMoveError, match="over"):
        random_game(0)[-1].play((0, 0))


@pytest.mark.parametrize(
    "text",
    [
        "", EXAMPLE.splitlines()[0], EXAMPLE + "a1+", EXAMPLE + "a1- R1", EXAMPLE + "a1+ R1",
        EXAMPLE + "a1+ R5", EXAMPLE + "a1+ R1\na2+ R1",
        EXAMPLE.replace("R1", "R2", 1), EXAMPLE.replace(
            "R1", "R9", 1
        ), EXAMPLE.replace("R1", "", 1), EXAMPLE.replace("R1", "r1", 1), "X0\nX0",
        EXAMPLE.replace("R1 ", "", 1) + "a1+ R1 a1+ R1",
    ],
)  # fmt: skip
def test_bad_texts_are_rejected_with_one_sentence(text: str) -> None:
    with pytest.raises(TextError) as refused:
        Position.parse(text)
    assert len(str(refused.value).splitlines()) == 1


def test_the_official_input_is_a_start() -> None:
    position = Position.parse(EXAMPLE)
    assert position.text() == EXAMPLE.strip()
    assert [TILES[tile] for tile in position.hands[1]] == ["G3", "Y3", "R1", "Y2", "R3"]
    last = random_game(0)[-1]
    assert last.text().splitlines()[:2] == ["X0", "X0"]
    assert last.legal() == []


def test_forfeited_turns_are_not_part_of_the_rules() -> None:
    with pytest.raises(RuleError):
        Position.start().lose_turn()


def test_players_know_their_names() -> None:
    for name in NAMES:
        assert (
            player(name, 1).choose(rules.Position.start(1), Limits(nodes=300)).move
            in Position.start(1).legal()
        )
        with pytest.raises(RuleError):
            player(name, 1).choose(rules.Position.parse(random_game(0)[-1].text()), Limits())
    with pytest.raises(UnknownNameError, match="sample"):
        player("sample:1")
