"""CIDEr and CIDEr-D as the formulas read: the readable version.

Vedantam, Zitnick & Parikh (2015), "CIDEr: Consensus-based Image Description
Evaluation", sections 4.1 and 4.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any

import numpy as np

from caption_kernels_reference import math
from caption_kernels_reference.text_index import ORDERS, TextIndex

SIGMA = 6.0
"""Width of the length penalty of CIDEr-D, in bigrams."""
SCALE = 10.0
"""Largest score."""


def cider_idf(frequencies: np.ndarray, documents: float) -> np.ndarray:
    """Return log(documents) - log(max(1, df)) of document frequencies (G,), float64."""
    if frequencies.size and frequencies.min() < 0:
        raise IndexError("CIDEr: a row or id lies outside its table")
    return float(math.log(documents)) - math.log(
        np.maximum(frequencies, 1).astype(np.float64)
    )


def vectors(
    index: TextIndex, row: int, idf: np.ndarray, unseen: float
) -> list[dict[int, float]]:
    """Return the tf-idf weights of a gram row, one mapping per order from the id of an
    n-gram to its count times its idf.
    """
    out = []
    for counts in index.counts(row):
        ids = [index.gram_id(gram) for gram in counts]
        weights = (float(idf[gram]) if gram < len(idf) else unseen for gram in ids)
        out.append(
            {
                gram: count * weight
                for gram, count, weight in zip(ids, counts.values(), weights)
            }
        )
    return out


def pair_score(
    hyp: list[dict[int, float]], ref: list[dict[int, float]], penalty: float, clip: bool
) -> float:
    """Return the score of one hypothesis against one reference, in [0, 10].

    CIDEr-D is ten times the mean over orders of sum min(h, r) r / (|h| |r|), times the
    length penalty, with h and r the :func:`vectors` of the texts. The original CIDEr is
    ten times the mean over orders of cos(h, r). Sums run over the n-grams of the
    hypothesis by first occurrence.
    """
    total = 0.0
    for h, r in zip(hyp, ref):
        product = 0.0
        for gram, weight in h.items():
            ref_weight = r.get(gram, 0.0)
            product += (min(weight, ref_weight) if clip else weight) * ref_weight
        scale = norm(h) * norm(r)
        if scale != 0.0:
            product /= scale
        total += product * penalty
    return total / ORDERS * SCALE


def norm(weights: dict[int, float]) -> float:
    """Return the Euclidean norm of the weights, summed in their order."""
    total = 0.0
    for weight in weights.values():
        total += weight * weight
    return sqrt(total)


def length_penalty(difference: int, sigma: float) -> float:
    """Return exp(-d^2 / (2 sigma^2)) of a difference d in bigrams."""
    return float(math.power(np.e, -(float(difference) ** 2) / (2 * (sigma * sigma))))


def cider_pairs(
    index: TextIndex,
    idf: np.ndarray,
    unseen: float,
    hyp: np.ndarray,
    ref: np.ndarray,
    clip: bool = True,
    sigma: float = SIGMA,
) -> np.ndarray:
    """Return the scores (B, n, m), in [0, 10], of gram rows ``hyp`` (B, n) against
    single references ``ref`` (B, m).

    Parameters
    ----------
    index : TextIndex
        Holds the n-grams of the texts.
    idf : ndarray
        Weights of the first G n-grams of the index, shape (G,), float64
        (:func:`cider_idf`).
    unseen : float
        Weight of all other n-grams: the logarithm of the number of documents.
    hyp, ref : ndarray
        Gram rows, shapes (B, n) and (B, m), int64.
    clip : bool
        True for CIDEr-D, False for the original CIDEr.
    sigma : float
        Width of the length penalty of CIDEr-D; infinite for none.
    """
    out = np.zeros((*hyp.shape, ref.shape[1]))
    for b, i, j in np.ndindex(*out.shape):
        h = int(hyp[b, i])
        r = int(ref[b, j])
        difference = abs(
            max(0, len(index.words(h)) - 1) - max(0, len(index.words(r)) - 1)
        )
        penalty = length_penalty(difference, sigma) if clip else 1.0
        out[b, i, j] = pair_score(
            vectors(index, h, idf, unseen),
            vectors(index, r, idf, unseen),
            penalty,
            clip,
        )
    return out


def cider_repetition(index: TextIndex, hyp: np.ndarray, ref: np.ndarray) -> np.ndarray:
    """Return the penalties for repetition (B, n, m) of CIDEr-R (Oliveira dos Santos et
    al. 2021, section 4), in (0, 1].
    """
    out = np.zeros((*hyp.shape, ref.shape[1]))
    for b, i, j in np.ndindex(*out.shape):
        out[b, i, j] = repetition_penalty(
            index.counts(int(hyp[b, i]))[0], index.counts(int(ref[b, j]))[0]
        )
    return out


def repetition_penalty(hyp: Mapping[Any, int], ref: Mapping[Any, int]) -> float:
    """Return the geometric mean over the words of a text of 1 / (1 + x), in (0, 1]; 1
    for a text without words.

    x is the difference of the counts in both texts, for a word that the reference lacks
    the count minus 1.

    >>> round(
    ...     repetition_penalty({"a": 1, "b": 3}, {"a": 1, "b": 1}), 4
    ... )  # sqrt(1 * 1/3)
    0.5774
    """
    if not hyp:
        return 1.0
    total = 0.0
    for word, count in hyp.items():
        excess = abs(count - ref[word]) if word in ref else count - 1
        total += float(math.log(1.0 + excess))
    return float(math.exp(-total / len(hyp)))
