"""Which recipe another player seems to follow, found out from the moves it has made: Bayes' rule
over a few hypotheses."""

from __future__ import annotations

from itertools import chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

RECIPES = 3
"""As many as `policies.pxi` has."""
LOOKS = 3
"""At what a recipe foretells, each with a greater search; as many as
`policies.pxi` has. What one tells is learned apart."""
TRUSTS = (0.5, 0.7, 0.85, 0.97)
"""How often a recipe may foretell the player who follows it: each is a hypothesis."""
STRANGER = 0.5
"""How likely a player is at first to follow none; the rest is shared evenly by all recipes and
trusts."""
LEAST = 0.3
"""What is trusted less is not worth the time that foretelling takes."""


class Habits:
    """What one player's moves have told of it, by what the recipes foretell at one look.

    Attributes:
        stranger: how likely it follows no recipe; followed: for each recipe and each of TRUSTS how
            likely it follows that. They add up to 1.
    """

    __slots__ = ("followed", "stranger")

    def __init__(self) -> None:
        self.stranger = STRANGER
        self.followed = [
            [(1 - STRANGER) / (RECIPES * len(TRUSTS))] * len(TRUSTS) for _ in range(RECIPES)
        ]

    def learn(self, hits: Sequence[float], likely: float) -> None:
        """It has made a move that a stranger makes with the probability `likely`, above 0, and who
        follows a recipe with that in `hits`.

        Who is not faithful to a recipe moves as a stranger does.
        """
        self.stranger *= likely
        for hit, row in zip(hits, self.followed, strict=True):
            row[:] = [
                weight * (trust * hit + (1 - trust) * likely)
                for weight, trust in zip(row, TRUSTS, strict=True)
            ]
        total = self.stranger + sum(map(sum, self.followed))
        self.stranger /= total
        self.followed = [[weight / total for weight in row] for row in self.followed]

    def expectation(self) -> tuple[int, float]:
        """The recipe that foretells it best, and how likely the next move is as foretold on its
        account; 0 where that is too little."""
        chances = [
            sum(weight * trust for weight, trust in zip(row, TRUSTS, strict=True))
            for row in self.followed
        ]
        best = max(chances)
        return chances.index(best), best if best >= LEAST else 0

    def text(self) -> str:
        """In one line, for `parse`."""
        return " ".join(repr(weight) for weight in (self.stranger, *chain(*self.followed)))

    @staticmethod
    def parse(line: str) -> Habits:
        """What `text` has written. Raises ValueError where it is something else."""
        weights = [float(word) for word in line.split()]
        if (
            len(weights) != 1 + RECIPES * len(TRUSTS)
            or not all(weight >= 0 for weight in weights)
            or not 0.99 < sum(weights) < 1.01
        ):
            raise ValueError(f"these are no habits: {line[:40]!r}")
        habits = Habits()
        habits.stranger, *rest = weights
        habits.followed = [rest[i : i + len(TRUSTS)] for i in range(0, len(rest), len(TRUSTS))]
        return habits
