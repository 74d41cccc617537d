"""What Ugolki's engine takes the others for: that it is what prior.pxd says, predicts them,
and is fitted as said."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from click.testing import CliRunner

from core.errors import QuartetError
from core.limits import Limits
from ugolki.geometry import SEATS, SIZE, seen
from ugolki.players import player
from ugolki.protocol import PASS
from ugolki.rules import Position
from ugolki.train import features
from ugolki.train import opponents as prediction
from ugolki.train.__main__ import command

HOME = 30
"""As in prior.pxd."""


def cost(cells: tuple[int, ...], seat: int) -> int:
    total = 0
    for cell, label in enumerate(cells):
        if label == seat + 1:
            column, row = seen(seat, cell % SIZE, cell // SIZE)
            steps = max(0, 6 - column) + max(0, 6 - row)
            total += 16 * steps + steps * steps
    return total


def after(position: Position, move: tuple[int, ...]) -> Position:
    """The same seat to move once more."""
    return Position.from_cells(position.play(move).cells, position.ply, position.moves)


def positions(seed: int, games: int) -> list[Position]:
    """Some of games of a beam: one in ten, and the last round of each, where a seat comes home."""
    random, beam, found = Random(seed), player("beam:3"), []
    for _ in range(games):
        position = Position.start(random.getrandbits(32), opening=8)
        path = []
        while not position.over:
            path.append(position)
            position = position.play(
                PASS if position.legal() == [PASS] else beam.choose(position, Limits()).move
            )
        found += path[-SEATS:] + random.sample(path[:-SEATS], len(path) // 10)
    return found


def test_the_outlook_is_what_two_moves_cost() -> None:
    home = [0, 0]
    for position in positions(1, 4):
        seat, now = position.to_move, cost(position.cells, position.to_move)
        for move, first, second, _ in features.outlook(position):
            one = after(position, move)
            assert first == cost(one.cells, seat) - now
            if first == -now:
                assert second == -now - 2 * HOME
                home[0] += 1
                continue
            best = min(
                [
                    first + now,
                    *(cost(after(one, two).cells, seat) for two in one.legal() if two != PASS),
                ]
            )
            assert second == best - now - (HOME if best == 0 else 0)
            home[1] += best == 0
    assert min(home) > 0, "no seat came home, in one move or in two"


def test_a_logit_is_made_of_the_outlook() -> None:
    for position in positions(2, 2):
        _, now, following, logits = zip(*features.outlook(position), strict=True)
        expected = [
            -(a + b) / 32
            + (68 / 64 if a == min(now) else 0)
            + (44 / 64 if b == min(following) else 0)
            for a, b in zip(now, following, strict=True)
        ]
        assert logits == pytest.approx(expected)


def test_it_predicts_players_of_other_kinds() -> None:
    """The likeliest of the two dozen moves is what each of them plays about every second time; a
    guess would be right once in 20."""
    names = ["beam:30", "brs:3", "uct:200"]
    for choices in prediction.choices_of(names, 16, 5, lambda: None).values():
        assert len(choices) > 50
        assert np.mean([one.logits.argmax() == one.chosen for one in choices]) > 0.4


def test_numbers_are_found_again() -> None:
    random, numbers = np.random.default_rng(1), np.array([-0.5, -0.3, 0.8, 0.4])
    choices = []
    for _ in range(4000):
        rows = np.hstack([random.normal(0, 2, (12, 2)), random.integers(0, 2, (12, 2))])
        weights = np.exp(rows @ numbers)
        choices.append(
            prediction.Choice(
                rows, np.log(weights), int(random.choice(12, p=weights / weights.sum()))
            )
        )
    assert prediction.fitted(choices) == pytest.approx(numbers, abs=0.1)


def test_the_command_tells_each_player_and_the_best_numbers() -> None:
    done = CliRunner().invoke(command, ["opponents", "greedy", "beam:3", "--games", "4"])
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines if "likeliest" in line] == ["greedy", "beam"]
    assert lines[-1].startswith("best for all: now -")


def test_an_unknown_player_is_told() -> None:
    with pytest.raises(QuartetError, match="no built-in player 'nobody'"):
        CliRunner().invoke(command, ["opponents", "nobody"], catch_exceptions=False)
