"""The paper's pragmatic scores as arithmetic on counts (Tsvilodub & Franke 2023, section 4).

For a caption of a target beside one or several distractors: ``c`` contrastive features mentioned (true of the target and false of
some distractor), ``k`` features mentioned (true of the target), ``z`` features in which target and some distractor differ.
All functions take and give arrays of shape (N,); NaN stands for undefined.
"""

from __future__ import annotations

from functools import cache

import numpy as np


def discriminativity(c: np.ndarray) -> np.ndarray:
    """1 where a contrastive feature is mentioned, else 0; with several distractors give 1 and 0 for "all are ruled out"."""
    return (np.asarray(c) > 0).astype(np.float64)


def contrastive_efficiency(c: np.ndarray, k: np.ndarray, needed: np.ndarray | int = 1) -> np.ndarray:
    """1 - (c - 1) / (k - 1), and 1 where k = c = 1; undefined where nothing contrastive is mentioned (c = 0).

    ``needed``: the least number of features that rules out all distractors, in place of 1 (one distractor never takes more); give
    c = 0 where a distractor is left.
    """
    c, k, needed = (np.asarray(value, dtype=np.float64) for value in (c, k, needed))
    c, k, needed = np.broadcast_arrays(c, k, needed)
    spare = np.where(k > needed, k - needed, 1.0)
    score = np.where((k == needed) & (c == needed), 1.0, 1.0 - (c - needed) / spare)
    return np.where(c > 0, score, np.nan)


def relevance(c: np.ndarray | int, k: np.ndarray, z: np.ndarray) -> np.ndarray:
    """1 - (k - c) / (6 - z): how few shared features are mentioned; undefined where no feature is shared (z = 6)."""
    c, k, z = (np.asarray(value, dtype=np.float64) for value in (c, k, z))
    shared = np.where(z < 6, 6.0 - z, 1.0)
    return np.where(z < 6, 1.0 - (k - c) / shared, np.nan)


def optimal_discriminativity(c: np.ndarray, needed: np.ndarray | int = 1) -> np.ndarray:
    """1 where exactly as many contrastive features are mentioned as it takes, else 0."""
    c, needed = np.broadcast_arrays(np.asarray(c), np.asarray(needed))
    return ((c == needed) & (needed > 0)).astype(np.float64)


@cache
def _subsets() -> np.ndarray:
    """(64, 6) bool, smallest subsets first."""
    every = (np.arange(64)[:, None] >> np.arange(6) & 1).astype(bool)
    return every[np.argsort(every.sum(1), kind="stable")]


def features_needed(differs: np.ndarray) -> np.ndarray:
    """(N,) size of the smallest set of features that tells the target from every distractor; 0 where no set does.

    ``differs`` (N, D, 6): in which features distractor d differs from the target. One distractor with any difference: 1.
    """
    if differs.shape[1] == 1:
        return (differs.sum(axis=(1, 2)) > 0).astype(np.int64)
    ruled_out: np.ndarray = np.all(np.any(differs[:, :, None, :] & _subsets(), axis=-1), axis=1)  # (N, 64)
    return np.where(np.any(ruled_out, axis=1), _subsets().sum(1)[ruled_out.argmax(1)], 0)
