"""The frozen opponents of Ugolki have fixed names, strength and limits."""

from __future__ import annotations

import hashlib

import pytest

from core.errors import RuleError, UnknownNameError
from core.limits import Limits
from core.native.clock import now
from ugolki.frozen.bot2611.engine import Bot2611
from ugolki.geometry import SEATS
from ugolki.players import player
from ugolki.protocol import PASS
from ugolki.rules import Position


def alone(name: str) -> int:
    """Return the number of moves that a player needs to come home alone on the board."""
    position, moves = (
        Position.from_cells([label if label == 1 else 0 for label in Position.start().cells]),
        0,
    )
    searcher = player(name)
    while not position.over:
        if position.to_move == 0:
            position = position.play(searcher.choose(position, Limits()).move)
            moves += 1
        else:
            position = position.lose_turn()
    assert position.scores()[0] == 0
    return moves


@pytest.mark.parametrize("name", ["beam:30", "beam:100", "brs:3", "uct:500"])
def test_alone_they_come_home(name: str) -> None:
    assert 19 <= alone(name) <= 30  # 19 is optimal


def test_beams_beat_three_greedy_players() -> None:
    wins = 0
    for seed in range(8):
        position = Position.start(seed, opening=4)
        searchers = [
            player("beam:100" if seat == seed % SEATS else "greedy", seed * SEATS + seat)
            for seat in range(SEATS)
        ]
        while not position.over:
            position = position.play(searchers[position.to_move].choose(position, Limits()).move)
        wins += position.scores()[seed % SEATS] == 0
    assert wins >= 5  # fair is 2


def test_a_beam_is_the_same_from_every_seat() -> None:
    start = Position.start()
    for width in (1, 20):
        scores = {
            player(f"beam:{width}").choose(Position.from_cells(start.cells, seat), Limits()).score
            for seat in range(SEATS)
        }
        assert len(scores) == 1


def test_a_beam_finds_a_short_solo_path() -> None:
    cells = [0] * 100
    for column, row in ((6, 6), (7, 6), (8, 6), (6, 7), (7, 7), (4, 8)):
        cells[row * 10 + column] = 1
    position = Position.from_cells(cells)
    info = player("beam:10").choose(position, Limits())
    assert (info.move, info.depth) == ((4, 8, 5, 8), 2)
    with pytest.raises(RuleError, match="no piece can move"):
        player("beam:10").choose(Position.from_cells(cells, 1), Limits())


def test_tree_search_makes_its_iterations_or_fewer() -> None:
    start = Position.start()
    assert player("uct:700").choose(start, Limits()).nodes == 700
    assert player("uct:700").choose(start, Limits(nodes=300)).nodes == 300
    assert player("uct:700").choose(start, Limits(deadline=now() - 1)).nodes == 128


@pytest.mark.parametrize(("observing", "figure"), [(False, "d2d96030"), (True, "7de56287")])
def test_the_bot_of_november_plays_as_it_did(observing: bool, figure: str) -> None:
    """Compare the choices in three games at a node limit with those of the day of the freeze."""
    choices = []
    for kind in ("beam:30", "brs:3", "greedy"):
        bot, others, position = Bot2611(), player(kind, 1), Position.start(3, opening=4)
        while not position.over:
            move: tuple[int, ...] = PASS
            if position.legal() == [PASS]:
                pass
            elif position.to_move == 0:
                info = bot.choose(position, Limits(nodes=500))
                move = info.move
                choices.append((move, info.score, info.nodes, info.pv))
            else:
                move = others.choose(position, Limits()).move
                if observing:
                    bot.observe(position, move)
            position = position.play(move)
    assert hashlib.sha256(repr(choices).encode()).hexdigest()[:8] == figure


@pytest.mark.parametrize(
    "name", ["beam", "beam:", "beam:0", "beam:1001", "uct:0", "uct:x", "brs:21", "uct:٣"]
)
def test_invalid_names_are_rejected(name: str) -> None:
    with pytest.raises(UnknownNameError, match="no built-in player"):
        player(name)
