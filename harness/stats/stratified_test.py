"""Two-sample test in strata: labels are permuted within each prompt, and statistics are
added up over prompts.

The null hypothesis is that the texts of a prompt are exchangeable between source A and
source B. Two kinds of statistics are formed:

*Within prompts.* For a kernel K with zero diagonal, let C be K centred so that its rows
sum to zero and its diagonal is zero. The unbiased MMD^2 of n + m texts is then c s'Cs,
with the labels s (1 for A) and c = 1 / n(n-1) + 1 / m(m-1) + 2 / nm: whatever is linear
in s cancels. Its permutation mean is 0 and its permutation variance is c^2 v ||C||^2,
with v = 2 p2 - 4 p3 + 2 p4 for the probabilities pk that k given texts have label A.
Each prompt is divided by this standard deviation, a function of the pooled texts and of
the sizes alone, and summed.

*Across prompts.* For features of the texts, centred within prompts, the sum over the
texts of A is the score statistic of a shift that all prompts share. It has permutation
mean 0 too, and a variance in closed form. One feature for each kernel is the mean
similarity to the pooled texts of the prompt, the part of the kernel that is linear in
s: answers that fit no prompt have a small one.

*Other statistics.* Those of a metric have no closed form. Each prompt is centred and
divided by the mean and the standard deviation over all relabelings in use, the observed
one included: functions that do not depend on which of them is the observed one.

All of them are functions of the labels, so that the share of relabelings with at least
the observed value is an exact p-value: Phipson & Smyth (2010) for random relabelings,
of which the observed one counts as one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from harness.stats import permutation, ties

BUDGET = 20_000
"""Maximum number of relabelings of all prompts together that are enumerated."""
_LABELS = 4 << 20
"""Maximum number of labels that are held at once."""
_COUNTED = 64
"""Maximum number of prompts of one size whose relabelings are counted: there are more
than any test draws.
"""
_TABLE = 200_000
"""Maximum number of relabelings of one prompt that are kept as a table to draw from."""


@dataclass(frozen=True)
class Stratum:
    """Prompts with the same numbers of texts."""

    prompts: np.ndarray
    """Positions of the prompts, shape (b,)."""
    rows: np.ndarray
    """Positions of their texts, shape (b, n + m); those of source A first."""
    n: int
    """Number of texts of source A."""

    @property
    def m(self) -> int:
        """Number of texts of source B."""
        return self.rows.shape[1] - self.n


def strata_of(sizes: Sequence[tuple[int, int]]) -> list[Stratum]:
    """Return the strata of prompts of sizes (n, m), whose texts follow one another,
    those of source A first.

    >>> [stratum.rows.tolist() for stratum in strata_of([(1, 2), (2, 2), (1, 2)])]
    [[[0, 1, 2], [7, 8, 9]], [[3, 4, 5, 6]]]
    """
    starts = np.cumsum([0, *(n + m for n, m in sizes)])
    groups: dict[tuple[int, int], list[int]] = {}
    for position, shape in enumerate(sizes):
        groups.setdefault(shape, []).append(position)

    strata: list[Stratum] = []
    for (n, m), positions in groups.items():
        rows = starts[positions][:, None] + np.arange(n + m)
        strata.append(Stratum(np.array(positions), rows, n))
    return strata


def standardise(kernels: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return forms whose values s'Cs have permutation mean 0 and variance 1, and the
    standard deviations of the unbiased MMD^2.

    Parameters
    ----------
    kernels : ndarray, shape (..., N, N)
        Symmetric kernels; the diagonal is not read.
    n : int
        Number of texts of source A. With a single text of a source, the mean of all
        pairs stands for the mean of its pairs.

    Returns
    -------
    forms : ndarray, shape (..., N, N)
        0 for a prompt whose relabelings all have one value.
    deviations : ndarray, shape (...)
        Permutation standard deviation of the unbiased MMD^2 of each kernel.
    """
    size = kernels.shape[-1]
    m = size - n
    diagonal = range(size)
    forms = np.array(kernels, dtype=np.float64)
    forms[..., diagonal, diagonal] = 0.0
    scale = ties.magnitude(forms.reshape(*forms.shape[:-2], size * size))

    sums = forms.sum(axis=-1)
    if min(n, m) == 1:
        # One text has no pair within its source: what remains is linear in the labels.
        centred = sums - sums.mean(axis=-1, keepdims=True)
        variance = (centred**2).mean(axis=-1) * (2.0 / max(size - 2, 1)) ** 2
        factor = (2.0 / max(size - 2, 1)) * (-1.0 if n == 1 else 1.0) * (size > 2)
        forms = np.zeros(forms.shape)
        forms[..., diagonal, diagonal] = factor * centred
    else:
        # Each row and the diagonal sum to 0, so that what is linear in s cancels.
        total = sums.sum(axis=-1)[..., None, None]
        grand = total / ((size - 1) * (size - 2))
        forms -= (sums[..., :, None] + sums[..., None, :]) / (size - 2) - grand
        forms[..., diagonal, diagonal] = 0.0
        forms *= 1 / (n * (n - 1)) + 1 / (m * (m - 1)) + 2 / (n * m)

        # Probabilities that two, three and four given texts have label A.
        p2, p3, p4 = (
            math.prod((n - i) / (size - i) for i in range(k)) for k in (2, 3, 4)
        )
        variance = (forms**2).sum(axis=(-2, -1)) * (2 * p2 - 4 * p3 + 2 * p4)

    deviations = np.sqrt(variance)
    deviations[deviations <= 1e-9 * scale] = 0.0
    divisors = deviations[..., None, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        forms = np.where(divisors > 0, forms / divisors, 0.0)
    return forms, deviations


def standardise_values(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values (..., P, J) with mean 0 and variance 1 over P relabelings, and
    their standard deviations before, shape (..., J).

    Both are 0 where all relabelings have one value, up to rounding, or some have none
    (NaN).
    """
    deviations = values.std(axis=-2)
    informative = deviations > 1e-9 * ties.magnitude(np.swapaxes(values, -1, -2))
    centred = values - values.mean(axis=-2, keepdims=True)
    scaled = centred / np.where(informative, deviations, 1.0)[..., None, :]
    standardised = np.where(informative[..., None, :], scaled, 0.0)
    return standardised, np.where(informative, deviations, 0.0)


def smallest_p(strata: Sequence[Stratum]) -> float:
    """Return the smallest p-value that all relabelings allow: that of a statistic that
    exchanging equal numbers of texts leaves as it is.

    >>> smallest_p(strata_of([(5, 5)])) == 2 / 252
    True
    """
    mirrored = math.prod(
        2 ** min(len(s.prompts), _COUNTED) for s in strata if s.n == s.m
    )
    return mirrored / count_relabelings(strata)


def count_relabelings(strata: Sequence[Stratum]) -> int:
    """Return the number of relabelings of all prompts together; of many prompts of one
    size, that of :data:`_COUNTED`.
    """
    return math.prod(
        permutation.count(s.n, s.m) ** min(len(s.prompts), _COUNTED) for s in strata
    )


class Relabelings:
    """Relabelings of the texts of all prompts, jointly; the first one is the observed.

    Parameters
    ----------
    strata : sequence of Stratum
        The prompts.
    draws : int
        Number of random relabelings, beside the observed one, where there are more than
        ``budget`` in all.
    seed : int
        Seed of the random relabelings.
    budget : int
        Maximum number of relabelings that are enumerated.
    """

    def __init__(
        self, strata: Sequence[Stratum], draws: int, seed: int, budget: int = BUDGET
    ) -> None:
        self.strata = strata
        self.seed = seed
        orbit = count_relabelings(strata)
        self.exact = orbit <= budget
        self.number = orbit if self.exact else draws + 1

    @property
    def floor(self) -> float:
        """Smallest p-value of these relabelings."""
        return max(smallest_p(self.strata), 0.0 if self.exact else 1 / self.number)

    def blocks(self) -> Iterator[tuple[Stratum, np.ndarray]]:
        """Yield some prompts and their labels, float64, shape (b, P, N)."""
        # Jointly enumerated relabelings are numbers whose digits are the relabelings of
        # single prompts; the weight of a digit is the number of those before it.
        weight = 1
        for stratum in self.strata:
            n = stratum.n
            m = stratum.m
            count = permutation.count(n, m)
            step = max(1, _LABELS // (self.number * (n + m)))
            for start in range(0, len(stratum.prompts), step):
                rows = slice(start, start + step)
                block = Stratum(stratum.prompts[rows], stratum.rows[rows], n)
                if self.exact:
                    powers = count ** np.arange(len(block.prompts))[:, None]
                    ranks = np.arange(self.number) // (powers * weight) % count
                    weight *= count ** len(block.prompts)
                    labels = permutation.relabelings(n, m)[ranks]
                else:
                    labels = self._draw(block)
                yield block, labels.astype(np.float64)

    def _draw(self, block: Stratum) -> np.ndarray:
        """Return random labels of some prompts, bool, shape (b, P, N), the observed
        ones first.
        """
        # A prompt has the same labels however prompts are divided into blocks of one
        # beginning.
        rng = np.random.default_rng(
            [self.seed, int(block.prompts[0]), block.n, block.m]
        )
        shape = (len(block.prompts), self.number)
        if permutation.count(block.n, block.m) <= _TABLE:
            table = permutation.relabelings(block.n, block.m)
            ranks = rng.integers(len(table), size=shape)
            ranks[:, 0] = 0
            return table[ranks]

        labels = rng.random((*shape, block.rows.shape[1])).argsort(axis=-1) < block.n
        labels[:, 0] = np.arange(block.rows.shape[1]) < block.n
        return labels


@dataclass(frozen=True)
class Sums:
    """Statistics under all relabelings, the observed one first, and of single
    prompts.
    """

    within: np.ndarray
    """Standardised sums over prompts of each kernel, then of each score, shape (P, K +
    S).
    """
    shifts: np.ndarray
    """Standardised shifts across prompts, shape (P, F + K): of each feature, and of the
    mean similarity to the answers of the prompt.
    """
    effects: np.ndarray
    """Unbiased MMD^2 of each prompt and kernel, then each score minus its mean over
    relabelings, shape (B, K + S). NaN: a kernel of a prompt with one answer of a
    source, which has no unbiased MMD^2, and a score that is undefined or that no
    relabeling changes.
    """
    totals: np.ndarray
    """Sums of the effects that are no NaN over prompts under all relabelings,
    shape (P, K + S).
    """
    prompt_p: np.ndarray
    """P-value of each prompt, of the mean of its standardised kernels and scores,
    shape (B,).
    """


def relabel_sums(
    relabelings: Relabelings,
    kernels: Callable[[Stratum], np.ndarray],
    features: np.ndarray,
    scores: Callable[[Stratum, np.ndarray], np.ndarray] | None = None,
) -> Sums:
    """Return the statistics of all relabelings.

    Parameters
    ----------
    relabelings : Relabelings
        Relabelings of the prompts.
    kernels : callable
        Returns the kernels of some prompts, shape (b, K, N, N).
    features : ndarray, shape (T, F)
        Features of the texts.
    scores : callable, optional
        Returns other statistics of some prompts under labels (b, P, N), shape (b, P,
        S), larger ones more extreme; NaN where undefined.
    """
    prompt_p = np.ones(sum(len(stratum.prompts) for stratum in relabelings.strata))
    within, totals, shifts, variance, informative = (np.zeros(1) for _ in range(5))
    effects: list[np.ndarray] = []
    positions: list[np.ndarray] = []
    for block, labels in relabelings.blocks():
        # Within prompts: kernels, then scores.
        matrices = kernels(block)
        forms, deviations = standardise(matrices, block.n)
        columns = [
            np.einsum("bpi,bpi->bp", labels @ forms[:, k], labels)[:, :, None]
            for k in range(forms.shape[1])
        ]
        if scores is not None:
            scored, spread = standardise_values(scores(block, labels))
            columns = [*columns, scored]
            deviations = np.concatenate([deviations, spread], axis=1)
        values = np.concatenate(columns, axis=2)
        within = within + values.sum(axis=0)
        informative = informative + (deviations > 0).sum(axis=0)

        counted = deviations > 0
        # A kernel without differences has the MMD² 0.
        counted[:, : forms.shape[1]] = min(block.n, block.m) > 1
        effects.append(np.where(counted, values[:, 0] * deviations, np.nan))
        weights = np.where(counted, deviations, 0.0)
        totals = totals + (values * weights[:, None]).sum(axis=0)
        means = values.mean(axis=2)
        prompt_p[block.prompts] = (means >= means[:, :1] - 1e-9).mean(axis=1)
        positions.append(block.prompts)

        # Across prompts: features, then the mean similarity to the pooled texts.
        size = labels.shape[2]
        similarity = matrices.sum(axis=3).transpose(0, 2, 1) / size
        values = np.concatenate([features[block.rows], similarity], axis=2)
        centred = values - values.mean(axis=1, keepdims=True)
        shifts = shifts + np.tensordot(labels, centred, axes=((0, 2), (0, 1)))
        share = block.n * block.m / (size * max(size - 1, 1))
        variance = variance + (centred**2).sum(axis=(0, 1)) * share

    scale = np.sqrt(np.where(variance > 1e-18, variance, np.inf))
    order = np.argsort(np.concatenate(positions))
    return Sums(
        within / np.sqrt(np.maximum(informative, 1)),
        shifts / scale,
        np.concatenate(effects)[order],
        totals,
        prompt_p,
    )


def rank_shares(values: np.ndarray) -> np.ndarray:
    """Return the p-value of every relabeling in its column, shape (P, J): the share of
    relabelings with at least its value.

    >>> rank_shares(np.array([[3.0], [1.0], [2.0], [3.0]])).ravel().tolist()
    [0.5, 1.0, 0.75, 0.5]
    """
    tolerance = ties.tolerance(ties.magnitude(values.T), 1e-9)
    columns: list[np.ndarray] = []
    for column, slack in zip(values.T, tolerance):
        ordered = np.sort(column)
        below = np.searchsorted(ordered, np.asarray(column - slack), side="left")
        columns.append((len(column) - np.asarray(below)) / len(column))
    return np.stack(columns, axis=1)


def adaptive_p(values: np.ndarray) -> float:
    """Return the p-value of the largest of several statistics (P, J), each standardised
    over all relabelings, the observed one included.

    >>> adaptive_p(np.array([[3.0, 0.0], [1.0, 1.0], [2.0, 0.0], [0.0, 1.0]]))
    0.25
    """
    standardised, deviations = standardise_values(values)
    usable = standardised[:, deviations > 0]
    return float(rank_shares(usable.max(axis=1)[:, None])[0, 0]) if usable.size else 1.0


def westfall_young(shifts: np.ndarray) -> np.ndarray:
    """Return p-values (F,) of two-sided shifts (P, F), adjusted by the largest one of
    every relabeling (Westfall & Young 1993).
    """
    size = np.abs(shifts)
    largest = np.sort(size.max(axis=1, initial=0.0))
    below = np.searchsorted(largest, np.asarray(size[0] - 1e-9), side="left")
    return (len(size) - np.asarray(below)) / len(size)
