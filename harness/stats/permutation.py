"""Relabelings of one example's texts, and p-values from them.

The null hypothesis is that candidates and references come from one distribution; every way of calling ``n`` of the
``N = n + m`` texts *candidates* is then equally likely. ``labels`` are (P, N) bool, True = candidate; the first row of
an enumeration is the identity (the first ``n`` texts are the candidates).

The p-value is the share of relabelings at least as extreme as the observed one, which is counted itself; values within
``TOLERANCE`` of the observed one count as equal to it, so rounding never makes a p-value too small.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

Method = Literal["exact", "monte-carlo"]
Tail = Literal["upper", "lower"]

TOLERANCE = 1e-6
"""Two values of a statistic this close are one value."""
BUDGET = 200_000
"""Most relabelings that are enumerated (10 + 10 has 184,756); beyond it, Monte Carlo."""
DRAWS = 10_000
"""Random relabelings of a Monte Carlo test."""
_SHARED_BYTES = 64 << 20


def count(n: int, m: int) -> int:
    """Number of relabelings, C(n + m, n); raises ValueError for an empty sample.

    >>> count(10, 5), count(10, 10)
    (3003, 184756)
    """
    if n < 1 or m < 1:
        raise ValueError(f"a relabeling needs n >= 1 candidates and m >= 1 references; found n={n}, m={m}")
    return math.comb(n + m, n)


def unrank(ranks: np.ndarray, n: int, m: int) -> np.ndarray:
    """(P, N) bool labels of the relabelings with these ranks, in the order of :func:`relabelings`.

    Raises ValueError when C(n + m, n) does not fit 63 bits (nobody enumerates that).
    """
    if count(n, m) >= 2**63:
        raise ValueError(f"{n} + {m} texts have too many relabelings to number")
    size = n + m
    binomial = np.array([[math.comb(a, b) for b in range(n + 1)] for a in range(size)], dtype=object)
    binomial[binomial >= 2**63] = 2**63 - 1  # only reached where the rank is smaller anyway
    binomial = binomial.astype(np.int64)
    rank = np.array(ranks, dtype=np.int64)
    left = np.full(rank.shape, n)
    labels = np.empty((len(rank), size), dtype=bool)
    for position in range(size):
        with_it = np.where(left > 0, binomial[size - position - 1, np.maximum(left - 1, 0)], 0)
        take = rank < with_it
        rank = np.where(take, rank, rank - with_it)
        left = left - take
        labels[:, position] = take
    return labels


def chunks(n: int, m: int, size: int) -> Iterator[np.ndarray]:
    """All relabelings in order, ``size`` rows at a time, whatever their number."""
    total = count(n, m)
    if total * (n + m) <= _SHARED_BYTES:
        table = relabelings(n, m)
        yield from (table[start : start + size] for start in range(0, total, size))
        return
    for start in range(0, total, size):
        yield unrank(np.arange(start, min(start + size, total)), n, m)


def relabelings(n: int, m: int) -> np.ndarray:
    """All (P, N) bool relabelings, True = candidate, the identity first; read-only and shared between callers.

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
    """(number, N) uniformly random relabelings, the same for one seed."""
    order = np.random.default_rng([seed, n, m]).random((number, n + m)).argsort(axis=1)
    return order < n


# --------------------------------------------------------------------------- which relabelings a test uses
@dataclass(frozen=True, slots=True)
class Plan:
    """How the null distribution of one (n, m) shape is taken."""

    n: int
    m: int
    method: Method
    relabelings: int
    """Relabelings evaluated: all C(N, n), or the number of random draws."""
    seed: int = 0
    note: str = ""
    """Why an exact test was not made; empty where it was."""

    @property
    def floor(self) -> float:
        """The smallest p-value that this plan can give."""
        return 1.0 / (self.relabelings + (self.method == "monte-carlo"))

    def chunks(self, size: int) -> Iterator[np.ndarray]:
        """The labels, at most ``size`` rows at a time."""
        if self.method == "exact":
            yield from chunks(self.n, self.m, size)
            return
        labels = draws(self.n, self.m, self.relabelings, self.seed)
        yield from (labels[start : start + size] for start in range(0, len(labels), size))


def plan(
    n: int,
    m: int,
    *,
    method: Literal["exact", "monte-carlo", "auto"] = "auto",
    budget: int = BUDGET,
    draws: int = DRAWS,
    seed: int = 0,
) -> Plan:
    """Exact while C(N, n) is within the budget, Monte Carlo beyond it (also when exact was asked for: ``note`` says so)."""
    if method not in ("exact", "monte-carlo", "auto"):
        raise ValueError(f"method is exact, monte-carlo or auto; found {method!r}")
    total = count(n, m)
    if method != "monte-carlo" and total <= budget:
        return Plan(n, m, "exact", total)
    note = ""
    if method != "monte-carlo":
        note = (
            f"{n} + {m} texts have {total:,} relabelings, beyond the budget of {budget:,}: {draws:,} Monte Carlo draws"
        )
    return Plan(n, m, "monte-carlo", draws, seed, note)


def p_values(observed: np.ndarray, null_chunks: Iterable[np.ndarray], tail: Tail, method: Method) -> np.ndarray:
    """(B,) p-values of ``observed`` (B,) against the (B, p) chunks of its null distribution.

    ``upper``: large values are extreme. Exact: share of the null (the observed relabeling is one of them); Monte Carlo:
    (1 + #) / (1 + draws). A null value that is NaN counts as extreme, which can only make p larger; an observed NaN
    stays NaN.
    """
    observed = np.asarray(observed, dtype=np.float64)
    extreme = np.zeros(observed.shape, dtype=np.int64)
    total = 0
    for values in null_chunks:
        extreme += tail_counts(values, observed, tail)
        total += values.shape[1]
    p = (1 + extreme) / (1 + total) if method == "monte-carlo" else extreme / total
    return np.where(np.isnan(observed), np.nan, p)


def tail_counts(values: np.ndarray, observed: np.ndarray, tail: Tail) -> np.ndarray:
    """(B,) how many of the (B, p) values are at least as extreme as ``observed`` (B,), within the tolerance."""
    if tail == "upper":
        less = values < (observed - TOLERANCE)[:, None]
    else:
        less = values > (observed + TOLERANCE)[:, None]
    return values.shape[1] - np.count_nonzero(less, axis=1)
