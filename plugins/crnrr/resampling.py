"""CR, NRR and CND when sentences (or examples) are weighted: bootstrap intervals and weighted reductions.

Sentences are drawn, never n-grams: the n-grams of a sentence are not independent. Counts of a unit (a sentence, or an
example's sentences) are a column of a sparse matrix; its product with the weights gives the counts of every sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.plugins.crnrr.counting import Tokens, Vocabulary, changes, pack, sort_order
from harness.plugins.crnrr.ngrams import CrNrr, Sums, from_sums

FIELDS = ("cr", "nrr", "cnd", "nrr_unbiased", "cnd_unbiased", "nrr_cross_sentence")
_BLOCK = 1 << 24


@dataclass(frozen=True, eq=False)
class Grams:
    """The n-gram tokens of one corpus, all arrays (T,)."""

    gram: np.ndarray
    """Ids shared by the corpora of one comparison."""
    sentence: np.ndarray
    unit: np.ndarray
    """What is weighted: the sentence itself, or the example that it belongs to."""


@dataclass(frozen=True, eq=False)
class Words:
    """A corpus as word ids (T,) with ascending sentence ids, and the unit of each sentence (S,)."""

    ids: np.ndarray
    sentence: np.ndarray
    unit: np.ndarray


def words_of(sentences: Sequence[Tokens], vocabulary: Vocabulary) -> Words:
    """Every sentence a unit of its own."""
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
    ids = vocabulary.ids(sentences, int(lengths.sum()))
    return Words(ids, np.repeat(np.arange(len(sentences)), lengths), np.arange(len(sentences)))


def grams_of(sides: Sequence[Words], n: int) -> list[Grams]:
    """n-grams of several corpora over one id space."""
    parts = []
    for side in sides:
        ends = np.searchsorted(side.sentence, side.sentence, side="right")
        starts = np.flatnonzero(ends - np.arange(len(ends)) >= n)
        parts.append(starts)
    columns = [np.concatenate([side.ids[at + k] for side, at in zip(sides, parts)]) for k in range(n)]
    keys = pack(columns, 32)
    order = sort_order(keys)
    gram = np.empty(keys.shape[1], dtype=np.int64)
    gram[order] = np.cumsum(changes(keys[:, order])) - 1
    split = np.split(gram, np.cumsum([len(at) for at in parts])[:-1])
    return [Grams(own, side.sentence[at], side.unit[side.sentence[at]]) for own, side, at in zip(split, sides, parts)]


def weighted(q: Grams, p: Grams, n: int, weights_q: np.ndarray, weights_p: np.ndarray) -> list[CrNrr]:
    """One result per weight vector; ``weights_q`` (W, units of q), ``weights_p`` (W, units of p), integers.

    A unit of weight 2 counts as if it stood in the corpus twice. Raises ValueError for weights that are not whole numbers.
    """
    if any((weights != np.floor(weights)).any() for weights in (weights_q, weights_p)):
        raise ValueError("weights must be whole numbers: how often a unit counts")
    size = 1 + int(max(q.gram.max(initial=-1), p.gram.max(initial=-1)))
    matrices = [_matrix(side, size, weights.shape[1]) for side, weights in ((q, weights_q), (p, weights_p))]
    totals_q, within, squares = per_unit(q, weights_q.shape[1])
    totals_p = np.bincount(p.unit, minlength=weights_p.shape[1])
    out = []
    step = max(1, _BLOCK // max(1, size))
    for start in range(0, len(weights_q), step):
        wq, wp = (w[start : start + step].astype(np.float64) for w in (weights_q, weights_p))
        cq, cp = matrices[0] @ wq.T, matrices[1] @ wp.T  # (grams, W) counts: whole numbers, exact below 2**53
        products = [(a * b).sum(axis=0) for a, b in ((cq, cq), (cp, cp), (cq, cp))]
        rest = [wq @ totals_q, wp @ totals_p, wq @ within, wq @ squares]
        for qq, pp, qp, tq, tp, inside, square in zip(*(v.astype(int).tolist() for v in (*products, *rest))):
            out.append(from_sums(n, Sums(tq, tp, qq, pp, qp, inside, square)))
    return out


def _matrix(side: Grams, size: int, units: int) -> Any:
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(side.gram)), (side.gram, side.unit)), shape=(size, units))


def per_unit(side: Grams, units: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(units,) each: n-gram tokens, sum of squared counts within sentences, sum of squared sentence sizes."""
    order = np.lexsort((side.gram, side.sentence))
    pair = np.stack([side.sentence[order], side.gram[order]])
    starts = np.flatnonzero(changes(pair))
    counts = np.diff(starts, append=len(order))
    within = np.bincount(side.unit[order][starts], counts * counts, units)
    sentences, first, sizes = np.unique(side.sentence, return_index=True, return_counts=True)
    squares = np.bincount(side.unit[first], sizes * sizes, units) if len(sentences) else np.zeros(units)
    return np.bincount(side.unit, minlength=units), within, squares


def intervals(
    candidates: Sequence[Tokens],
    references: Sequence[Tokens],
    n: int,
    *,
    samples: int = 1000,
    level: float = 0.95,
    rng: np.random.Generator,
) -> dict[str, tuple[float, float] | None]:
    """Bootstrap intervals by field of :class:`CrNrr`, both corpora resampled by sentence, None where undefined.

    A resample repeats sentences, so its plug-in NRR and CND are biased once more; quantiles are therefore shifted so that the
    mean of the samples is the value itself: the interval shows the spread of the value for corpora of this size.
    """
    vocabulary = Vocabulary()
    sides = [words_of(candidates, vocabulary), words_of(references, vocabulary)]
    q, p = grams_of(sides, n)
    ones = [np.ones((1, len(side.unit)), dtype=np.int64) for side in sides]
    (value,) = weighted(q, p, n, ones[0], ones[1])
    draws: dict[str, list[float]] = {name: [] for name in FIELDS}
    block = max(1, min(samples, _BLOCK // max(1, *(len(side.unit) for side in sides))))
    for start in range(0, samples, block):
        count = min(block, samples - start)
        weights = [_drawn(len(side.unit), count, rng) for side in sides]
        for made in weighted(q, p, n, weights[0], weights[1]):
            for name in FIELDS:
                drawn = getattr(made, name)
                if drawn is not None:
                    draws[name].append(drawn)
    return {name: _centred(getattr(value, name), draws[name], level) for name in FIELDS}


def _drawn(size: int, samples: int, rng: np.random.Generator) -> np.ndarray:
    """(samples, size) how often each of ``size`` units is drawn in ``size`` draws."""
    out = np.empty((samples, size), dtype=np.int64)
    for row in out:
        row[:] = np.bincount(rng.integers(0, size, size), minlength=size)
    return out


def _centred(value: float | None, draws: list[float], level: float) -> tuple[float, float] | None:
    if value is None or not draws:
        return None
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2]) - np.mean(draws) + value
    return float(low), float(high)
