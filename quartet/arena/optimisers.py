"""Optimisers of engine options by noisy games: SPSA, CMA-ES, and a tree of Parzen estimators.

Each asks for batches of trials and receives their outcomes. With the same seed and the same
outcomes it asks for the same trials, so a run resumes by passing all recorded outcomes again.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from core.errors import QuartetError
from core.extras import install_hint

ALPHA, GAMMA = 0.602, 0.101
"""Exponents of SPSA's gains, by J. C. Spall, "Implementation of the Simultaneous Perturbation
Algorithm for Stochastic Optimization", 1998; defaults of fishtest and OpenBench."""
A_RATIO = 0.1
"""SPSA's stability constant A as a fraction of all iterations, as in fishtest and OpenBench."""
C_PARTS = 20
"""A parameter's last perturbation is its range divided by this, as fishtest proposes."""
R_END = 0.002
"""The last learning rate a / c^2, as fishtest and OpenBench propose."""
SIGMA = 0.25
"""CMA-ES's first standard deviation, as a fraction of a parameter's range. Not tuned."""
SEEDS = 2**32
"""Number of seeds of the libraries; greater and negative ones wrap around."""
BEST = 0.1
"""The Parzen estimators answer with the mean of this fraction of their trials. The best trial alone
was the luckiest one."""


@dataclass(frozen=True)
class Parameter:
    """A number that is tuned.

    Attributes:
        name: The option's name.
        whole: It is an integer.
        start: Its first value.
        least: Lower end of its range.
        most: Upper end of its range.
        c_end: SPSA's perturbation in the last iteration, in the parameter's unit.
        r_end: SPSA's learning rate in the last iteration.
    """

    name: str
    whole: bool
    start: float
    least: float
    most: float
    c_end: float
    r_end: float = R_END

    def clipped(self, value: float) -> float:
        """Return the value clipped to the range."""
        return min(max(value, self.least), self.most)

    def rounded(self, value: float, shift: float = 0.5) -> float:
        """Return a value as the option takes it: in the range, and an integer if it must be.

        Args:
            value: The value.
            shift: Added before rounding down. If it is random in 0 .. 1, integers have the value as
                their mean.
        """
        if not self.whole:
            return float(f"{self.clipped(value):.6g}")
        return self.clipped(math.floor(value + shift))

    def part(self, value: float) -> float:
        """Return the position of a value in the range, 0 .. 1."""
        return (value - self.least) / (self.most - self.least)

    def at(self, part: float) -> float:
        """Return the value at a position in the range, 0 .. 1."""
        return self.least + part * (self.most - self.least)


Values = tuple[float, ...]
"""A value for every parameter, in their order."""


@dataclass(frozen=True)
class Trial:
    """Two settings to compare by games, both rounded.

    Attributes:
        first: The first settings.
        second: The second settings.
    """

    first: Values
    second: Values


class Optimiser(Protocol):
    """The contract of all optimisers."""

    def ask(self) -> list[Trial]:
        """Return the next trials."""
        ...

    def tell(self, outcomes: list[float]) -> None:
        """Receive the outcomes of the last trials, in their order.

        An outcome is wins minus losses of the first settings per pair of games, -2 .. 2.
        """
        ...

    def best(self) -> Values:
        """Return the best settings so far, not rounded."""
        ...


class Spsa:
    """Simultaneous perturbation stochastic approximation, as fishtest runs it for Stockfish.

    In iteration k of n (a pair of games) every parameter is perturbed by c_k up or down at random.
    It then moves by r_k c_k times the pair's wins minus losses towards the better side:

        c_k = c_end (n / k)^gamma
        a_k = r_end c_end^2 ((A + n) / (A + k))^alpha
        r_k = a_k / c_k^2

    The trials of a batch start from the same values. Integers are rounded up or down at random,
    both sides by the same draw, so that their means are the values.
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
        """Start an optimisation.

        Args:
            parameters: What is tuned.
            iterations: Pairs of games of the run.
            pairs: Pairs of games of a trial.
            batch: Trials of a batch.
            seed: Seed of the perturbations.
            a_ratio: As A_RATIO.
            alpha: As ALPHA.
            gamma: As GAMMA.
        """
        self._parameters, self._iterations = parameters, iterations
        self._pairs, self._batch = pairs, batch
        self._random = Random(f"spsa {seed}")
        self._stability = a_ratio * iterations
        self._alpha, self._gamma = alpha, gamma
        self._theta = [parameter.start for parameter in parameters]
        self._done = 0
        self._asked: list[tuple[int, list[int]]] = []

    def gains(self, parameter: Parameter, k: int) -> tuple[float, float]:
        """Return the perturbation c_k and the rate r_k in iteration k, from 1."""
        n, a = self._iterations, self._stability
        c = parameter.c_end * (n / k) ** self._gamma
        rate = parameter.r_end * parameter.c_end**2 * ((a + n) / (a + k)) ** self._alpha / c**2
        return c, rate

    def ask(self) -> list[Trial]:
        """Return the next trials; see `Optimiser`."""
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
        """Take the outcomes of these trials; see `Optimiser`."""
        for (k, flips), outcome in zip(self._asked, outcomes, strict=True):
            for i, (parameter, flip) in enumerate(zip(self._parameters, flips, strict=True)):
                c, rate = self.gains(parameter, k)
                step = rate * c * flip * outcome * self._pairs
                self._theta[i] = parameter.clipped(self._theta[i] + step)
            self._done += self._pairs

    def best(self) -> Values:
        """Return the best values so far; see `Optimiser`."""
        return tuple(self._theta)


class Cma:
    """CMA-ES (N. Hansen), by the library cma. Every setting of a generation plays the first
    settings.

    Parameters are scaled to their ranges. The answer averages the distribution's means over the
    later half of the generations, because single means wander with noisy games.
    """

    def __init__(self, parameters: list[Parameter], *, batch: int = 16, seed: int = 1) -> None:
        """Start an optimisation with `batch` settings per generation.

        Raises QuartetError for a single parameter or trial, or if cma is not installed.
        """
        if len(parameters) < 2:
            raise QuartetError("CMA-ES tunes two parameters at least; choose --method spsa")
        if batch < 2:
            raise QuartetError("CMA-ES takes two trials per batch at least")
        try:
            import cma  # noqa: PLC0415  (an extra)
            import numpy as np  # noqa: PLC0415  (cma requires it)
        except ImportError:
            raise QuartetError(_missing()) from None
        self._parameters = parameters
        self._start = _start(parameters)
        random = np.random.default_rng(seed % SEEDS)  # not numpy's shared generator
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
        """Return the next trials; see `Optimiser`."""
        self._asked = self._strategy.ask()
        return [Trial(_at(self._parameters, parts), self._start) for parts in self._asked]

    def tell(self, outcomes: list[float]) -> None:
        """Take the outcomes of these trials; see `Optimiser`."""
        self._strategy.tell(self._asked, [-outcome for outcome in outcomes])
        self._means.append([float(part) for part in self._strategy.result.xfavorite])

    def best(self) -> Values:
        """Return the best values so far; see `Optimiser`."""
        return _mean(self._parameters, self._means[len(self._means) // 2 :])


class Parzen:
    """Bayesian optimisation by a tree of Parzen estimators (J. Bergstra and others, 2011), by the
    library optuna. Every setting of a batch plays the first settings."""

    def __init__(self, parameters: list[Parameter], *, batch: int = 8, seed: int = 1) -> None:
        """Start an optimisation with `batch` settings at a time.

        Raises QuartetError if optuna is not installed.
        """
        try:
            import optuna  # noqa: PLC0415  (an extra, and slow to import)
        except ImportError:
            raise QuartetError(_missing()) from None
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._parameters, self._batch = parameters, batch
        self._start = _start(parameters)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # optuna calls both options experimental
            sampler = optuna.samplers.TPESampler(
                seed=seed % SEEDS, multivariate=True, constant_liar=True
            )
        self._study: Any = optuna.create_study(direction="maximize", sampler=sampler)
        self._ranges = {
            parameter.name: optuna.distributions.FloatDistribution(0, 1) for parameter in parameters
        }
        self._asked: list[Any] = []
        self._known: list[tuple[float, list[float]]] = []

    def ask(self) -> list[Trial]:
        """Return the next trials; see `Optimiser`."""
        self._asked = [self._study.ask(self._ranges) for _ in range(self._batch)]
        return [Trial(_at(self._parameters, _parts(trial)), self._start) for trial in self._asked]

    def tell(self, outcomes: list[float]) -> None:
        """Take the outcomes of these trials; see `Optimiser`."""
        for trial, outcome in zip(self._asked, outcomes, strict=True):
            self._study.tell(trial, outcome)
            self._known.append((outcome, _parts(trial)))

    def best(self) -> Values:
        """Return the best values so far; see `Optimiser`."""
        if not self._known:
            return self._start
        order = sorted(self._known, key=lambda known: -known[0])
        chosen = [parts for _, parts in order[: max(1, round(BEST * len(order)))]]
        return _mean(self._parameters, chosen)


def _missing() -> str:
    return f"this method needs cma and optuna: {install_hint('cma', 'optuna')}"


def _start(parameters: list[Parameter]) -> Values:
    return tuple(parameter.rounded(parameter.start) for parameter in parameters)


def _at(parameters: list[Parameter], parts: list[float]) -> Values:
    return tuple(
        parameter.rounded(parameter.at(float(part)))
        for parameter, part in zip(parameters, parts, strict=True)
    )


def _mean(parameters: list[Parameter], chosen: list[list[float]]) -> Values:
    """Return the values at the mean of some positions in the ranges."""
    return tuple(
        parameter.clipped(parameter.at(sum(parts) / len(chosen)))
        for parameter, parts in zip(parameters, zip(*chosen, strict=True), strict=True)
    )


def _parts(trial: Any) -> list[float]:
    return [float(part) for part in trial.params.values()]
