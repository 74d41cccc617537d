"""Which opponent policy another player seems to follow, found out from the moves it has made:
Bayes' rule over a few hypotheses."""

from __future__ import annotations

from itertools import chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

POLICIES = 3
"""As many as `ugolki/opponents/policies.pxd` has."""
LEVELS = 3
"""At which a policy predicts, each with a greater search; as many as
`ugolki/opponents/policies.pxd` has. What one tells is learned apart."""
ACCURACIES = (0.5, 0.7, 0.85, 0.97)
"""How often a policy may predict the player who follows it: each is a hypothesis."""
UNKNOWN = 0.5
"""How likely a player is at first to follow none; the rest is shared evenly by all policies and
accuracies."""
LEAST = 0.3
"""Less confidence is not worth the time that predicting takes."""


class Beliefs:
    """What one player's moves have told of it, by what the policies predict at one level. All
    numbers add up to 1.

    Attributes:
        unknown: how likely it follows no policy.
        followed: for each policy and each of ACCURACIES, how likely it follows that.
    """

    __slots__ = ("followed", "unknown")

    def __init__(self) -> None:
        self.unknown = UNKNOWN
        self.followed = [
            [(1 - UNKNOWN) / (POLICIES * len(ACCURACIES))] * len(ACCURACIES)
            for _ in range(POLICIES)
        ]

    def learn(self, hits: Sequence[float], likely: float) -> None:
        """It has made a move that an unknown player makes with the probability `likely`, above 0,
        and one who follows a policy with that in `hits`.

        Who is not faithful to a policy moves as an unknown player does.
        """
        self.unknown *= likely
        for hit, row in zip(hits, self.followed, strict=True):
            row[:] = [
                weight * (accuracy * hit + (1 - accuracy) * likely)
                for weight, accuracy in zip(row, ACCURACIES, strict=True)
            ]
        total = self.unknown + sum(map(sum, self.followed))
        self.unknown /= total
        self.followed = [[weight / total for weight in row] for row in self.followed]

    def expectation(self) -> tuple[int, float]:
        """The policy that predicts it best, and the confidence in that: how likely the next move is
        among its predictions; 0 where that is too little."""
        chances = [
            sum(weight * accuracy for weight, accuracy in zip(row, ACCURACIES, strict=True))
            for row in self.followed
        ]
        best = max(chances)
        return chances.index(best), best if best >= LEAST else 0

    def text(self) -> str:
        """In one line, for `parse`."""
        return " ".join(repr(weight) for weight in (self.unknown, *chain(*self.followed)))

    @staticmethod
    def parse(line: str) -> Beliefs:
        """What `text` has written. Raises ValueError where it is something else."""
        weights = [float(word) for word in line.split()]
        if (
            len(weights) != 1 + POLICIES * len(ACCURACIES)
            or not all(weight >= 0 for weight in weights)
            or not 0.99 < sum(weights) < 1.01
        ):
            raise ValueError(f"these are no beliefs: {line[:40]!r}")
        beliefs = Beliefs()
        beliefs.unknown, *rest = weights
        beliefs.followed = [
            rest[i : i + len(ACCURACIES)] for i in range(0, len(rest), len(ACCURACIES))
        ]
        return beliefs
