"""The reference rules of the apple game and the judge's sample AIs are correct in what is specific
to the game."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from applegame.players import NAMES, SLOWER_NAMES, player, swing
from applegame.reference import PASS, Position
from applegame.rules import Position as FastPosition
from core.errors import IllegalMoveError, RuleError, TextError, UnknownNameError
from core.limits import Limits
from core.messages import SIDES
from core.players import lead
from quartet.judge import game as games
from quartet.judge.logs.check import check

DATA = Path(__file__).parent / "data" / "applegame"
EXAMPLE = (DATA / "example_input.txt").read_text(encoding="ascii")
INDEX: list[dict[str, Any]] = json.loads((DATA / "logs" / "index.json").read_text(encoding="utf-8"))


def board(*rows: str) -> Position:
    """Return a board with these rows on top and empty cells without an owner below."""
    return Position.parse(
        "\n".join([*(row.ljust(17, "0") for row in rows), *["0" * 17] * (10 - len(rows))])
    )


def test_perft_of_the_example() -> None:
    assert [Position.parse(EXAMPLE).perft(depth) for depth in range(4)] == [1, 69, 4627, 301695]


def test_the_game_of_the_statement() -> None:
    position = Position.parse(EXAMPLE)
    for move in ((0, 11, 0, 14), (1, 13, 5, 13), PASS, PASS):
        position = position.play(move)
    assert position.over
    assert position.scores() == (4, 5)


def test_a_rectangle_takes_all_its_cells() -> None:
    position = board("1S5", "F04", "S09")
    assert board("1SS", "F09").play((0, 0, 1, 2)).rows[:2] == ("FFF" + "0" * 14,) * 2
    assert board("1SS", "F09").play(PASS).play((0, 0, 1, 2)).rows[:2] == ("SSS" + "0" * 14,) * 2
    assert position.play((0, 0, 1, 2)).rows[2] == position.rows[2]
    assert position.scores() == (1, 2)


def test_rectangles_are_those_that_the_definition_allows() -> None:
    """Compare with the definition, cell by cell, on small corners of random boards."""
    random = Random(2)
    for seed in range(3):
        position = Position.start(seed)
        while not position.over and position.ply < 40:
            expected = [
                (r1, c1, r2, c2)
                for r1 in range(10) for c1 in range(17) for r2 in range(
                    r1, 10
                ) for c2 in range(c1, 17)
                if fits(position, (r1, c1, r2, c2))
            ]  # fmt: skip
            assert position.legal() == [PASS, *expected]
            for _ in range(8):
                position = (
                    position.play(random.choice(position.legal()[1:] or [PASS]))
                    if not position.over
                    else position
                )


def fits(position: Position, move: tuple[int, ...]) -> bool:
    try:
        position.play(move)
    except IllegalMoveError:
        return False
    return True


@pytest.mark.parametrize(
    ("rows", "move", "code"),
    [
        (("19",), (0, 0, 0), "Parse failed"),
        (("19",), (0, 1, 0, 0), "Out of range"),
        (("19",), (0, 0, 0, 17), "Out of range"),
        (("19",), (-1, -1, -1, 0), "Out of range"),
        (("19",), (0, 0, 1 << 40, 1), "Out of range"),
        (("18",), (0, 0, 0, 1), "Sum not equals to 10"),
        (("00",), (0, 0, 0, 1), "Sum not equals to 10"),
        (("190",), (0, 0, 0, 2), "Not fit"),
        (("019",), (0, 0, 0, 2), "Not fit"),
        (("19", "00"), (0, 0, 1, 1), "Not fit"),
        (("00", "19"), (0, 0, 1, 1), "Not fit"),
    ],
)
def test_illegal_moves_have_the_official_codes(
    rows: tuple[str, ...], move: tuple[int, ...], code: str
) -> None:
    with pytest.raises(IllegalMoveError) as refused:
        board(*rows).play(move)
    assert refused.value.code == code


def test_two_passes_in_a_row_end_the_game() -> None:
    position = board("19028").play(PASS).play((0, 0, 0, 1)).play(PASS)
    assert not position.over
    assert position.passes == 1
    last = position.play(PASS)
    assert last.over
    assert last.legal() == []
    assert last.pseudolegal()[0] == PASS
    assert last.scores() == (0, 2)
    with pytest.raises(IllegalMoveError, match="over"):
        last.play(PASS)


def test_a_pass_stands_alone_on_an_empty_board() -> None:
    assert board().legal() == [PASS]


def test_start_draws_digits() -> None:
    assert Position.start(3) == Position.start(3) != Position.start(4)
    cells = "".join(row for seed in range(20) for row in Position.start(seed).rows)
    assert set(cells) == set("123456789")
    assert all(250 < cells.count(digit) < 510 for digit in "123456789")


@pytest.mark.parametrize("change", ["", "ply 3 passes 1", "ply 0 passes 0"])
def test_texts_are_parsed_back(change: str) -> None:
    text = "\n".join([*(["1F0S9" * 3 + "12"] * 10), change or "ply 7 passes 2"])
    assert Position.parse(text).text() == text


def test_plain_rows_are_a_start_position() -> None:
    assert Position.parse(EXAMPLE).text() == EXAMPLE.strip() + "\nply 0 passes 0"


@pytest.mark.parametrize(
    "text",
    [
        "", EXAMPLE[:-10], EXAMPLE + "1", EXAMPLE + "ply 3", EXAMPLE + "ply 3 passes 3",
        EXAMPLE + "ply 0 passes 1", EXAMPLE + "passes 0 ply 0",
        EXAMPLE + "ply -1 passes 0", EXAMPLE + "ply 1² passes 0", EXAMPLE.replace(
            "5", "x", 1
        ), EXAMPLE.replace("5", "²", 1), EXAMPLE.replace("\n", "", 1),
    ],
)  # fmt: skip
def test_bad_texts_are_rejected_with_one_sentence(text: str) -> None:
    with pytest.raises(TextError) as refused:
        Position.parse(text)
    assert len(str(refused.value).splitlines()) == 1


def test_forfeited_turns_are_not_part_of_the_rules() -> None:
    with pytest.raises(RuleError):
        Position.start().lose_turn()


@pytest.mark.parametrize("ai", [1, 2, 3, 4, 6, 7])
def test_sample_ais_play_as_in_their_published_games(ai: int) -> None:
    sample, moves = player(f"sample:{ai}"), 0
    for entry in INDEX:
        if entry.get("sample_ai") == ai:
            log = check(games.load("applegame"), (DATA / "logs" / entry["file"]).read_bytes())
            for position, turn in zip(log.positions, log.turns, strict=False):
                if SIDES[turn.seat] == entry["sample_side"]:
                    assert sample.choose(position, Limits()).move == turn.move
                    moves += 1
    assert moves > 20


def test_players_know_their_names() -> None:
    for name in NAMES + SLOWER_NAMES:
        assert (
            player(name, 1).choose(FastPosition.start(1), Limits(nodes=100)).move
            in Position.start(1).legal()
        )
        with pytest.raises(RuleError):
            player(name, 1).choose(FastPosition.parse(EXAMPLE + "ply 2 passes 2"), Limits())
    with pytest.raises(UnknownNameError, match="sample:8"):
        player("sample:9")
    assert player("greedy", 1).choose(board("190S802"), Limits()).move == (0, 4, 0, 6)
    assert player("greedy", 1).choose(board("190S802"), Limits()).score == 3
    assert player("greedy", 1).choose(board("19S028"), Limits()).score == 2
    assert player("sample:2").choose(board("109", "0064"), Limits()).move == (1, 2, 1, 3)


@pytest.mark.parametrize("plies", [2, 3])
def test_samples_are_full_width_negamax(plies: int) -> None:
    """Compare with plain negamax, without pruning, on half-empty boards, where few moves are
    left."""

    def value(position: Position, depth: int) -> int:
        if depth == 1:
            return lead(position, position.to_move) + max(
                [swing(position, move) for move in position.rectangles()], default=0
            )
        # a pass costs a ply, and never ends the game
        passed = Position(position.rows, position.ply + 1)
        after = [passed, *(position.play(move) for move in position.rectangles())]
        return max(-value(child, depth - 1) for child in after)

    for seed in range(4):
        random, position = Random(seed), Position.start(seed)
        while len(position.rectangles()) > 9:
            position = position.play(random.choice(position.rectangles()))
        best, chosen = -value(Position(position.rows, position.ply + 1), plies - 1), PASS
        for move in sorted(position.rectangles(), key=lambda m: (m[0], m[2], m[1], m[3])):
            found = -value(position.play(move), plies - 1)
            if found > best:
                best, chosen = found, move
        info = player(f"sample:{plies + 2}").choose(position, Limits())
        assert (info.move, info.score) == (chosen, best)


def test_the_bot_passes_only_if_that_wins() -> None:
    bot = player("bot")
    won = "\n".join(["FFF" + "19" * 7] + ["S" + "0" * 16] + ["0" * 17] * 8)
    assert (
        bot.choose(FastPosition.parse(won + "\nply 10 passes 1"), Limits(nodes=1000)).move == PASS
    )
    behind = won.replace("F", "s").replace("S", "F").replace("s", "S")
    assert (
        bot.choose(FastPosition.parse(behind + "\nply 10 passes 1"), Limits(nodes=1000)).move
        != PASS
    )
