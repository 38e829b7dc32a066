"""Scores of each candidate alone, by a metric of sets of candidates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from harness.contracts import Batch, Features, Metric, example_scores


def candidate_scores(
    metric: Metric, batch: Batch, features: Features, state: Any
) -> np.ndarray:
    """Return the score of each candidate as a set of one with all references, shape
    (n, B); NaN where undefined.

    Parameters
    ----------
    metric : Metric
        A metric of level ``item``.
    batch : Batch
        B examples of n candidates.
    features : Features
        Features of the texts.
    state : Any
        Corpus state of the metric.
    """
    rows = [_scores_of(metric, k, batch, features, state) for k in range(batch.n)]
    return np.stack(rows)


def _scores_of(
    metric: Metric, k: int, batch: Batch, features: Features, state: Any
) -> np.ndarray:
    """Return the score of candidate k of each example, shape (B,)."""
    columns = np.concatenate([[k], batch.n + np.arange(batch.m)])
    sets = tuple(
        replace(item, candidates=item.candidates[k : k + 1]) for item in batch.sets
    )
    alone = Batch(sets, batch.text_ids[:, columns], 1, batch.m, batch, columns)
    return example_scores(metric, metric.stats(alone, features, state))
