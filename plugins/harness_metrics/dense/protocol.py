"""Interface of a protocol of the metric ``dense``: numbers of each video that are
summed, and the number of their sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.contracts import Features, merge_states
from harness_metrics.dense.corpus_captions import CorpusCaptions
from harness_metrics.dense.videos import SideRules, Video


class VideoProtocol:
    """Base of protocols whose number is a mean over videos."""

    rules: SideRules
    bounds: tuple[float, float] | None = (0.0, 1.0)
    depends_on: tuple[str, ...] = ()
    """``candidates`` where the number of several sets of a system is no mean of theirs.
    """

    def scores(self, videos: Sequence[Video], features: Features) -> np.ndarray:
        """Return the score of each video, shape (V,), NaN for one that is left out."""
        raise NotImplementedError(f"{type(self).__name__} must define scores")

    def addends(
        self, videos: Sequence[Video], features: Features, state: Any
    ) -> np.ndarray:
        """Return what is summed over videos, shape (V, k), NaN in the first column of a
        video that is left out.
        """
        return addends_of_mean(self.scores(videos, features))

    def of_sums(self, sums: np.ndarray) -> np.ndarray:
        """Return the numbers (...) of sums of addends (..., k)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return sums[..., 0] / sums[..., 1]


class FittedProtocol(VideoProtocol):
    """Base of protocols that score the texts of a corpus by a caption metric."""

    captions: CorpusCaptions

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> Any:
        """Return the corpus state of the text metric, from the sets of events of the
        task.
        """
        raise NotImplementedError(f"{type(self).__name__} must define fit")

    def merge(self, first: Any, second: Any) -> Any:
        """Return the corpus state of two shards together."""
        return merge_states(self.captions.metric, first, second)

    def of_sums(self, sums: np.ndarray) -> np.ndarray:
        """Return the numbers (...) of sums of the text metric (..., k)."""
        return self.captions.metric.of_sums(sums)


def addends_of_mean(scores: np.ndarray) -> np.ndarray:
    """Return scores (V,) and ones, shape (V, 2), whose sums make the mean."""
    return np.stack([scores, np.ones_like(scores)], axis=1)


def f_measures(precision: np.ndarray, recall: np.ndarray) -> np.ndarray:
    """Return the harmonic means of arrays (...), 0 where both are 0, NaN where one is.

    >>> f_measures(np.array([0.5, 0.0]), np.array([1.0, 0.0])).round(3).tolist()
    [0.667, 0.0]
    """
    total = precision + recall
    product = 2 * precision * recall
    return np.divide(product, total, out=np.zeros_like(total), where=total != 0)
