"""Rules and texts of Ugolki are correct in what is specific to the game; test_contract.py has the
tests for every game."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import IllegalMoveError, RuleError, TextError
from core.rules import places
from tests.games import RANDOM_CASES, ROOT
from ugolki import protocol, reference, rules
from ugolki.geometry import FIRST_GOAL_LINE, HOME, PIECES, SEATS, SIZE, absolute, distance, seen
from ugolki.protocol import PASS, UNREADABLE, format_answer, parse_answer, read_input

if TYPE_CHECKING:
    from collections.abc import Iterator

    from core.rules import Move

DATA = ROOT / "tests" / "data" / "ugolki"
EXAMPLE = (DATA / "example_input.txt").read_text()
BOTH = pytest.mark.parametrize(
    "position_of", [reference.Position, rules.Position], ids=["reference", "fast"]
)
Rules = type[reference.Position] | type[rules.Position]
Piece = tuple[int, int, int]
"""(column, row, label)"""

ALL_CELLS = [(column, row) for row in range(SIZE) for column in range(SIZE)]


def board(*pieces: Piece) -> tuple[int, ...]:
    cells = [0] * (SIZE * SIZE)
    for column, row, label in pieces:
        cells[row * SIZE + column] = label
    return tuple(cells)


def both(
    cells: tuple[int, ...], ply: int = 0, moves: int = 50, play_out: bool = False
) -> tuple[reference.Position, rules.Position]:
    return reference.Position(cells, ply, moves, play_out), rules.Position.from_cells(
        cells, ply, moves, play_out
    )


def make(
    position_of: Rules,
    cells: tuple[int, ...],
    ply: int = 0,
    moves: int = 50,
    play_out: bool = False,
) -> reference.Position | rules.Position:
    slow, fast = both(cells, ply, moves, play_out)
    return slow if position_of is reference.Position else fast


def agree(slow: reference.Position, fast: rules.Position) -> None:
    """Assert that two positions are equal in all public attributes."""
    assert fast.cells == slow.cells
    assert (fast.ply, fast.to_move, fast.over, fast.scores()) == (
        slow.ply,
        slow.to_move,
        slow.over,
        slow.scores(),
    )
    assert (fast.moves, fast.play_out) == (slow.moves, slow.play_out)
    assert fast.legal() == slow.legal()
    assert fast.pseudolegal() == slow.pseudolegal()
    assert fast.key == fast.recomputed_key()


# Seats and views


def test_views_are_rotated_boards() -> None:
    for column, row in ALL_CELLS:
        assert seen(0, column, row) == (column, row)
        assert seen(1, column, row) == (row, 9 - column)
        assert seen(2, column, row) == (9 - column, 9 - row)
        assert seen(3, column, row) == (9 - row, column)
        for seat in range(SEATS):
            assert absolute(seat, *seen(seat, column, row)) == (column, row)


def test_the_start_is_that_of_the_statement() -> None:
    homes = [
        {(1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (1, 3)},
        {(6, 1), (7, 1), (8, 1), (7, 2), (8, 2), (8, 3)},
        {(8, 6), (7, 7), (8, 7), (6, 8), (7, 8), (8, 8)},
        {(1, 6), (1, 7), (2, 7), (1, 8), (2, 8), (3, 8)},
    ]
    start = reference.Position.start()
    for seat, home in enumerate(homes):
        assert {absolute(seat, *cell) for cell in HOME} == home
        assert {
            cell for cell, label in zip(ALL_CELLS, start.cells, strict=True) if label == seat + 1
        } == home
    assert start.scores() == (52, 52, 52, 52)


def test_all_seats_see_the_same_start() -> None:
    position = reference.Position.start()
    rows = position.text().splitlines()[1:]
    for ply in range(1, SEATS):
        position = position.lose_turn()
        assert position.text().splitlines() == ["0", *rows], ply


@given(
    random=st.randoms(use_true_random=False),
    seat=st.integers(0, SEATS - 1),
    turn=st.integers(0, 49),
)
def test_views_are_rotated_back(random: Random, seat: int, turn: int) -> None:
    """Check that the text that a seat receives, rotated and relabelled, is the board again."""
    cells = random_cells(random)
    reading = read_input(protocol.format_input(cells, SEATS * turn + seat).encode())
    assert reading.turn == turn
    for (column, row), label in zip(ALL_CELLS, reading.cells, strict=True):
        c, r = absolute(seat, column, row)
        assert cells[r * SIZE + c] == ((label - 1 + seat) % SEATS + 1 if label else 0)


@given(st.tuples(*[st.integers(0, 9)] * 4), st.integers(0, SEATS - 1))
def test_answers_are_parsed_back(move: Move, seat: int) -> None:
    assert parse_answer(format_answer(move, seat), seat) == move


def test_answers_are_in_the_players_view() -> None:
    assert format_answer((1, 2, 3, 0), 0) == "1 2 3 0\n"
    assert parse_answer("1 2 3 0", 0) == (1, 2, 3, 0)
    assert parse_answer("1 2 3 0\n", 1) == (7, 1, 9, 3)
    assert parse_answer("\r\n 1\t2 3 0 \r\n", 2) == (8, 7, 6, 9)
    assert parse_answer("1 2 3 0", 3) == (2, 8, 0, 6)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "1 2 3",
        "1 2 3 0 0",
        "1 2 3 x",
        "1,2,3,0",
        "1 2 3 ²",
        "1 2 3 1.0",
        "1 2 3 9999999999",
        "1 2 3 --1",
    ],
)
def test_malformed_answers(text: str) -> None:
    with pytest.raises(TextError):
        parse_answer(text, 0)


@pytest.mark.parametrize(
    "text", ["1 2 3 -1", "1 2 3 10", "999999999 0 0 0", "0 0 1 1", "1 1 1 1", "-1 -1 -1 -1"]
)
@pytest.mark.parametrize("seat", range(SEATS))
def test_illegal_answers(text: str, seat: int) -> None:
    position = reference.Position.start()
    for _ in range(seat):
        position = position.lose_turn()
    with pytest.raises(IllegalMoveError):
        position.play(parse_answer(text, seat))


# Moves


@BOTH
def test_the_statements_example(position_of: Rules) -> None:
    position = position_of.parse(EXAMPLE)
    assert (position.ply, position.to_move) == (0, 0)
    assert position.text() == EXAMPLE
    assert (1, 2, 3, 0) in position.legal()
    after = position.play((1, 2, 3, 0))
    assert [cell for cell, label in zip(ALL_CELLS, after.cells, strict=True) if label == 1] == [
        (3, 0),
        (1, 1),
        (2, 1),
        (3, 1),
        (2, 2),
        (1, 3),
    ]
    # the statement's picture, by which it would be row, column
    assert (1, 2, 0, 3) not in position.legal()


@BOTH
def test_a_chain_jumps_over_all_pieces_and_stops_anywhere(position_of: Rules) -> None:
    position = make(position_of, board((0, 0, 1), (1, 0, 3), (3, 0, 2), (4, 1, 1), (4, 3, 4)))
    assert {move[2:] for move in position.pseudolegal() if move[:2] == (0, 0)} == {
        (0, 1),
        (2, 0),
        (4, 0),
        (4, 2),
        (4, 4),
    }


@BOTH
def test_a_jump_needs_exactly_one_piece_and_an_empty_cell_behind_it(position_of: Rules) -> None:
    two_in_a_row = make(position_of, board((0, 0, 1), (1, 0, 2), (2, 0, 2), (0, 1, 2), (0, 2, 2)))
    assert two_in_a_row.pseudolegal() == []
    assert two_in_a_row.legal() == [PASS]
    gap = make(position_of, board((0, 0, 1), (2, 0, 2)))
    assert gap.pseudolegal() == [(0, 0, 0, 1), (0, 0, 1, 0)]
    edge = make(position_of, board((8, 9, 1), (9, 9, 2)))
    assert edge.pseudolegal() == [(8, 9, 7, 9), (8, 9, 8, 8)]


@BOTH
def test_a_chain_may_pass_over_its_start_but_not_end_there(position_of: Rules) -> None:
    ring = [(4, 3, 2), (5, 4, 2), (4, 5, 2), (3, 4, 2)]
    position = make(position_of, board((3, 3, 1), *ring))
    targets = {move[2:] for move in position.pseudolegal()}
    assert {(5, 3), (5, 5), (3, 5)} <= targets
    assert (3, 3) not in targets
    # To the right, back, and down: the path crosses the piece's start cell, which is empty then.
    crossing = make(position_of, board((4, 4, 1), (5, 4, 2), (6, 5, 2), (4, 5, 2)))
    assert {(6, 4), (6, 6), (4, 6)} <= {move[2:] for move in crossing.pseudolegal()}


@BOTH
def test_a_piece_cannot_jump_over_itself(position_of: Rules) -> None:
    """Check that its chain cannot jump over the cell that the piece has left."""
    position = make(position_of, board((2, 2, 1), (3, 2, 2), (4, 3, 2), (3, 4, 2), (2, 3, 2)))
    assert all(move[2:] != (0, 2) for move in position.pseudolegal())


@BOTH
def test_a_player_without_a_legal_move_passes(position_of: Rules) -> None:
    walls = [(0, 0, 1), (1, 0, 2), (2, 0, 2), (0, 1, 4), (0, 2, 4)]
    position = make(position_of, board(*walls))
    assert position.legal() == [PASS]
    assert position.play(PASS).ply == 1
    assert position.play(PASS).cells == position.cells
    with pytest.raises(IllegalMoveError):
        position_of.start().play(PASS)


@BOTH
@pytest.mark.parametrize("variant", ["empty", "static"])
def test_the_shortest_solo_paths(position_of: Rules, variant: str) -> None:
    """Play known solutions of 19 moves, alone on the board and with 18 other pieces that do not
    move."""
    known = json.loads((DATA / "solo_optimal.json").read_text())[variant]
    start = reference.Position.start()
    cells = (
        start.cells
        if variant == "static"
        else tuple(label if label == 1 else 0 for label in start.cells)
    )
    position = make(position_of, cells)
    progress, counts = [], []
    for step in known["sequence"]:
        counts.append(len(position.legal()))
        before = position.scores()[0]
        position = position.play(tuple(step))
        after = position.scores()[0]
        assert before is not None
        assert after is not None
        progress.append(before - after)
        while position.to_move and not position.over:
            position = position.lose_turn()
    assert (len(progress), progress, counts) == (
        known["moves"],
        known["penalty_progress"],
        known["legal_moves"],
    )
    assert position.over
    assert position.scores()[0] == 0


# Random placements: dense and sparse, near the target squares and anywhere


def random_cells(random: Random) -> tuple[int, ...]:
    """Return up to six pieces per seat in a part of the board, sometimes near their target
    squares."""
    width, height = random.randint(3, SIZE), random.randint(8, SIZE)
    left, top = random.randint(0, SIZE - width), random.randint(0, SIZE - height)
    free = [(c, r) for c in range(left, left + width) for r in range(top, top + height)]
    random.shuffle(free)
    cells = [0] * (SIZE * SIZE)
    for seat in range(SEATS):
        if random.random() < 0.2:  # nearly home, or home
            free.sort(key=lambda cell, seat=seat: distance(seat, *cell) + random.random() * 2)  # type: ignore[misc]
        for _ in range(random.randint(0, PIECES)):
            column, row = free.pop(0)
            cells[row * SIZE + column] = seat + 1
    return tuple(cells)


def random_positions(count: int) -> Iterator[tuple[reference.Position, rules.Position]]:
    random = Random("placements")
    for _ in range(count):
        moves = random.choice([1, 3, 50])
        yield both(
            random_cells(random), random.randrange(SEATS * moves + 2), moves, random.random() < 0.5
        )


def test_fast_rules_equal_the_reference_rules_on_any_placement() -> None:
    homes = chains = 0
    for slow, fast in random_positions(RANDOM_CASES):
        agree(slow, fast)
        homes += 0 in slow.scores()
        chains += any(
            abs(move[0] - move[2]) + abs(move[1] - move[3]) > 2 for move in slow.pseudolegal()
        )
        if slow.legal():
            move = random_move(slow)
            agree(slow.play(move), fast.play(move))
        agree(slow.lose_turn(), fast.lose_turn())
    # The placements cover enough: games that are won, and chains of jumps.
    assert homes > RANDOM_CASES // 100
    assert chains > RANDOM_CASES // 4


def random_move(position: reference.Position) -> Move:
    return Random(str(position.cells)).choice(position.legal())


def test_perft_agrees_on_any_placement() -> None:
    for slow, fast in random_positions(RANDOM_CASES // 100):
        assert [fast.perft(depth) for depth in (1, 2)] == [slow.perft(depth) for depth in (1, 2)]


def test_the_key_does_not_depend_on_the_order_of_moves() -> None:
    start = rules.Position.start()
    moves = [
        (1, 1, 1, 0),
        (8, 1, 9, 1),
        (8, 8, 8, 9),
        (1, 8, 0, 8),
        (2, 1, 2, 0),
        (7, 1, 7, 0),
        (7, 8, 7, 9),
        (2, 8, 2, 9),
    ]
    one, other = start, start
    for move in moves:
        one = one.play(move)
    for move in moves[4:] + moves[:4]:
        other = other.play(move)
    assert one.key == other.key
    assert one.cells == other.cells


@pytest.mark.parametrize("fault", ["short", "label", "crowd"])
def test_impossible_boards(fault: str) -> None:
    cells = {
        "short": [0] * 99,
        "label": [UNREADABLE] + [0] * 99,
        "crowd": [2] * (PIECES + 1) + [0] * (99 - PIECES),
    }[fault]
    with pytest.raises(RuleError):
        rules.Position.from_cells(cells)


def test_a_cell_that_cannot_be_read_is_a_wall() -> None:
    walled = reference.Position(board((0, 0, 1), (1, 0, UNREADABLE), (0, 1, 2), (0, 2, UNREADABLE)))
    assert walled.pseudolegal() == []
    assert walled.scores() == (12, 5, None, None)


# The end of a game

ALMOST = [(6, 6, 1), (7, 6, 1), (8, 6, 1), (6, 7, 1), (7, 7, 1), (5, 8, 1)]
HOME_RUN = (5, 8, 6, 8)


@BOTH
def test_a_game_ends_when_a_player_is_home(position_of: Rules) -> None:
    after = make(position_of, board(*ALMOST, (0, 0, 2))).play(HOME_RUN)
    assert after.over
    assert after.legal() == []
    assert after.pseudolegal() != []
    with pytest.raises(IllegalMoveError, match="over"):
        after.play(after.pseudolegal()[0])


@BOTH
def test_a_game_ends_after_the_round_with_play_out(position_of: Rules) -> None:
    position = make(position_of, board(*ALMOST, (0, 0, 2), (9, 0, 3)), play_out=True).play(HOME_RUN)
    for _ in range(3):
        assert not position.over
        position = position.lose_turn()
    assert position.over


@BOTH
def test_a_game_ends_after_the_last_move_of_every_player(position_of: Rules) -> None:
    position = position_of.start(moves=2)
    for _ in range(8):
        assert not position.over
        position = position.play(position.legal()[0])
    assert position.over
    assert position.perft(1) == 0


@BOTH
def test_a_position_is_read_with_its_options(position_of: Rules) -> None:
    position = position_of.parse(EXAMPLE.replace("0", "3", 1), moves=4, play_out=True)
    assert (position.ply, position.moves, position.play_out, position.over) == (12, 4, True, False)
    assert position_of.parse(EXAMPLE.replace("0", "4", 1), moves=4).over


def test_scores_and_places() -> None:
    slow, fast = both(board((5, 5, 1), (0, 0, 1), (0, 9, 2), (9, 9, 3)))
    assert slow.scores() == fast.scores() == (14, 0, 12, None)
    assert places(slow.scores(), lower_wins=True) == [3, 1, 2, None]
    assert places((3, 7, 3, 9), lower_wins=True) == [1, 3, 1, 4]
    assert places((3, 7, 3, 9), lower_wins=True, out=[0]) == [4, 2, 1, 3]
    assert places((3, None, 3, 9), lower_wins=True, out=[0, 2]) == [2, None, 2, 1]
    assert places((3, 7), lower_wins=False) == [2, 1]


def test_distances_are_manhattan_distances_to_the_target() -> None:
    for seat in range(SEATS):
        for column, row in ALL_CELLS:
            c, r = seen(seat, column, row)
            goal = [
                (x, y) for x in range(FIRST_GOAL_LINE, SIZE) for y in range(FIRST_GOAL_LINE, SIZE)
            ]
            assert distance(seat, column, row) == min(abs(c - x) + abs(r - y) for x, y in goal)


@BOTH
def test_a_seat_is_emptied(position_of: Rules) -> None:
    left = position_of.start(3, moves=7, opening=5).without(2)
    assert (left.ply, left.moves) == (5, 7)
    assert left.scores()[2] is None
    assert [left.cells.count(label) for label in (1, 2, 3, 4)] == [6, 6, 0, 6]


def test_seats_may_be_left_empty() -> None:
    position = reference.Position.start().without(1).without(3)
    assert position.scores() == (52, None, 52, None)
    assert position.cells.count(2) == position.cells.count(4) == 0
    assert position.lose_turn().legal() == [PASS]


# Texts of servers

LINES = EXAMPLE.splitlines()


@pytest.mark.parametrize(
    "data",
    [
        EXAMPLE.replace("\n", "\r\n").encode(),
        EXAMPLE.encode("utf-8-sig"),
        EXAMPLE.encode("utf-16"),
        EXAMPLE.encode("utf-16-le").join([b"\xff\xfe", b""]),
        EXAMPLE.encode("utf-16-be").join([b"\xfe\xff", b""]),
        EXAMPLE.rstrip("\n").encode(),
        EXAMPLE.replace(" ", "").encode(),
        EXAMPLE.replace(" ", "  \t").encode(),
        EXAMPLE.replace("\n", "\n\n").encode(),
        EXAMPLE.replace("\n", " ").encode(),
        EXAMPLE.replace("\n", "").replace(" ", "").encode(),
    ],
)
def test_servers_differ_in_white_space(data: bytes) -> None:
    reading = read_input(data)
    assert (reading.turn, reading.cells, reading.complaint) == (
        0,
        protocol.parse_input(EXAMPLE)[1],
        None,
    )


@pytest.mark.parametrize("turn", [0, 7, 49, 123])
def test_the_move_number_may_touch_the_board(turn: int) -> None:
    text = "".join([str(turn), *"".join(LINES[1:]).split()])
    reading = read_input(text.encode())
    assert (reading.turn, reading.complaint) == (turn, None)


@pytest.mark.parametrize("absent", ["2", "34", "234"])
def test_players_may_be_absent(absent: str) -> None:
    text = "\n".join(
        [LINES[0], *("".join("0" if x in absent else x for x in line) for line in LINES[1:])]
    )
    assert read_input(text.encode()).complaint is None
    assert rules.Position.parse(text).scores().count(None) == len(absent)


def test_pieces_of_others_may_be_missing() -> None:
    assert (
        read_input(EXAMPLE.replace("0 1 1 1 0 0 2 2 2 0", "0 1 1 1 0 0 2 0 2 0").encode()).complaint
        is None
    )


def faulty(line: int, text: str) -> bytes:
    return "\n".join([*LINES[:line], text, *LINES[line + 1 :]]).encode()


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "empty"),
        (b" \r\n\t", "empty"),
        ("\n".join(LINES[1:]).encode(), "the move number is missing"),
        (faulty(0, "x"), "the move number is 'x'"),
        (faulty(0, "-1"), "the move number is '-1'"),
        (faulty(0, "12345678901"), "the move number is"),
        (faulty(1, "0 0 0 0 0 0 0 0 0"), "row 0 has 9 cells, not 10"),
        (faulty(4, "0 0 0 0 0 0 0 0 0 0 0"), "row 3 has 11 cells, not 10"),
        ("\n".join(LINES[:-1]).encode(), "90 cells after the move number, not 100"),
        ("\n".join([*LINES, LINES[-1]]).encode(), "110 cells after the move number, not 100"),
        (faulty(1, "0 0 5 0 0 0 0 0 0 0"), "unknown digit '5' at column 2, row 0"),
        (faulty(1, "0 0 . 0 0 0 0 0 0 0"), "unknown digit '.' at column 2, row 0"),
        (faulty(1, "0 0 ² 0 0 0 0 0 0 0"), "unknown digit '²' at column 2, row 0"),
        (faulty(1, "0 0 1 0 0 0 0 0 0 0"), "7 of your pieces (1) are on the board, not 6"),
        (faulty(2, "0 1 1 0 0 0 2 2 2 0"), "5 of your pieces (1) are on the board, not 6"),
        (EXAMPLE.replace("1", "0").encode(), "none of your pieces (1) is on the board"),
        (faulty(1, "0 0 3 0 0 0 0 0 0 0"), "player 3 has 7 pieces, more than 6"),
    ],
)
def test_messages_of_bad_inputs(data: bytes, complaint: str) -> None:
    reading = read_input(data)
    assert reading.complaint is not None
    assert complaint in reading.complaint
    assert len(reading.cells) == SIZE * SIZE
    assert set(reading.cells) <= set(range(UNREADABLE + 1))
    for position_of in (reference.Position, rules.Position):
        with pytest.raises(TextError):
            position_of.parse(data.decode())


def test_readable_cells_are_used() -> None:
    """Check that an error in one row does not affect the others. Unreadable cells are walls."""
    good: list[Any] = protocol.parse_input(EXAMPLE)[1]
    short = read_input(faulty(3, "0 1 1 0 0 0 0")).cells
    assert short == [*good[:27], UNREADABLE, UNREADABLE, UNREADABLE, *good[30:]]
    cut = read_input(EXAMPLE[:100].encode()).cells
    read = sum(cell != UNREADABLE for cell in cut)
    assert cut[:read] == good[:read]


@given(st.binary(max_size=300))
def test_any_bytes_are_read(data: bytes) -> None:
    reading = read_input(data)
    assert len(reading.cells) == SIZE * SIZE
    assert reading.turn >= 0


@BOTH
def test_the_seed_determines_a_random_opening(position_of: Rules) -> None:
    first, second, again = (position_of.start(seed, opening=8) for seed in (1, 2, 1))
    assert first.ply == 8
    assert first.text() == again.text() == reference.Position.start(1, opening=8).text()
    assert first.text() != second.text()
    assert position_of.start(1, moves=1, opening=9).over  # no more plies than the game has
