"""Jackknife intervals of the pooled CR, NRR and CND.

These are quadratic in the counts. A bootstrap repeats examples, hence n-grams: its
samples have another mean than the value and are spread too widely. Leaving one
example out repeats nothing. The jackknife counts the quadratic part of the variance
twice; for CR with :data:`CORRECTED` examples the results without two examples correct
that. The interval is that of the expected value for corpora of this size: it does not
remove the bias of a plug-in form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from harness.stats import jackknife
from harness_metrics.words.grams import Grams, per_unit, sparse_counts

NOTE = (
    "jackknife; for the expected value of corpora of this size, "
    "with the bias of the form"
)
"""Note of the intervals."""
CORRECTED = range(100, 501)
"""Numbers of examples for which all pairs are left out for CR. Beyond them the
correction is about 1 % of the width. Below them, and for NRR and CND, whose values are
skewed, the excess makes up for the skewness: corrected intervals cover .90 to .94.
"""


@dataclass(frozen=True, eq=False)
class _Counts:
    """Counts of candidates (q) and references (p), per example and pooled."""

    q: Any
    """Sparse matrix of n-gram counts of the candidates, shape (B, G)."""
    p: Any
    """Sparse matrix of n-gram counts of the references, shape (B, G)."""
    q_tokens: np.ndarray
    """Number of n-gram tokens, shape (B,)."""
    p_tokens: np.ndarray
    within: np.ndarray
    """Squared counts within the sentences of the candidates, summed, shape (B,)."""
    squares: np.ndarray
    """Squared sizes of the sentences of the candidates, summed, shape (B,)."""


class _Sums(NamedTuple):
    """Sums that the results are functions of, all of one shape."""

    tq: Any
    tp: Any
    qq: Any
    pp: Any
    qp: Any
    within: Any
    squares: Any


def interval(
    q: Grams, p: Grams, units: int, field: str, value: float
) -> tuple[float, float] | None:
    """Return the 95 % interval of one result of the pooled examples.

    Parameters
    ----------
    q, p : Grams
        n-gram tokens of candidates and references.
    units : int
        Number of examples B.
    field : str
        Field of :class:`~harness_metrics.crnrr.ngrams.CrNrr`.
    value : float
        The value of the field.

    Returns
    -------
    tuple or None
        (low, high), which contains the value; None when the results without one example
        do not differ or are undefined.
    """
    counts = _counts(q, p, units)
    all_examples, left_out = _without_one(counts)
    pairs = None
    with np.errstate(divide="ignore", invalid="ignore"):
        values = _result(left_out, field)
        if field == "cr" and units in CORRECTED:
            pairs = _result(_without_two(counts, all_examples, left_out), field)
    return jackknife.interval(value, values, pairs=pairs)


def _counts(q: Grams, p: Grams, units: int) -> _Counts:
    size = 1 + int(max(q.gram.max(initial=-1), p.gram.max(initial=-1)))
    matrices: list[Any] = []
    for side in (q, p):
        matrix = sparse_counts(side.gram, side.unit, (size, units)).T.tocsr()
        matrix.sum_duplicates()
        matrices.append(matrix)

    q_tokens, within, squares = (
        column.astype(np.float64) for column in per_unit(q, units)
    )
    return _Counts(
        matrices[0],
        matrices[1],
        q_tokens,
        np.bincount(p.unit, minlength=units).astype(np.float64),
        within,
        squares,
    )


def _without_one(c: _Counts) -> tuple[_Sums, _Sums]:
    """Return the sums of all examples, numbers, and without each example,
    shape (B,).
    """
    q = c.q.sum(axis=0)
    p = c.p.sum(axis=0)
    additive = [c.q_tokens, c.p_tokens, c.within, c.squares]
    tq, tp, within, squares = (values.sum() for values in additive)
    qq = q @ q
    pp = p @ p
    qp = q @ p
    all_examples = _Sums(tq, tp, qq, pp, qp, within, squares)

    # Without example i, |q - q_i|^2 = |q|^2 - 2 <q, q_i> + |q_i|^2, and <q - q_i, p -
    # p_i> likewise: products of the pooled counts with each row give all examples at
    # once.
    left_out = _Sums(
        tq - c.q_tokens,
        tp - c.p_tokens,
        qq - 2 * (c.q @ q) + c.q.power(2).sum(axis=1),
        pp - 2 * (c.p @ p) + c.p.power(2).sum(axis=1),
        qp - c.q @ p - c.p @ q + c.q.multiply(c.p).sum(axis=1),
        within - c.within,
        squares - c.squares,
    )
    return all_examples, left_out


def _without_two(c: _Counts, all_examples: _Sums, left_out: _Sums) -> _Sums:
    """Return the sums without two examples, shape (B, B);
    the diagonal has no meaning.
    """
    pair_sums = [
        single[:, None] + single[None, :] - total
        for single, total in zip(left_out, all_examples)
    ]

    # Without i and j the sums of both single removals count the product of i and j
    # twice; it is added back.
    cross = (c.q @ c.p.T).toarray()
    shared = {
        2: 2 * (c.q @ c.q.T).toarray(),
        3: 2 * (c.p @ c.p.T).toarray(),
        4: cross + cross.T,
    }
    return _Sums(*(values + shared.get(k, 0.0) for k, values in enumerate(pair_sums)))


def _result(s: _Sums, field: str) -> np.ndarray:
    """Return one field of :class:`~harness_metrics.crnrr.ngrams.CrNrr`,
    in the shape of the sums.
    """
    cr = s.qp / (s.tq * s.tp)
    if field == "cr":
        return cr
    if field == "nrr_cross_sentence":
        return -(s.qq - s.within) / (s.tq**2 - s.squares)

    if field.endswith("unbiased"):
        nrr_q = -(s.qq - s.tq) / (s.tq * (s.tq - 1))
        nrr_p = -(s.pp - s.tp) / (s.tp * (s.tp - 1))
    else:
        nrr_q = -s.qq / s.tq**2
        nrr_p = -s.pp / s.tp**2
    return nrr_q if field.startswith("nrr") else -nrr_q - nrr_p - 2 * cr
