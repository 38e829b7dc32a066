"""Metrics of captions that cost a penalty for an error of fluency, as FENSE's (Zhou et
al. 2022, *Can Audio Captions Be Evaluated with Image Caption Metrics?*, section 3).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from harness.contracts import Batch, Features, MeanMetric
from harness_metrics.composed.caption_errors import caption_errors
from harness_metrics.composed.fluency import Detector


class PenalisedMetric(MeanMetric):
    """Base of a mean over candidates of scores times (1 - penalty) for a caption with
    an error.
    """

    unpenalised: ClassVar[str]
    """Name of the score without penalty in the details."""
    detector: Detector
    threshold: float
    """Probability above which a caption has an error."""
    penalty: float
    """Share of the score that an error costs."""

    def caption_scores(
        self, batch: Batch, features: Features, state: Any
    ) -> np.ndarray:
        """Return the score of each candidate without penalty, shape (B, n)."""
        raise NotImplementedError(f"{type(self).__name__} must define caption_scores")

    def penalty_signature(self) -> str:
        """Return the detector and its settings as text."""
        settings = f"threshold:{self.threshold:g}|penalty:{self.penalty:g}"
        return f"{self.detector.signature()}|{settings}"

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the score with and without penalty and the share of captions with an
        error of each example, shape (B, 3).
        """
        scores = self.caption_scores(batch, features, state)
        errors = caption_errors(self.detector, self.threshold, batch, features)
        penalised = scores * (1.0 - self.penalty * errors)
        columns = [penalised, scores, errors]
        return np.stack([column.mean(axis=1) for column in columns], axis=1)

    def details(self, stats: np.ndarray) -> dict[str, object]:
        """Return the mean score without penalty and the share of captions with an
        error, from statistics (B, 3).
        """
        if not len(stats):
            return {}
        names = (self.unpenalised, "errors")
        return dict(zip(names, stats[:, 1:].mean(axis=0).tolist()))
