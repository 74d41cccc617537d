"""Connexion's players use only the information that they may have, and play endings exactly."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import islice
from random import Random
from typing import TYPE_CHECKING

import pytest

from connexion import reference
from connexion.engine import Engine
from connexion.frozen.beam import Beam, TimedBeam
from connexion.geometry import NEIGHBOURS
from connexion.players import NAMES, player
from connexion.rules import Position
from core.errors import UnknownNameError
from core.limits import Limits
from core.native.clock import now
from core.players import lead
from tests.games import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from core.limits import SearchInfo
    from core.rules import Move
    from core.rules import Position as AnyPosition

QUICK = Limits(nodes=3000)


def games(seed: int, ply: int = 0) -> Iterator[Position]:
    """Yield positions at that ply of random games."""
    random = Random(seed)
    while True:
        position = Position.start(random.randrange(1 << 30))
        while position.ply < ply:
            position = position.play(random.choice(position.legal()))
        yield position


def reordered(position: Position, random: Random) -> Position:
    """Return a position that looks the same to the players, with the bags in another order."""
    bags = [list(bag) for bag in position.bags]
    for bag in bags:
        random.shuffle(bag)
    return Position.from_tiles(
        position.cells, [(*hand, *bag) for hand, bag in zip(position.hands, bags, strict=True)]
    )


def best_by_brute_force(position: AnyPosition) -> dict[Move, int]:
    """Return move -> the mover's final margin after optimal play by both sides. No chance may be
    left."""
    seat = position.to_move
    values = {}
    for move in position.legal():
        after = position.play(move)
        values[move] = (
            lead(after, seat) if after.over else -max(best_by_brute_force(after).values())
        )
    return values


def test_neighbours_follow_the_geometry() -> None:
    rows = re.findall(
        r"\{(\s*\d+), (\s*\d+), (\s*\d+)\}", (ROOT / "connexion" / "neighbours.h").read_text()
    )
    assert [tuple(int(cell) for cell in row if int(cell) != 64) for row in rows] == list(NEIGHBOURS)


@pytest.mark.parametrize("name", NAMES)
def test_players_do_not_use_the_order_of_the_bags(name: str) -> None:
    random, different = Random(name), 0
    for ply in (0, 1, 20, 45, 49, 50, 51):
        position = next(games(ply, ply))
        other = reordered(position, random)
        different += other.text() != position.text()  # three tiles may keep their order
        assert other.key == position.key
        first, second = (player(name, 1).choose(p, QUICK) for p in (position, other))
        assert (first.move, first.score, first.nodes) == (second.move, second.score, second.nodes)
    assert different >= 4


def plain_beam(
    position: reference.Position, plies: int, width: int, inner: int
) -> tuple[int, Move]:
    """Return the minimax value of the margin by the reference rules, without pruning but the beam.
    Hands are not refilled."""
    seat = position.to_move
    choices = []
    for move in position.legal():
        after = position.play(move)
        hands = [list(hand) for hand in position.hands]
        hands[seat].remove(move[1])
        choices.append(
            (
                lead(after, seat),
                move,
                reference.Position(after.cells, (tuple(hands[0]), tuple(hands[1]))),
            )
        )
    choices.sort(key=lambda choice: -choice[0])
    best = None
    for value, move, after in choices[:width]:
        if plies > 1 and not after.over:
            value = -plain_beam(after, plies - 1, inner, inner)[0]  # noqa: PLW2901
        if best is None or value > best[0]:
            best = value, move
    assert best is not None
    return best


@pytest.mark.parametrize(("plies", "root", "inner"), [(1, 320, 1), (3, 5, 3), (4, 6, 2)])
def test_a_beam_is_minimax_over_the_best_moves(plies: int, root: int, inner: int) -> None:
    for ply in (0, 17, 40, 61, 63):
        for position in islice(games(ply, ply), 3):
            slow = reference.Position.parse(position.text())
            open_tiles = reference.Position(slow.cells, slow.hands)
            score, move = plain_beam(open_tiles, plies, root, inner)
            found = Beam(plies, root, inner).choose(position, Limits())
            assert (found.score, found.move) == (score, move)


def test_a_timed_beam_is_the_widest_beam_that_its_limit_allows() -> None:
    for ply in (17, 40, 61):
        for position in islice(games(ply, ply), 3):
            beams = [Beam(1, 320, 1), *(Beam(4, 320, width) for width in (4, 6, 9))]
            found = [beam.choose(position, Limits()) for beam in beams]
            limit = sum(one.nodes for one in found) + 1
            timed = player("beam:4").choose(position, Limits(nodes=limit))
            assert (timed.score, timed.move) == (found[-1].score, found[-1].move)
            default = player("beam:4").choose(position, Limits())
            wider = Beam(4, 320, 13).choose(position, Limits())
            assert (default.score, default.move) == (wider.score, wider.move)


def test_a_timed_beam_stops_at_its_deadline() -> None:
    position = next(games(1))
    # 20 plies take days
    timed = player("beam:20").choose(position, Limits(deadline=now() + 0.05))
    assert timed.move == Beam(1, 320, 1).choose(position, Limits()).move


def test_margin_plays_the_tile_drawn_first() -> None:
    position = next(games(1))
    # on an empty board all moves are equal
    assert player("margin").choose(position, Limits()).move == (0, position.hands[0][0])


def test_the_names_of_beams() -> None:
    assert isinstance(player("beam:3:8:320"), Beam)
    assert isinstance(player("beam:7"), TimedBeam)
    for name in (
        "beam",
        "beam:5:12",
        "beam:0",
        "beam:0:1:1",
        "beam:5:1:321",
        "beam:-5:1:1",
        "beam:5:1:²",
        "margin:1",
    ):
        with pytest.raises(UnknownNameError):
            player(name)


def test_built_in_players_are_programs() -> None:
    for arguments in ([], ["--player", "margin"], ["--player", "beam:5:12:6"]):
        done = subprocess.run(
            [sys.executable, "-m", "connexion", *arguments],
            cwd=ROOT,
            input="READY FIRST\nINIT R1 R2 R3 R4 G1 B1 B2 B3 B4 Y1\nTIME 1000 1000\nFINISH\n",
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        ready, put = done.stdout.splitlines()
        assert (done.returncode, done.stderr, ready) == (0, "", "OK")
        assert put.split()[2] in {"R1", "R2", "R3", "R4", "G1"}


@pytest.mark.parametrize("left", [1, 2, 3, 4, 5])
def test_endings_are_played_optimally(left: int) -> None:
    engine = Engine()
    for position in islice(games(left, 64 - left), 40 if left < 5 else 6):
        values = best_by_brute_force(position)
        found = engine.choose(position, Limits(depth=64))
        assert values[found.move] == max(values.values()) == found.score
        assert found.depth == left


def test_the_value_of_an_ending_is_the_result_of_best_play() -> None:
    """Check the score at every position of the line against the final margin."""
    engine = Engine()
    for position in islice(games(3, 54), 3):
        promised = [engine.choose(position, Limits(depth=64)).score * (-1) ** position.ply]
        while not position.over:
            found = engine.choose(position, Limits(depth=64))
            promised.append(found.score * (-1) ** position.ply)
            position = position.play(found.move)  # noqa: PLW2901
        assert set(promised) == {lead(position, 0)}


def test_solved_positions_are_remembered() -> None:
    engine, position = Engine(), next(games(8, 55))
    found = engine.choose(position, Limits(depth=64))
    after = position.play(found.move)
    fresh, again = Engine().choose(after, Limits(depth=64)), engine.choose(after, Limits(depth=64))
    assert again.score == fresh.score == -found.score
    assert again.nodes < fresh.nodes / 2


def test_no_move_of_an_ending_is_better_than_the_engine_s() -> None:
    """Check that no other move leaves the opponent less."""
    engine = Engine()
    for position in islice(games(4, 56), 3):
        found = engine.choose(position, Limits(depth=64))
        assert found.score == max(
            -engine.choose(position.play(move), Limits(depth=64)).score for move in position.legal()
        )


def test_the_last_draw_is_averaged() -> None:
    """Check that the value of a move is the mean of both cases if one of two tiles will be
    drawn."""
    engine = Engine()
    for position in islice(games(5, 51), 2):
        found = engine.choose(position, Limits(depth=2))
        values = []
        for move in position.legal():
            after = position.play(move)
            drawn = {after.reveal(tile) for tile in {after.drawn, *after.bags[1]}}
            values.append(
                -sum(engine.choose(case, Limits(depth=1)).score for case in drawn) / len(drawn)
            )
        assert found.score == pytest.approx(max(values), abs=1.01)  # both are rounded to points


def test_a_tree_runs_the_given_playouts() -> None:
    """A search runs exactly N playouts, with the same result every time. It reports at growing
    intervals."""
    engine, position = Engine(), next(games(6, 30))
    told: list[SearchInfo] = []
    first, second = (
        engine.choose(position, Limits(nodes=1000), told.append),
        Engine().choose(position, Limits(nodes=1000)),
    )
    assert (first.move, first.score, first.depth, first.nodes) == (
        second.move,
        second.score,
        second.depth,
        1000,
    )
    assert [info.nodes for info in told] == [16, 32, 64, 128, 256, 512]
    assert engine.choose(position, Limits(nodes=1)).nodes == 1
    assert engine.choose(position, Limits(depth=3)).depth == 3


def test_a_search_with_a_full_tree_continues() -> None:
    position = next(games(7))
    small, large = (Engine().choose(position, Limits(nodes=nodes)) for nodes in (1000, 300_000))
    assert large.nodes == 300_000
    assert large.depth > small.depth
    assert large.move in position.legal()


def test_a_tree_search_beats_the_plain_evaluation() -> None:
    """Play on the same bags with sides swapped: a small tree beats a one-ply search with the
    evaluation."""
    engine, margins = Engine(), []
    for seed in range(6):
        for side in (0, 1):
            position = Position.start(seed)
            while not position.over:
                limits = Limits(nodes=400) if position.to_move == side else Limits(depth=1)
                position = position.play(engine.choose(position, limits).move)
            margins.append(lead(position, side))
    assert sum(margins) > 0


def test_the_value_before_the_last_draws_is_their_mean() -> None:
    """Compare with exact searches at ply 49, where one of three tiles is drawn: the tree's score is
    close to the mean of all three."""
    engine = Engine()
    for position in islice(games(8, 49), 4):
        found = engine.choose(position, Limits(nodes=20_000))
        seat = position.to_move
        after = position.play(found.move)
        bag = [*after.bags[seat], after.drawn]
        later = [-engine.choose(after.reveal(tile), Limits(nodes=20_000)).score for tile in bag]
        assert found.score == pytest.approx(sum(later) / len(later), abs=12)
