"""Permutation p-values of the statistics of examples, and the design of their test.

The p-value is the share of relabelings (:mod:`harness.stats.permutation`) that are at
least as extreme as the observed one, itself included. Values that differ from the
observed one by rounding error (:mod:`harness.stats.ties`) count as equal to it, so that
rounding never makes a p-value too small.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np

from harness.stats import permutation, ties

Method = Literal["exact", "monte-carlo"]
Tail = Literal["upper", "lower"]
BUDGET = 200_000
"""Maximum number of relabelings that are enumerated (10 + 10 texts have 184,756);
beyond it the test is Monte Carlo.
"""
DRAWS = 10_000
"""Number of random relabelings of a Monte Carlo test."""
SCALE_VALUES = 256
"""Number of null values per example from which the magnitude of a statistic is read."""


@dataclass(frozen=True, slots=True)
class PermutationPlan:
    """Design of the test of one (n, m) shape: enumeration or random draws."""

    n: int
    """Number of candidates."""
    m: int
    """Number of references."""
    method: Method
    relabelings: int
    """Number of relabelings evaluated: C(N, n), or the number of random draws."""
    seed: int = 0
    note: str = ""
    """Reason for a Monte Carlo test in place of an exact one; empty otherwise."""

    @property
    def floor(self) -> float:
        """Smallest p-value of this design."""
        return 1.0 / (self.relabelings + (self.method == "monte-carlo"))

    def chunks(self, size: int) -> Iterator[np.ndarray]:
        """Yield the labels, bool, in arrays of shape (at most ``size``, N)."""
        if self.method == "exact":
            yield from permutation.chunks(self.n, self.m, size)
            return
        labels = permutation.draws(self.n, self.m, self.relabelings, self.seed)
        yield from (
            labels[start : start + size] for start in range(0, len(labels), size)
        )


def plan(
    n: int,
    m: int,
    *,
    method: Literal["exact", "monte-carlo", "auto"] = "auto",
    budget: int = BUDGET,
    draws: int = DRAWS,
    seed: int = 0,
) -> PermutationPlan:
    """Return the design of a test with n candidates and m references.

    Parameters
    ----------
    n, m : int
        Numbers of candidates and references.
    method : {"exact", "monte-carlo", "auto"}
        ``exact`` and ``auto`` enumerate up to ``budget`` relabelings and use Monte
        Carlo beyond it, with a ``note``.
    budget : int
        Maximum number of relabelings that are enumerated.
    draws : int
        Number of random relabelings of a Monte Carlo test.
    seed : int
        Seed of the random relabelings.

    Raises
    ------
    ValueError
        An unknown method, or an empty sample.
    """
    if method not in ("exact", "monte-carlo", "auto"):
        raise ValueError(f"method is exact, monte-carlo or auto; found {method!r}")

    total = permutation.count(n, m)
    if method != "monte-carlo" and total <= budget:
        return PermutationPlan(n, m, "exact", total)
    note = ""
    if method != "monte-carlo":
        note = (
            f"{n} + {m} texts have {total:,} relabelings, "
            f"beyond the budget of {budget:,}: {draws:,} Monte Carlo draws"
        )
    return PermutationPlan(n, m, "monte-carlo", draws, seed, note)


def p_values(
    observed: np.ndarray,
    null_chunks: Iterable[np.ndarray],
    tail: Tail,
    method: Method,
    *,
    tolerance: np.ndarray | None = None,
) -> np.ndarray:
    """Return p-values (B,) of observed values against their null distributions.

    An exact p-value is the share of extreme null values, of which the observed
    relabeling is one; a Monte Carlo p-value is (1 + #extreme) / (1 + draws). A null
    value NaN counts as extreme, which can only increase p; an observed NaN gives NaN.

    Parameters
    ----------
    observed : ndarray, shape (B,)
        Observed values.
    null_chunks : iterable of ndarray, shapes (B, p)
        The null distributions in parts; the result does not depend on the division into
        parts.
    tail : {"upper", "lower"}
        Values that count as extreme: large or small ones.
    method : {"exact", "monte-carlo"}
        Design of the test.
    tolerance : ndarray, shape (B,), optional
        Largest difference from the observed value that counts as a tie, see
        :mod:`harness.stats.ties`. The default is the sum of ``FLOAT32`` times the
        absolute observed value, since values may come from float32 features, and
        ``FLOAT64`` times the largest absolute value of the first ``SCALE_VALUES`` of
        the null, for observed values that are 0 except for cancellation. The p-values
        then do not depend on the unit of the values.

    Examples
    --------
    >>> p_values(np.array([2.0]), [np.array([[1.0, 2.0, 3.0, 0.0]])], "upper", "exact")
    array([0.5])
    """
    observed = np.asarray(observed, dtype=np.float64)
    null_chunks = iter(null_chunks)
    if tolerance is None:
        # The same null values whatever the division into parts.
        first, null_chunks = _with_head(null_chunks)
        head = np.concatenate([observed[:, None], *first], axis=1)
        size = ties.magnitude(observed[:, None])
        tolerance = ties.tolerance(size, ties.FLOAT32) + ties.tolerance(
            ties.magnitude(head), ties.FLOAT64
        )

    extreme = np.zeros(observed.shape, dtype=np.int64)
    total = 0
    for values in null_chunks:
        extreme += tail_counts(values, observed, tail, tolerance)
        total += values.shape[1]
    p = (1 + extreme) / (1 + total) if method == "monte-carlo" else extreme / total
    return np.where(np.isnan(observed), np.nan, p)


def _with_head(
    chunks: Iterator[np.ndarray],
) -> tuple[list[np.ndarray], Iterator[np.ndarray]]:
    """Return the first ``SCALE_VALUES`` columns of chunks (B, p), in parts, and an
    iterator over all chunks.
    """
    head: list[np.ndarray] = []
    consumed: list[np.ndarray] = []
    missing = SCALE_VALUES
    while missing > 0 and (values := next(chunks, None)) is not None:
        consumed.append(values)
        head.append(values[:, :missing])
        missing -= values.shape[1]
    return head, chain(consumed, chunks)


def tail_counts(
    values: np.ndarray, observed: np.ndarray, tail: Tail, tolerance: np.ndarray | float
) -> np.ndarray:
    """Return the number (B,) of values (B, p) that are at least as extreme as
    ``observed`` (B,).

    Values within ``tolerance``, (B,) or one number, of the observed one count as equal
    to it; NaN counts as extreme.

    >>> tail_counts(np.array([[1.0, 2.0 - 1e-9, 3.0]]), np.array([2.0]), "upper", 1e-6)
    array([2])
    """
    if tail == "upper":
        less = values < (observed - tolerance)[:, None]
    else:
        less = values > (observed + tolerance)[:, None]
    return values.shape[1] - np.count_nonzero(less, axis=1)
