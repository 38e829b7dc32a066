"""BLEU, ROUGE-L and CIDEr of the rows of a :class:`~caption_kernels.TextIndex`,
over all cores.

In all functions an example has n hypotheses and m references: ``hyp`` is (B, n) and
``ref`` (B, m). BLEU and CIDEr take gram rows (:meth:`TextIndex.gram_rows`), ROUGE-L
rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from caption_kernels import (
    TextIndex,
    best_relabel,
    bleu_relabel,
    bleu_scores,
    cider_idf,
    cider_pairs,
    clip_all,
    clip_pairs,
    exp,
    lcs_pairs,
    power,
    rouge_relabel,
)
from caption_kernels import cider_repetition as repetition_penalties
from caption_kernels.batches.threads import run_slices

ORDERS = 4
"""Highest n-gram order."""
BETA = 1.2
"""Weight of recall in ROUGE-L: beta squared times that of precision."""
SIGMA = 6.0
"""Width of the length penalty of CIDEr-D, in bigrams."""
SCALE = 10.0
"""Largest CIDEr."""
REPETITION = 0.8
RELATIVE_LENGTH = 0.2
"""Exponents of the two penalties of CIDEr-R."""


def fill_slices(
    out: np.ndarray, work: Callable[[slice], np.ndarray], *, pairs: int
) -> np.ndarray:
    """Return ``out`` (B, ...) filled by ``work``, called on slices of the examples in
    threads; ``pairs`` is the cost of an example.
    """

    def fill(start: int, stop: int) -> None:
        out[start:stop] = work(slice(start, stop))

    run_slices(fill, len(out), pairs=pairs)
    return out


def rows_in_order(rows: np.ndarray) -> np.ndarray:
    """Return rows (B, k) as a C-contiguous int64 array."""
    return np.ascontiguousarray(rows, dtype=np.int64)


def _of_rows(
    kernel: Callable[[np.ndarray, np.ndarray], np.ndarray],
    hyp: np.ndarray,
    ref: np.ndarray,
    out: np.ndarray,
) -> np.ndarray:
    """Fill ``out`` (B, ...) with the results of a kernel for rows ``hyp`` (B, n) and
    ``ref`` (B, m), and return it.
    """
    hyp = rows_in_order(hyp)
    ref = rows_in_order(ref)
    return fill_slices(
        out,
        lambda chunk: kernel(hyp[chunk], ref[chunk]),
        pairs=hyp.shape[1] * ref.shape[1],
    )


def row_lengths(index: TextIndex, rows: np.ndarray) -> np.ndarray:
    """Return the number of words of rows, int64, shape of ``rows``."""
    return index.lengths(np.ascontiguousarray(rows, dtype=np.int64).ravel()).reshape(
        rows.shape
    )


def count_guesses(lengths: np.ndarray) -> np.ndarray:
    """Return the number of n-grams of each order, shape (..., 4),
    in texts of ``lengths`` (...) words.
    """
    return np.maximum(lengths[..., None] - np.arange(ORDERS), 0)


def closest_lengths(lengths: np.ndarray, reference_lengths: np.ndarray) -> np.ndarray:
    """Return, for lengths (B, n), the closest of the reference lengths (B, m), the
    shorter on ties; shape (B, n).
    """
    gaps = np.abs(reference_lengths[:, None, :] - lengths[:, :, None])
    closest = reference_lengths[:, 0, None] + np.zeros_like(lengths)
    smallest = gaps[:, :, 0]
    for j in range(1, reference_lengths.shape[1]):
        candidate = reference_lengths[:, j, None]
        gap = gaps[:, :, j]
        closer = (gap < smallest) | ((gap == smallest) & (candidate < closest))
        closest = np.where(closer, candidate, closest)
        smallest = np.where(closer, gap, smallest)
    return closest


def clip_at_all(index: TextIndex, hyp: np.ndarray, ref: np.ndarray) -> np.ndarray:
    """Return the matches (B, n, 4) of each order,
    clipped at the largest count in any reference, int64.
    """
    return _of_rows(
        partial(clip_all, index),
        hyp,
        ref,
        np.empty((*hyp.shape, ORDERS), dtype=np.int64),
    )


def clip_at_each(index: TextIndex, hyp: np.ndarray, ref: np.ndarray) -> np.ndarray:
    """Return the matches (B, n, m, 4) of each order,
    clipped at each single reference, int64.
    """
    return _of_rows(
        partial(clip_pairs, index),
        hyp,
        ref,
        np.empty((*hyp.shape, ref.shape[1], ORDERS), dtype=np.int64),
    )


def bleu(
    matches: np.ndarray,
    guesses: np.ndarray,
    lengths: np.ndarray,
    reference_lengths: np.ndarray,
    order: int,
) -> np.ndarray:
    """Return BLEU as the COCO toolkit computes it,
    of single sentences or of summed counts.

    Parameters
    ----------
    matches, guesses : ndarray
        Matches and numbers of n-grams, shape (..., 4).
    lengths, reference_lengths : ndarray
        Words of the hypothesis and of the closest reference, shape (...).
    order : int
        Highest order, 1 to 4.

    Returns
    -------
    ndarray
        Shape (...), in [0, 1].
    """
    counts = [
        np.ascontiguousarray(values, dtype=np.float64) for values in (matches, guesses)
    ]
    shape = counts[0].shape[:-1]
    words = [
        np.ascontiguousarray(np.broadcast_to(values, shape), dtype=np.float64).ravel()
        for values in (lengths, reference_lengths)
    ]
    flat = [values.reshape(-1, ORDERS) for values in counts]
    return bleu_scores(flat[0], flat[1], words[0], words[1], order).reshape(shape)


def add_one_bleu(
    matches: np.ndarray, lengths: np.ndarray, reference_lengths: np.ndarray, order: int
) -> np.ndarray:
    """Return BLEU with one added to matches and guesses above order 1 (Lin & Och 2004,
    BLEU+1), exactly 1 for equal texts.

    Parameters
    ----------
    matches : ndarray
        Matches with one reference, shape (..., 4).
    lengths, reference_lengths : ndarray
        Words of both texts, shape (...).
    order : int
        Highest order, 1 to 4.
    """
    guesses = count_guesses(lengths)
    product = matches[..., 0] / np.maximum(guesses[..., 0], 1)
    for k in range(1, order):
        product = product * ((matches[..., k] + 1) / (guesses[..., k] + 1))
    brevity = exp(np.minimum(0.0, 1 - reference_lengths / np.maximum(lengths, 1)))
    return np.where(
        lengths == 0, reference_lengths == 0, power(product, 1 / order) * brevity
    )


def relabel_bleu(
    index: TextIndex, rows: np.ndarray, labels: np.ndarray, order: int
) -> np.ndarray:
    """Return mean sentence BLEU (B, P) of gram rows (B, N) under the relabelings
    ``labels`` (P, N), True = candidate.
    """
    rows = rows_in_order(rows)
    bits = label_bits(labels)
    out = np.empty((len(rows), len(bits)))
    return fill_slices(
        out,
        lambda chunk: bleu_relabel(index, rows[chunk], bits, order),
        pairs=len(bits),
    )


def label_bits(labels: np.ndarray) -> np.ndarray:
    """Return relabelings (P, N) as uint8, 1 = candidate."""
    return np.ascontiguousarray(labels, dtype=bool).view(np.uint8)


def common_lengths(index: TextIndex, hyp: np.ndarray, ref: np.ndarray) -> np.ndarray:
    """Return the lengths (B, n, m) of the longest common subsequences of rows ``hyp``
    (B, n) and ``ref`` (B, m), int64.
    """
    return _of_rows(
        partial(lcs_pairs, index),
        hyp,
        ref,
        np.empty((*hyp.shape, ref.shape[1]), dtype=np.int64),
    )


def f_measure(precision: np.ndarray, recall: np.ndarray) -> np.ndarray:
    """Return elementwise (1 + b^2) P R / (R + b^2 P) of arrays (...) in [0, 1],
    and 0 where P or R is 0.

    >>> f_measure(np.array([1.0, 0.0]), np.array([0.5, 1.0])).round(4).tolist()
    [0.6289, 0.0]
    """
    weight = BETA**2
    nonzero = (precision != 0) & (recall != 0)
    below = np.where(nonzero, recall + weight * precision, 1.0)
    return np.where(nonzero, (1 + weight) * precision * recall / below, 0.0)


def rouge_l(index: TextIndex, hyp: np.ndarray, ref: np.ndarray) -> np.ndarray:
    """Return ROUGE-L (B, n) of rows against all references: precision and recall are
    each the largest over references.
    """
    common = common_lengths(index, hyp, ref)
    precision = (common / row_lengths(index, hyp)[:, :, None]).max(axis=2)
    recall = (common / row_lengths(index, ref)[:, None, :]).max(axis=2)
    return f_measure(precision, recall)


def rouge_l_pairs(index: TextIndex, hyp: np.ndarray, ref: np.ndarray) -> np.ndarray:
    """Return ROUGE-L (B, n, m) of rows against single references."""
    common = common_lengths(index, hyp, ref)
    return f_measure(
        common / row_lengths(index, hyp)[:, :, None],
        common / row_lengths(index, ref)[:, None, :],
    )


def relabel_rouge(index: TextIndex, rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return mean ROUGE-L (B, P) of rows (B, N) under the relabelings ``labels`` (P,
    N), True = candidate.
    """
    common = common_lengths(index, rows, rows)
    lengths = row_lengths(index, rows)
    bits = label_bits(labels)
    out = np.empty((len(rows), len(bits)))
    return fill_slices(
        out,
        lambda chunk: rouge_relabel(common[chunk], lengths[chunk], bits, BETA),
        pairs=len(bits),
    )


def relabel_best(pairs: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the mean over candidates (B, P) of the best pair score over references,
    from scores (B, N, N), higher is better.
    """
    pairs = np.ascontiguousarray(pairs, dtype=np.float64)
    bits = label_bits(labels)
    out = np.empty((len(pairs), len(bits)))
    return fill_slices(
        out, lambda chunk: best_relabel(pairs[chunk], bits), pairs=len(bits)
    )


def unseen_idf(documents: float) -> float:
    """Return the idf of an n-gram that occurs in no document:
    the logarithm of the number of documents.
    """
    return float(cider_idf(np.zeros(1, dtype=np.int64), float(documents))[0])


def cider(
    index: TextIndex,
    idf: np.ndarray,
    unseen: float,
    hyp: np.ndarray,
    ref: np.ndarray,
    *,
    clip: bool = True,
    sigma: float = SIGMA,
) -> np.ndarray:
    """Return CIDEr-D (``clip``) or the original CIDEr of all pairs, shape (B, n, m),
    in [0, 10].

    Parameters
    ----------
    index : TextIndex
        Holds the n-grams of the texts.
    idf : ndarray
        Weights of the first n-grams of the index, shape (G,):
        :func:`~caption_kernels.cider_idf` of document frequencies.
    unseen : float
        Weight of all other n-grams (:func:`unseen_idf`).
    hyp, ref : ndarray
        Gram rows, shapes (B, n) and (B, m).
    clip : bool
        True for CIDEr-D: counts clipped at the reference's, and a length penalty.
    sigma : float
        Width of the length penalty of CIDEr-D in bigrams; infinite for none.
    """
    score = partial(cider_pairs, index, idf, unseen, clip=clip, sigma=sigma)
    return _of_rows(score, hyp, ref, np.empty((*hyp.shape, ref.shape[1])))


def cider_r(
    index: TextIndex, idf: np.ndarray, unseen: float, hyp: np.ndarray, ref: np.ndarray
) -> np.ndarray:
    """Return CIDEr-R of all pairs, shape (B, n, m), in [0, 10] (Oliveira dos Santos et
    al. 2021, section 4); arguments as :func:`cider`.

    The clipped cosines of CIDEr-D times two penalties: for repetition, and for the
    difference in length relative to the reference.
    """
    hyp = rows_in_order(hyp)
    ref = rows_in_order(ref)
    lengths = [np.maximum(row_lengths(index, rows), 1.0) for rows in (hyp, ref)]
    gap = (lengths[0][:, :, None] - lengths[1][:, None, :]) / lengths[1][:, None, :]
    length_penalty = power(exp(-(gap**2)), RELATIVE_LENGTH)
    repetition_penalty = power(repetition_penalties(index, hyp, ref), REPETITION)
    return (
        cider(index, idf, unseen, hyp, ref, sigma=math.inf)
        * length_penalty
        * repetition_penalty
    )
