"""Relabelings of the texts of one example, and permutation p-values.

The null hypothesis is that candidates and references come from one distribution: every
choice of ``n`` of the ``N = n + m`` texts as candidates is then equally likely.
``labels`` are bool, shape (P, N), True for a candidate; the first row of an enumeration
is the identity (the first ``n`` texts are the candidates).

The p-value is the share of relabelings that are at least as extreme as the observed
one, itself included. Values that differ from the observed one by rounding error
(:mod:`harness.stats.ties`) count as equal to it, so that rounding never makes a p-value
too small.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Literal

import numpy as np

from harness.stats import ties

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
_SHARED_BYTES = 64 << 20
"""Maximum size of a table of relabelings that is shared between callers, in bytes."""


def count(n: int, m: int) -> int:
    """Return the number of relabelings, C(n + m, n);
    raise ValueError for an empty sample.

    >>> count(10, 5), count(10, 10)
    (3003, 184756)
    """
    if n < 1 or m < 1:
        raise ValueError(
            "a relabeling needs n >= 1 candidates and m >= 1 references; "
            f"found n={n}, m={m}"
        )
    return math.comb(n + m, n)


def unrank(ranks: np.ndarray, n: int, m: int) -> np.ndarray:
    """Return the labels of the relabelings with ranks (P,) in the order of
    :func:`relabelings`, bool, shape (P, N).

    Raises ValueError when C(n + m, n) does not fit 63 bits.

    >>> unrank(np.array([0, 2]), 1, 2).astype(int).tolist()
    [[1, 0, 0], [0, 0, 1]]
    """
    if count(n, m) >= 2**63:
        raise ValueError(f"{n} + {m} texts have too many relabelings to number")
    size = n + m
    binomial = np.array(
        [[math.comb(a, b) for b in range(n + 1)] for a in range(size)], dtype=object
    )
    # every rank is below: the comparison has the same result
    binomial[binomial >= 2**63] = 2**63 - 1
    binomial = binomial.astype(np.int64)
    rank = np.array(ranks, dtype=np.int64)
    left = np.full(rank.shape, n)
    labels = np.empty((len(rank), size), dtype=bool)
    for position in range(size):
        with_it = np.where(
            left > 0, binomial[size - position - 1, np.maximum(left - 1, 0)], 0
        )
        take = rank < with_it
        rank = np.where(take, rank, rank - with_it)
        left = left - take
        labels[:, position] = take
    return labels


def chunks(n: int, m: int, size: int) -> Iterator[np.ndarray]:
    """Yield all relabelings in order, in bool arrays of shape (at most ``size``, N);
    their total number is not limited.
    """
    total = count(n, m)
    if total * (n + m) <= _SHARED_BYTES:
        table = relabelings(n, m)
        yield from (table[start : start + size] for start in range(0, total, size))
        return
    for start in range(0, total, size):
        yield unrank(np.arange(start, min(start + size, total)), n, m)


def relabelings(n: int, m: int) -> np.ndarray:
    """Return all relabelings, bool, shape (P, N), True for a candidate, the identity
    first; small tables are shared, read-only.

    >>> relabelings(1, 2).astype(int).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    """
    if count(n, m) * (n + m) <= _SHARED_BYTES:
        return _shared_table(n, m)
    return unrank(np.arange(count(n, m)), n, m)


@lru_cache(maxsize=32)
def _shared_table(n: int, m: int) -> np.ndarray:
    table = unrank(np.arange(count(n, m)), n, m)
    table.setflags(write=False)
    return table


def draws(n: int, m: int, number: int, seed: int) -> np.ndarray:
    """Return uniformly random relabelings, bool, shape (number, N);
    they depend on seed, n and m alone.
    """
    order = np.random.default_rng([seed, n, m]).random((number, n + m)).argsort(axis=1)
    return order < n


# --------------------------------------------------------------------------- which relabelings a test uses
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
            yield from chunks(self.n, self.m, size)
            return
        labels = draws(self.n, self.m, self.relabelings, self.seed)
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
    total = count(n, m)
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
    """Return the number (B,) of values (B,
    p) that are at least as extreme as ``observed`` (B,).

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
