"""What chooses the settings of an engine by the outcome of noisy games: SPSA, CMA-ES, and a tree of
Parzen estimators.

All ask for trials in batches, and are told what these have brought. With the same seed and the same
outcomes they ask for the same trials: a run that was killed goes on by telling them everything again.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from core.errors import QuartetError
from core.extras import how_to_install

ALPHA, GAMMA = 0.602, 0.101
"""Exponents of SPSA's gains, by J. C. Spall, "Implementation of the Simultaneous Perturbation
Algorithm for Stochastic Optimization", 1998; fishtest's and OpenBench's defaults."""
A_RATIO = 0.1
"""SPSA's stability constant A as a part of all iterations, as fishtest and OpenBench have it."""
C_PARTS = 20
"""A parameter's perturbation in the end is its range divided by this, as fishtest proposes."""
R_END = 0.002
"""The rate of learning in the end, as fishtest and OpenBench propose: a / c^2."""
SIGMA = 0.25
"""CMA-ES's first standard deviation, as a part of a parameter's range."""
BEST = 0.1
"""Of the trials of the Parzen estimators: the part whose mean is the answer. The best one alone was
the luckiest."""


@dataclass(frozen=True)
class Parameter:
    """A number that is tuned.

    Attributes:
        name: str. whole: bool; whether it is an integer.
        start, least, most: float; where it begins, and its range.
        c_end: float; SPSA's perturbation in the last iteration, in its own unit.
        r_end: float; SPSA's rate of learning in the last iteration.
    """

    name: str
    whole: bool
    start: float
    least: float
    most: float
    c_end: float
    r_end: float = R_END

    def clipped(self, value: float) -> float:
        """A value, brought into the range."""
        return min(max(value, self.least), self.most)

    def rounded(self, value: float, shift: float = 0.5) -> float:
        """A value as it can be set: of the range, an integer where it must be one. With a random
        `shift` from 0 to 1 the mean of integers is the value."""
        if not self.whole:
            return float(f"{self.clipped(value):.6g}")
        return self.clipped(math.floor(value + shift))

    def part(self, value: float) -> float:
        """Where a value lies in the range, from 0 to 1."""
        return (value - self.least) / (self.most - self.least)

    def at(self, part: float) -> float:
        """The value at a part of the range."""
        return self.least + part * (self.most - self.least)


Values = tuple[float, ...]
"""A value for every parameter, in their order."""


@dataclass(frozen=True)
class Trial:
    """Two settings that are to be compared by games, both as they can be set.

    Attributes:
        first: Values. second: Values.
    """

    first: Values
    second: Values


class Optimiser(Protocol):
    """What chooses settings."""

    def ask(self) -> list[Trial]:
        """The next trials."""
        ...

    def tell(self, outcomes: list[float]) -> None:
        """What the trials that were asked for last have brought, in their order: wins less losses of
        the first settings for a pair of games, from -2 to 2."""
        ...

    def best(self) -> Values:
        """The settings that are best as far as is known, not rounded."""
        ...


class Spsa:
    """Simultaneous perturbation stochastic approximation, as fishtest runs it for Stockfish.

    In iteration k of n (a pair of games) every parameter is moved by c_k up or down at random. It
    then moves by r_k c_k times the pair's wins less losses towards what was better, where

        c_k = c_end (n / k)^gamma
        a_k = r_end c_end^2 ((A + n) / (A + k))^alpha
        r_k = a_k / c_k^2

    The trials of a batch begin at the same values. Those that are integers are rounded up or down
    at random, both sides by the same draw, so that their means are the values.
    """

    def __init__(
        self,
        parameters: list[Parameter],
        iterations: int,
        *,
        pairs: int = 1,
        batch: int = 8,
        seed: int = 1,
        a_ratio: float = A_RATIO,
        alpha: float = ALPHA,
        gamma: float = GAMMA,
    ) -> None:
        """`iterations`: pairs of games of the whole run; `pairs`: of a trial; `batch`: trials."""
        self._parameters, self._iterations = parameters, iterations
        self._pairs, self._batch = pairs, batch
        self._random = Random(f"spsa {seed}")
        self._stability = a_ratio * iterations
        self._alpha, self._gamma = alpha, gamma
        self._theta = [parameter.start for parameter in parameters]
        self._done = 0
        self._asked: list[tuple[int, list[int]]] = []

    def gains(self, parameter: Parameter, k: int) -> tuple[float, float]:
        """The perturbation c_k and the rate r_k in iteration k, from 1."""
        n, a = self._iterations, self._stability
        c = parameter.c_end * (n / k) ** self._gamma
        rate = parameter.r_end * parameter.c_end**2 * ((a + n) / (a + k)) ** self._alpha / c**2
        return c, rate

    def ask(self) -> list[Trial]:
        """As `Optimiser`."""
        self._asked = []
        trials = []
        left = self._iterations - self._done
        for number in range(min(self._batch, -(-left // self._pairs))):
            k = self._done + number * self._pairs + 1
            flips = [self._random.choice((-1, 1)) for _ in self._parameters]
            shifts = [self._random.random() for _ in self._parameters]
            sides = [
                tuple(
                    parameter.rounded(value + side * flip * self.gains(parameter, k)[0], shift)
                    for parameter, value, flip, shift in zip(
                        self._parameters, self._theta, flips, shifts, strict=True
                    )
                )
                for side in (1, -1)
            ]
            self._asked.append((k, flips))
            trials.append(Trial(*sides))
        return trials

    def tell(self, outcomes: list[float]) -> None:
        """As `Optimiser`."""
        for (k, flips), outcome in zip(self._asked, outcomes, strict=True):
            for i, (parameter, flip) in enumerate(zip(self._parameters, flips, strict=True)):
                c, rate = self.gains(parameter, k)
                step = rate * c * flip * outcome * self._pairs
                self._theta[i] = parameter.clipped(self._theta[i] + step)
            self._done += self._pairs

    def best(self) -> Values:
        """As `Optimiser`."""
        return tuple(self._theta)


class Cma:
    """CMA-ES (N. Hansen), by the library cma: a generation of settings, each against the first ones.

    Parameters are scaled to their ranges. The answer is the distribution's mean, in its turn the
    mean over the later half of the generations: games are noisy, and single means wander.
    """

    def __init__(self, parameters: list[Parameter], *, batch: int = 16, seed: int = 1) -> None:
        """`batch`: settings of a generation. Raises QuartetError."""
        if len(parameters) < 2:
            raise QuartetError("CMA-ES tunes two parameters at least; choose --method spsa")
        try:
            import cma  # noqa: PLC0415  (an extra)
            import numpy as np  # noqa: PLC0415  (which that one brings)
        except ImportError:
            raise QuartetError(_missing()) from None
        self._parameters = parameters
        self._start = _start(parameters)
        random = np.random.default_rng(seed)  # its own, not the one that all of numpy shares
        options = {
            "bounds": [0, 1],
            "popsize": batch,
            "randn": lambda *shape: random.standard_normal(shape),
            "seed": math.nan,
            "verbose": -9,
        }
        first = [parameter.part(parameter.start) for parameter in parameters]
        self._strategy: Any = cma.CMAEvolutionStrategy(first, SIGMA, options)
        self._asked: list[Any] = []
        self._means = [first]

    def ask(self) -> list[Trial]:
        """As `Optimiser`."""
        self._asked = self._strategy.ask()
        return [Trial(_at(self._parameters, parts), self._start) for parts in self._asked]

    def tell(self, outcomes: list[float]) -> None:
        """As `Optimiser`."""
        self._strategy.tell(self._asked, [-outcome for outcome in outcomes])
        self._means.append([float(part) for part in self._strategy.result.xfavorite])

    def best(self) -> Values:
        """As `Optimiser`."""
        later = self._means[len(self._means) // 2 :]
        return tuple(
            parameter.clipped(parameter.at(sum(parts) / len(later)))
            for parameter, parts in zip(self._parameters, zip(*later, strict=True), strict=True)
        )


class Parzen:
    """Bayesian optimisation by a tree of Parzen estimators (J. Bergstra and others, 2011), by the
    library optuna: a batch of settings, each against the first ones."""

    def __init__(self, parameters: list[Parameter], *, batch: int = 8, seed: int = 1) -> None:
        """`batch`: settings that are asked for at a time. Raises QuartetError."""
        try:
            import optuna  # noqa: PLC0415  (an extra, and slow to import)
        except ImportError:
            raise QuartetError(_missing()) from None
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._parameters, self._batch = parameters, batch
        self._start = _start(parameters)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # both options are said to be experimental
            sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True, constant_liar=True)
        self._study: Any = optuna.create_study(direction="maximize", sampler=sampler)
        self._ranges = {
            parameter.name: optuna.distributions.FloatDistribution(0, 1) for parameter in parameters
        }
        self._asked: list[Any] = []
        self._known: list[tuple[float, list[float]]] = []

    def ask(self) -> list[Trial]:
        """As `Optimiser`."""
        self._asked = [self._study.ask(self._ranges) for _ in range(self._batch)]
        return [Trial(_at(self._parameters, _parts(trial)), self._start) for trial in self._asked]

    def tell(self, outcomes: list[float]) -> None:
        """As `Optimiser`."""
        for trial, outcome in zip(self._asked, outcomes, strict=True):
            self._study.tell(trial, outcome)
            self._known.append((outcome, _parts(trial)))

    def best(self) -> Values:
        """As `Optimiser`."""
        if not self._known:
            return self._start
        order = sorted(self._known, key=lambda known: -known[0])
        chosen = [parts for _, parts in order[: max(1, round(BEST * len(order)))]]
        return tuple(
            parameter.at(sum(parts[i] for parts in chosen) / len(chosen))
            for i, parameter in enumerate(self._parameters)
        )


def _missing() -> str:
    return f"this method needs cma and optuna: {how_to_install('cma', 'optuna')}"


def _start(parameters: list[Parameter]) -> Values:
    return tuple(parameter.rounded(parameter.start) for parameter in parameters)


def _at(parameters: list[Parameter], parts: list[float]) -> Values:
    return tuple(
        parameter.rounded(parameter.at(float(part)))
        for parameter, part in zip(parameters, parts, strict=True)
    )


def _parts(trial: Any) -> list[float]:
    return [float(part) for part in trial.params.values()]
