"""CR, NRR and CND of weighted sentences or examples.

The counts of a unit (a sentence, or the sentences of an example) are a column of a
sparse matrix; its product with the weights is the counts of every sample.
"""

from __future__ import annotations

import numpy as np

from harness_metrics.crnrr.ngrams import CrNrr, Sums, from_sums
from harness_metrics.words.grams import Grams, per_unit, sparse_counts

_BLOCK = 1 << 24
"""Number of matrix entries that are computed together."""


def weigh_units(
    q: Grams, p: Grams, n: int, weights_q: np.ndarray, weights_p: np.ndarray
) -> list[CrNrr]:
    """Return one result per row of weights;
    a unit of weight 2 counts as two equal units.

    Parameters
    ----------
    q, p : Grams
        n-gram tokens of candidates and references.
    n : int
        Order.
    weights_q, weights_p : ndarray
        Integer weights, ``(W, units of q)`` and ``(W, units of p)``.

    Raises
    ------
    ValueError
        For weights that are not whole numbers.
    """
    if any((weights != np.floor(weights)).any() for weights in (weights_q, weights_p)):
        raise ValueError("weights of units must be whole numbers")

    size = 1 + int(max(q.gram.max(initial=-1), p.gram.max(initial=-1)))
    matrices = [
        sparse_counts(side.gram, side.unit, (size, weights.shape[1]))
        for side, weights in ((q, weights_q), (p, weights_p))
    ]
    totals_q, within, squares = per_unit(q, weights_q.shape[1])
    totals_p = np.bincount(p.unit, minlength=weights_p.shape[1])

    out: list[CrNrr] = []
    step = max(1, _BLOCK // max(1, size))
    for start in range(0, len(weights_q), step):
        wq, wp = (
            w[start : start + step].astype(np.float64) for w in (weights_q, weights_p)
        )
        # (grams, W) counts: whole numbers, exact below 2**53
        cq = matrices[0] @ wq.T
        cp = matrices[1] @ wp.T
        products = [(a * b).sum(axis=0) for a, b in ((cq, cq), (cp, cp), (cq, cp))]
        sums = [wq @ totals_q, wp @ totals_p, wq @ within, wq @ squares]

        for qq, pp, qp, tq, tp, within_sentences, square in zip(
            *(v.astype(int).tolist() for v in (*products, *sums))
        ):
            out.append(from_sums(n, Sums(tq, tp, qq, pp, qp, within_sentences, square)))
    return out
