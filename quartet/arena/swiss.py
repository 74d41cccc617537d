"""Swiss and round robin as NYPC CODE BATTLE has them: pairing, bye, points and tie-breaks.

A player's index is its seed: the larger one belongs to whoever ranked better before. What the
published rules leave open is decided
here: a bye counts as a match won with full points; "not yet met as far as possible" means the
smallest number of repeated meetings that a whole round can have; the last tie-break, "the same with
the opponents' scores", is the sum of that figure over all opponents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

PATIENCE = 20_000
"""Steps of the search for a pairing before it settles for the first one that comes along."""


@dataclass(frozen=True)
class Pairing:
    """One round to be played: pairs of players, and who has a bye."""

    matches: list[tuple[int, int]]
    bye: int | None = None


@dataclass(frozen=True)
class Round:
    """One round that was played.

    Attributes:
        pairing: who met; points: of both sides, match by match.
        full: points that a match won outright brings, and with it a bye.
    """

    pairing: Pairing
    points: list[tuple[float, float]]
    full: float

    def scores(self) -> dict[int, float]:
        """The points of everybody in this round."""
        found = {} if self.pairing.bye is None else {self.pairing.bye: self.full}
        for match, points in zip(self.pairing.matches, self.points, strict=True):
            found.update(zip(match, points, strict=True))
        return found

    def opponents(self) -> dict[int, int]:
        """Player -> opponent; whoever has a bye has none."""
        return {own: other for a, b in self.pairing.matches for own, other in ((a, b), (b, a))}


@dataclass(frozen=True)
class Place:
    """A line of the final table; the tie-breaks in their order.

    Attributes:
        player, score: points of all rounds.
        won: rounds won; opponents: sum of the opponents' scores.
        early: sum over rounds i of the points in it times (rounds - i + 1); opponents_early: sum of
            that over the opponents.
    """

    player: int
    score: float
    won: int
    opponents: float
    early: float
    opponents_early: float

    def key(self) -> tuple[float, ...]:
        """Ascending from the best to the worst; the smaller seed is better in the end."""
        return (
            -self.score,
            -self.won,
            -self.opponents,
            -self.early,
            -self.opponents_early,
            self.player,
        )


def totals(players: int, rounds: Sequence[Round]) -> list[float]:
    """Everybody's points."""
    scores = [r.scores() for r in rounds]
    return [sum(s.get(c, 0.0) for s in scores) for c in range(players)]


def pair(players: int, rounds: Sequence[Round]) -> Pairing:
    """The next round."""
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
    """The table, the best first."""
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
    """The tie-break of a round robin: the sum of the own points against everybody times their
    total; `points[a][b]` are a's against b."""
    total = [sum(row) for row in points]
    return [sum(own * total[other] for other, own in enumerate(row)) for row in points]


def _matches(order: list[int], met: Counter[frozenset[int]]) -> list[tuple[int, int]]:
    """Pairs in the order of the rule: the first of `order` gets the first that it may have, and so
    on."""
    if not order:
        return []
    fewest = min(met[frozenset((a, b))] for i, a in enumerate(order) for b in order[:i])
    steps = iter(range(PATIENCE))
    for repeats in range(sum(met.values()) + 1):
        found = _search(order, met, fewest, repeats, steps)
        if found is not None:
            return found
    # Patience is at an end: nobody looks ahead, everybody takes whoever it met least.
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
    """The first pairing with at most so many meetings beyond `fewest` each, None where there is
    none, or no time to find it."""
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
