"""Errors of fluency in the candidates of a batch."""

from __future__ import annotations

import numpy as np

from harness.contracts import Batch, Features
from harness_metrics.composed.fluency import Detector


def caption_errors(
    detector: Detector, threshold: float, batch: Batch, features: Features
) -> np.ndarray:
    """Return True for each candidate whose probability of an error is above a
    threshold, bool, shape (B, n).

    Each distinct text is looked at once in a run.

    Parameters
    ----------
    detector : Detector
        Gives the probabilities.
    threshold : float
        Probability in [0, 1] above which a caption has an error.
    batch : Batch
        B examples of n candidates.
    features : Features
        Features of the texts.
    """
    probability = features.per_text(
        ("fluency", detector.signature()),
        batch.candidate_ids.ravel(),
        lambda texts: detector.probabilities(texts).tolist(),
    )
    of_candidates = np.asarray(probability, dtype=np.float64)
    return of_candidates.reshape(batch.candidate_ids.shape) > threshold
