"""ROUGE-L with the COCO caption toolkit's choices,
and scores by the best reference: the readable version.

Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries", section 3.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from caption_kernels_reference.text_index import TextIndex

BETA = 1.2
"""Weight of recall: beta squared times that of precision."""
Words = Sequence[str]


def lcs(a: Words, b: Words) -> int:
    """Return the length of the longest common subsequence of two word lists.

    >>> lcs("a dog runs fast".split(), "the dog is fast".split())
    2
    """
    # row[j]: length for the words of `a` so far and the first j words of `b`
    row = [0] * (len(b) + 1)
    for x in a:
        new = [0]
        for j, y in enumerate(b):
            new.append(row[j] + 1 if x == y else max(row[j + 1], new[j]))
        row = new
    return row[-1]


def score(hyp: Words, refs: Sequence[Words], beta: float = BETA) -> float:
    """Return ROUGE-L of a hypothesis against its references, in [0, 1].

    Precision and recall are maxima over references, possibly of different ones.

    >>> round(
    ...     score("a dog runs".split(), ["a dog".split(), "the dog runs fast".split()]),
    ...     6,
    ... )
    0.829932
    """
    lengths = [lcs(hyp, ref) for ref in refs]
    precision = max(length / len(hyp) for length in lengths)
    recall = max(length / len(ref) for length, ref in zip(lengths, refs))
    return f_measure(precision, recall, beta)


def f_measure(precision: float, recall: float, beta: float = BETA) -> float:
    """Return (1 + b^2) P R / (R + b^2 P), in [0, 1], and 0 where P or R is 0.

    >>> round(f_measure(1.0, 0.5), 4)
    0.6289
    """
    if precision == 0 or recall == 0:
        return 0.0
    weight = beta * beta
    return (1 + weight) * precision * recall / (recall + weight * precision)


def lcs_pairs(index: TextIndex, hyp: np.ndarray, ref: np.ndarray) -> np.ndarray:
    """Return the lengths (B, n, m) of the longest common subsequences of rows ``hyp``
    (B, n) and ``ref`` (B, m), int64.
    """
    out = np.zeros((*hyp.shape, ref.shape[1]), dtype=np.int64)
    for b, i, j in np.ndindex(*out.shape):
        out[b, i, j] = lcs(index.words(int(hyp[b, i])), index.words(int(ref[b, j])))
    return out


def rouge_relabel(
    lcs: np.ndarray, lengths: np.ndarray, labels: np.ndarray, beta: float
) -> np.ndarray:
    """Return mean ROUGE-L (B, P) under relabelings (P, N), from ``lcs`` (B, N, N) and
    ``lengths`` (B, N).
    """
    _check_labels(labels, "ROUGE-L")
    out = np.zeros((len(lcs), len(labels)))
    for b, p in np.ndindex(*out.shape):
        candidates = np.flatnonzero(labels[p])
        references = np.flatnonzero(labels[p] == 0)
        total = 0.0
        for i in candidates.tolist():
            common = lcs[b, i, references]
            precision = float((common / lengths[b, i]).max())
            recall = float((common / lengths[b, references]).max())
            total += f_measure(precision, recall, beta)
        out[b, p] = total / len(candidates)
    return out


def best_relabel(pairs: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the mean over candidates (B, P) of the best score over references, from
    pair scores (B, N, N), rows the hypothesis.

    Values are added in increasing order, so that relabelings with equal values have
    exactly equal means.
    """
    _check_labels(labels, "scores by the best reference")
    out = np.zeros((len(pairs), len(labels)))
    for b, p in np.ndindex(*out.shape):
        best = np.sort(pairs[b][labels[p] != 0][:, labels[p] == 0].max(axis=1))
        total = 0.0
        for value in best.tolist():
            total += value
        out[b, p] = total / len(best)
    return out


def _check_labels(labels: np.ndarray, name: str) -> None:
    """Raise ValueError unless each relabeling (P,
    N) has a candidate and a reference.
    """
    candidates = (labels != 0).sum(axis=1)
    if ((candidates == 0) | (candidates == labels.shape[1])).any():
        raise ValueError(f"{name}: an argument is out of its range")
