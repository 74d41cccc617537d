"""Swiss and round robin by the rules of NYPC CODE BATTLE: pairing, bye, points and tie-breaks.

A player's index is its seed: the larger seed belongs to the player that ranked better before. The
published rules leave three points open. Here

- a bye counts as a match won with full points;
- "not yet met as far as possible" means the smallest number of repeated meetings that a whole round
  can have;
- the last tie-break, "the same with the opponents' scores", is the sum of that figure over all
  opponents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MAX_STEPS = 20_000
"""Steps of the search for a pairing before a greedy one is taken."""


@dataclass(frozen=True)
class Pairing:
    """A round to play: pairs of players, and the player with a bye."""

    matches: list[tuple[int, int]]
    bye: int | None = None


@dataclass(frozen=True)
class Round:
    """A round that was played.

    Attributes:
        pairing: The pairs.
        points: Points of both sides of every match.
        full: Points of a match won outright, and of a bye.
    """

    pairing: Pairing
    points: list[tuple[float, float]]
    full: float

    def scores(self) -> dict[int, float]:
        """Return the points of every player in this round."""
        found = {} if self.pairing.bye is None else {self.pairing.bye: self.full}
        for match, points in zip(self.pairing.matches, self.points, strict=True):
            found.update(zip(match, points, strict=True))
        return found

    def opponents(self) -> dict[int, int]:
        """Return the opponent of every player without a bye."""
        return {own: other for a, b in self.pairing.matches for own, other in ((a, b), (b, a))}


@dataclass(frozen=True)
class Place:
    """A line of the final table; the tie-breaks in their order.

    Attributes:
        player: Its index.
        score: Points of all rounds.
        won: Rounds won.
        opponents: Sum of the opponents' scores.
        early: Sum over rounds i of the points in it times (rounds - i + 1).
        opponents_early: Sum of `early` over the opponents.
    """

    player: int
    score: float
    won: int
    opponents: float
    early: float
    opponents_early: float

    def key(self) -> tuple[float, ...]:
        """Return the sort key, ascending from the best; the smaller seed decides last."""
        better = (self.score, self.won, self.opponents, self.early, self.opponents_early)
        return (*(-value for value in better), self.player)


def totals(players: int, rounds: Sequence[Round]) -> list[float]:
    """Return the points of every player."""
    scores = [r.scores() for r in rounds]
    return [sum(s.get(c, 0.0) for s in scores) for c in range(players)]


def pair(players: int, rounds: Sequence[Round]) -> Pairing:
    """Return the next round."""
    score = totals(players, rounds)
    bye = None
    if players % 2:
        byes = Counter(r.pairing.bye for r in rounds)
        fewest = min(byes[c] for c in range(players))
        bye = min((c for c in range(players) if byes[c] == fewest), key=lambda c: (score[c], c))
    order = sorted((c for c in range(players) if c != bye), key=lambda c: (-score[c], -c))
    met = Counter(frozenset(match) for r in rounds for match in r.pairing.matches)
    return Pairing(_matches(order, met), bye)


def ranking(players: int, rounds: Sequence[Round]) -> list[Place]:
    """Return the final table, the best first."""
    score = totals(players, rounds)
    by_round = [r.scores() for r in rounds]
    opponents = [[r.opponents().get(c) for r in rounds] for c in range(players)]
    early = [
        sum(s.get(c, 0.0) * (len(rounds) - i) for i, s in enumerate(by_round))
        for c in range(players)
    ]
    places = []
    for c in range(players):
        met = [o for o in opponents[c] if o is not None]
        won = sum(
            s.get(c, 0.0) > (0.0 if o is None else s[o])
            for s, o in zip(by_round, opponents[c], strict=True)
        )
        places.append(
            Place(
                c, score[c], won, sum(score[o] for o in met), early[c], sum(early[o] for o in met)
            )
        )
    return sorted(places, key=Place.key)


def sonneborn_berger(points: Sequence[Sequence[float]]) -> list[float]:
    """Return the tie-break of a round robin: the sum of points against each opponent times the
    opponent's total. `points[a][b]` are those of a against b."""
    total = [sum(row) for row in points]
    return [sum(own * total[other] for other, own in enumerate(row)) for row in points]


def _matches(order: list[int], met: Counter[frozenset[int]]) -> list[tuple[int, int]]:
    """Return pairs by the rule: the first of `order` gets the first allowed opponent, and so on."""
    if not order:
        return []
    fewest = min(met[frozenset((a, b))] for i, a in enumerate(order) for b in order[:i])
    steps = iter(range(MAX_STEPS))
    for repeats in range(sum(met.values()) + 1):
        found = _search(order, met, fewest, repeats, steps)
        if found is not None:
            return found
    # Greedy: each takes the opponent that it met least, without looking ahead.
    left, matches = list(order), []
    while left:
        own = left.pop(0)
        other = min(left, key=lambda c: met[frozenset((own, c))])
        left.remove(other)
        matches.append((own, other))
    return matches


def _search(
    left: list[int], met: Counter[frozenset[int]], fewest: int, repeats: int, steps: Iterator[int]
) -> list[tuple[int, int]] | None:
    """Return the first pairing with at most `repeats` meetings beyond `fewest` per pair.

    Returns None if there is none, or the steps are used up.
    """
    if not left:
        return []
    own, *others = left
    for other in sorted(others, key=lambda c: met[frozenset((own, c))]):
        cost = met[frozenset((own, other))] - fewest
        if cost > repeats or next(steps, None) is None:
            break
        rest = _search([c for c in others if c != other], met, fewest, repeats - cost, steps)
        if rest is not None:
            return [(own, other), *rest]
    return None
