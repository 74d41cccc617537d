"""Swiss and round robin follow the published rules: pairing, bye, points and tie-breaks."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from quartet.arena.swiss import Pairing, Round, pair, ranking, sonneborn_berger, totals


def played(
    matches: list[tuple[int, int]], points: list[tuple[float, float]], bye: int | None = None
) -> Round:
    return Round(Pairing(matches, bye), points, full=2.0)


def test_the_first_round_is_paired_by_seed() -> None:
    assert pair(4, []) == Pairing([(3, 2), (1, 0)])
    assert pair(5, []) == Pairing([(4, 3), (2, 1)], bye=0)


def test_equal_scores_meet_and_no_pair_meets_twice() -> None:
    first = played([(3, 2), (1, 0)], [(2, 0), (0, 2)])
    assert pair(4, [first]) == Pairing([(3, 0), (2, 1)])
    second = played([(3, 0), (2, 1)], [(2, 0), (2, 0)])
    # 3 has 4 points; 2 and 0 have 2, and it has met both.
    assert pair(4, [first, second]) == Pairing([(3, 1), (2, 0)])


def test_looking_ahead_avoids_repeated_meetings() -> None:
    """Check a case in which 5 would meet 4, its best new opponent, but is the only new opponent of
    3."""
    new = {(5, 4), (5, 3), (4, 2), (1, 0)}
    met = [match for match in combinations(range(5, -1, -1), 2) if match not in new]
    assert pair(6, [played([match], [(0, 0)]) for match in met]).matches == [(5, 3), (4, 2), (1, 0)]


def test_only_one_meeting_is_repeated_if_needed() -> None:
    """Check two triangles of three that have not met: one pair must repeat. The first one found is
    chosen."""
    triangles = {(5, 4), (5, 3), (4, 3), (2, 1), (2, 0), (1, 0)}
    met = [match for match in combinations(range(5, -1, -1), 2) if match not in triangles]
    assert pair(6, [played([match], [(0, 0)]) for match in met]).matches == [(5, 4), (3, 2), (1, 0)]


def test_the_bye_goes_to_the_last_player_without_one() -> None:
    first = played([(4, 3), (2, 1)], [(2, 0), (2, 0)], bye=0)
    # 3 and 1 have no points; the smaller seed rests.
    assert pair(5, [first]).bye == 1
    second = played([(4, 2), (0, 3)], [(2, 0), (2, 0)], bye=1)
    assert pair(5, [first, second]).bye == 3
    assert totals(5, [first, second]) == [4, 2, 2, 0, 4]


@pytest.mark.parametrize("players", [2, 3, 6, 7, 10, 31])
def test_rounds_of_any_size(players: int) -> None:
    """Check that every player plays once per round or rests, that no player rests twice before all
    have, and that meetings repeat only if no new opponent is left."""
    random = Random(players)
    rounds: list[Round] = []
    met: set[frozenset[int]] = set()
    for number in range(min(players + 3, 12)):
        pairing = pair(players, rounds)
        seated = [c for match in pairing.matches for c in match] + (
            [] if pairing.bye is None else [pairing.bye]
        )
        assert sorted(seated) == list(range(players))
        if number < players // 2:
            assert not met & {frozenset(match) for match in pairing.matches}
        met |= {frozenset(match) for match in pairing.matches}
        rounds.append(
            Round(
                pairing,
                [random.choice([(2.0, 0.0), (1.0, 1.0), (0.0, 2.0)]) for _ in pairing.matches],
                2.0,
            )
        )
    byes = [r.pairing.bye for r in rounds]
    if players % 2:
        assert len(set(byes[:players])) == min(players, len(byes))
    if len(rounds) >= players:
        assert len(met) == len(list(combinations(range(players), 2)))


def test_the_tie_breaks() -> None:
    rounds = [
        played([(3, 2), (1, 0)], [(1.5, 0.5), (2, 0)]),
        played([(1, 3), (2, 0)], [(0.5, 1.5), (1, 1)]),
        played([(3, 0), (2, 1)], [(0, 2), (1.5, 0.5)]),
    ]
    table = {place.player: place for place in ranking(4, rounds)}
    assert {c: place.score for c, place in table.items()} == {0: 3, 1: 3, 2: 3, 3: 3}
    assert {c: place.won for c, place in table.items()} == {0: 1, 1: 1, 2: 1, 3: 2}
    assert {c: place.opponents for c, place in table.items()} == {0: 9, 1: 9, 2: 9, 3: 9}
    assert {c: place.early for c, place in table.items()} == {
        0: 0 + 2 + 2,
        1: 6 + 1 + 0.5,
        2: 1.5 + 2 + 1.5,
        3: 4.5 + 3 + 0,
    }
    assert table[0].opponents_early == 7.5 + 5 + 7.5
    assert [place.player for place in ranking(4, rounds)] == [3, 1, 2, 0]


def test_a_bye_counts_as_a_round_won() -> None:
    rounds = [played([(2, 1)], [(1, 1)], bye=0)]
    assert [(p.player, p.score, p.won, p.opponents) for p in ranking(3, rounds)] == [
        (0, 2, 1, 0),
        (1, 1, 0, 1),
        (2, 1, 0, 1),
    ]


def test_the_seed_is_the_last_tie_break() -> None:
    assert [place.player for place in ranking(2, [played([(1, 0)], [(1, 1)])])] == [0, 1]


def test_sonneborn_berger() -> None:
    """Compare with sums by hand: totals 3, 3, 2, 4. Points against strong opponents count more."""
    points = [[0, 2, 0, 1], [0, 0, 2, 1], [2, 0, 0, 0], [1, 1, 2, 0]]
    assert sonneborn_berger(points) == [2 * 3 + 1 * 4, 2 * 2 + 1 * 4, 2 * 3, 3 + 3 + 4]
