"""Populations that every promise is measured on: normal, skewed up and down, ties, few
changed examples, heavy tails, clusters.

A population here is one of *differences* of paired scores with a known mean. What needs
another mean adds a constant, except for populations of few changed examples and of
bounded scores, whose mean is a parameter: a constant would move their ties.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

SIZES = (5, 10, 20, 50, 100, 200, 500, 2000)
"""Numbers of examples, or of clusters."""
UNSEEN_SEEDS = (20261127, 20261128)
"""Seeds of :func:`random_populations` for populations that no rule was tuned on. The
first one was committed before any rule was; with its populations the gate was found to
need 300 differences that take few values, where 150 had been enough for all others, so
that the second one was drawn.
"""


@dataclass(frozen=True)
class Population:
    """Independent values with a known mean."""

    name: str
    mean: float
    draw: Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
    """Generator and shape -> values of this shape."""
    bounds: tuple[float, float] | None = None
    """Range of the values, where there is one."""


def few_changed(share: float, *, better: float = 0.0) -> Population:
    """Return differences of right answers (0 and 1): a share of them break (difference
    1: worse), and some improve (-1).
    """

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        place = rng.random(shape)
        return (place < share).astype(float) - (
            (place >= share) & (place < share + better)
        )

    improved = f", {better:.1%} improve" if better else ""
    return Population(
        f"{share:.1%} of answers break{improved}", share - better, draw, (-1.0, 1.0)
    )


def rare(share: float, *, sign: int = 1) -> Population:
    """Return mean-zero differences: a share of the examples gains (sign 1; loses for
    -1) much, the others lose a little.
    """

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        values = np.where(rng.random(shape) < share, 1.0, -share / (1 - share))
        return sign * values * (1 - share)

    return Population(
        f"{'gains' if sign > 0 else 'losses'} in {share:.1%} of examples",
        0.0,
        draw,
        (-1.0, 1.0),
    )


def _normal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.standard_normal(shape)


def lognormal(sigma: float, *, sign: int = 1) -> Population:
    """Return mean-zero lognormal differences, skewed up (sign 1) or down (-1)."""

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return sign * (
            np.exp(sigma * rng.standard_normal(shape)) - np.exp(sigma**2 / 2)
        )

    return Population(
        f"lognormal({sigma:g}) skewed {'up' if sign > 0 else 'down'}", 0.0, draw
    )


def sparse_lognormal(share: float, sigma: float) -> Population:
    """Return differences of which a share is lognormal and the others are 0."""

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return np.where(
            rng.random(shape) < share, np.exp(sigma * rng.standard_normal(shape)), 0.0
        )

    return Population(
        f"{share:.0%} lognormal({sigma:g}), others equal",
        share * float(np.exp(sigma**2 / 2)),
        draw,
    )


def _judge(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Grades of a judge from 0 to 10: 97 % ties, one grade less in 2.5 %,
    five more in .5 %.
    """
    place = rng.random(shape)
    return np.where(place < 0.025, -1.0, np.where(place < 0.03, 5.0, 0.0))


def _student(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.standard_t(3, shape)


def _bounded(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.beta(0.5, 4.5, shape) - rng.beta(0.5, 4.5, shape)


NORMAL = Population("normal", 0.0, _normal)
JUDGE = Population("judge with 97% ties", 0.0, _judge, (-10.0, 10.0))
HEAVY = Population("Student's t, 3 degrees of freedom", 0.0, _student)
BOUNDED = Population("differences of two beta(.5, 4.5)", 0.0, _bounded, (-1.0, 1.0))
MEAN_ZERO: Sequence[Population] = (
    NORMAL,
    *(rare(share) for share in (0.05, 0.02, 0.005, 0.001)),
    rare(0.02, sign=-1),
    lognormal(1.0),
    lognormal(2.0),
    lognormal(2.0, sign=-1),
    JUDGE,
    HEAVY,
    BOUNDED,
)
"""Differences whose mean is 0."""
WORSE: Sequence[Population] = (
    *(few_changed(share) for share in (0.01, 0.05, 0.2)),
    few_changed(0.02, better=0.01),
    sparse_lognormal(0.2, 1.5),
    sparse_lognormal(0.05, 1.0),
)
"""Differences of a new version that is worse by a known mean, in some of its examples.
"""


@dataclass(frozen=True)
class Clusters:
    """Clusters of examples with a common part of their differences."""

    name: str
    sizes: Callable[[np.random.Generator, int], np.ndarray]
    """Generator and number of clusters -> number of examples of each."""
    common: float = 0.7
    """Standard deviation of the common part; that of the examples' own is 1."""

    def draw(
        self, rng: np.random.Generator, clusters: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean-zero differences of all examples, shape (B,), and the number
        of the cluster of each, shape (B,).
        """
        sizes = self.sizes(rng, clusters)
        numbers = np.repeat(np.arange(clusters), sizes)
        common = self.common * rng.standard_normal(clusters)
        return common[numbers] + rng.standard_normal(len(numbers)), numbers


def _unequal(rng: np.random.Generator, clusters: int) -> np.ndarray:
    return np.where(rng.random(clusters) < 0.1, 40, 2)


CLUSTERS: Sequence[Clusters] = (
    Clusters("clusters of 5", lambda rng, clusters: np.full(clusters, 5)),
    Clusters("clusters of 1 to 9", lambda rng, clusters: rng.integers(1, 10, clusters)),
    Clusters("a tenth of the clusters with 40 examples, others with 2", _unequal),
)
"""Clusters of equal and of unequal sizes."""


def random_populations(count: int, seed: int) -> list[Population]:
    """Return populations of ten values each, with random values and probabilities and a
    known mean: none that a rule was tuned on.

    Half of them are mostly ties; the largest values are rare, so that the skewness is
    anything up to extreme.
    """
    rng = np.random.default_rng(seed)
    found: list[Population] = []
    for k in range(count):
        values = rng.standard_normal(10) * np.exp(rng.normal(0, 1.5, 10))
        weights = rng.dirichlet(np.full(10, 0.4))
        if k % 2:
            tied = rng.uniform(0.5, 0.99)
            values = np.append(values, 0.0)
            weights = np.append(weights * (1 - tied), tied)
        mean = float(weights @ values)

        found.append(
            Population(f"random {k + 1}", mean, partial(_choose, values, weights))
        )
    return found


def _choose(
    values: np.ndarray,
    weights: np.ndarray,
    rng: np.random.Generator,
    shape: tuple[int, ...],
) -> np.ndarray:
    return rng.choice(values, shape, p=weights)


def unseen_populations() -> list[Population]:
    """Return twenty populations of each seed."""
    return [
        replace(population, name=f"{population.name} of {seed}")
        for seed in UNSEEN_SEEDS
        for population in random_populations(20, seed)
    ]
