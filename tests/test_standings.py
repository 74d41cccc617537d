"""The figures of each player add up over the games of a run."""

from __future__ import annotations

import pytest

from quartet.arena.standings import points_against, standings
from quartet.arena.unit import GameResult, Use


def game(
    number: int,
    seats: tuple[int, ...],
    shares: tuple[float, ...],
    places: tuple[int, ...] | None = None,
) -> GameResult:
    use = tuple(Use() for _ in seats)
    none = tuple(None for _ in seats)
    return GameResult(number, number // 2, seats, 0, 1, none, places or none, shares, use, 0.0)


def test_standings_count_results_and_first_seats() -> None:
    played = [
        game(0, (0, 1), (1.0, 0.0)),
        game(1, (1, 0), (0.5, 0.5)),
        game(2, (0, 1), (0.0, 1.0)),
        game(3, (2, 0), (0.0, 1.0)),
    ]
    first, second, third = standings(played, 3)
    assert (first.games, first.wins, first.draws, first.losses) == (4, 2, 1, 1)
    assert (second.games, second.wins, second.draws, second.losses) == (3, 1, 1, 1)
    assert (third.games, third.wins, third.draws, third.losses) == (1, 0, 0, 1)
    assert [(line.firsts, line.first_score) for line in (first, second, third)] == [
        (2, 1.0),
        (1, 0.5),
        (1, 0.0),
    ]
    assert (first.score, first.share, first.shares) == (2.5, 0.625, [0.75, 0.5])
    assert first.error == pytest.approx(0.125)  # of the means of two blocks


def test_points_against_another_player_compare_places() -> None:
    won = game(0, (0, 1, 2, 3), (1.0, 0.0, 0.0, 0.0), (1, 2, 4, 2))
    again = game(1, (2, 1, 0, 3), (0.5, 0.5, 0.0, 0.0), (1, 1, 3, 4))
    points, number = points_against([won, again], 4)
    assert points == [
        [0.0, 1.0, 1.0, 2.0],
        [1.0, 0.0, 1.5, 1.5],
        [1.0, 0.5, 0.0, 1.0],
        [0.0, 0.5, 1.0, 0.0],
    ]
    assert number == [[2 * (row != column) for column in range(4)] for row in range(4)]


def test_points_against_oneself_are_half() -> None:
    points, number = points_against([game(0, (0, 1, 1), (1.0, 0.0, 0.0), (1, 2, 3))], 2)
    assert (points, number) == ([[0.0, 2.0], [0.0, 1.0]], [[0, 2], [2, 2]])
