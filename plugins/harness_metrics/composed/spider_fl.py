"""Metric ``spider-fl``: SPIDEr with FENSE's penalty for errors of fluency."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from harness.contracts import Batch, Features, MeanMetric, PathParam
from harness.contracts.parameters import Share, check_arguments
from harness_metrics.bases.inner_metric import FitsInner, untestable_by
from harness_metrics.bases.single_candidates import candidate_scores
from harness_metrics.composed.caption_errors import caption_errors
from harness_metrics.composed.fluency import Detector, resolve_detector
from harness_metrics.composed.spider import MetricParam, Spider


class SpiderFl(FitsInner, MeanMetric):
    """SPIDEr of each candidate, times (1 - penalty) for a caption with an error of
    fluency, mean over candidates, in [0, 5.5]; higher is better.

    An example is undefined where the SPIDEr of a candidate is. ``details`` adds the
    mean SPIDEr without penalty and the share of captions with an error.

    Parameters
    ----------
    cider, spice : str, mapping or Metric
        Both metrics of SPIDEr, with their parameters.
    detector : str or Detector
        ``rules``, the folder of a local text classifier, or an object with
        ``signature()`` and ``probabilities(texts)``.
    label : str
        Class of errors of a classifier.
    threshold : float, default 0.9
        Probability above which a caption has an error.
    penalty : float, default 0.9
        Share of SPIDEr that an error costs.
    device : str, default "auto"
        Device of a classifier: ``auto`` is the first accelerator, else the CPU.

    Raises
    ------
    HarnessError
        For a parameter out of range, another kind of detector, or a metric that is no
        score of captions.
    MissingExtra
        Without the parts that SPICE needs.

    References
    ----------
    DCASE 2023 challenge, task 6a (automated audio captioning), which ranks by it. Its
    parts: Liu et al. 2017, equation 1 (SPIDEr); Zhou et al. 2022, section 3 (penalty).
    """

    @check_arguments
    def __init__(
        self,
        *,
        cider: MetricParam = "ciderd",
        spice: MetricParam = "spice",
        detector: PathParam | Detector = "rules",
        label: str = "error",
        threshold: Share = 0.9,
        penalty: Share = 0.9,
        device: str = "auto",
    ) -> None:
        self.inner = Spider(cider=cider, spice=spice)
        self.detector = resolve_detector(detector, label, device, "spider-fl")
        self.threshold = float(threshold)
        self.penalty = float(penalty)

        bounds = self.inner.spec.bounds
        if bounds is not None:
            # a penalty moves a score towards 0
            bounds = min(bounds[0], 0.0), max(bounds[1], 0.0)
        self.spec = replace(
            self.inner.spec,
            name="spider-fl",
            bounds=bounds,
            untestable=untestable_by(self.inner),
        )

    def signature(self) -> str:
        """Return ``spider-fl|``, the detector and its settings, and the signatures of
        both metrics.
        """
        settings = f"threshold:{self.threshold:g}|penalty:{self.penalty:g}"
        return (
            f"spider-fl|{self.detector.signature()}|{settings}|{self.inner.signature()}"
        )

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the score, SPIDEr and the share of captions with an error of each
        example, shape (B, 3).
        """
        spider = candidate_scores(self.inner, batch, features, state).T  # [B, n]
        errors = caption_errors(self.detector, self.threshold, batch, features)
        scores = (spider * (1.0 - self.penalty * errors)).mean(axis=1)
        return np.stack([scores, spider.mean(axis=1), errors.mean(axis=1)], axis=1)

    def details(self, stats: np.ndarray) -> dict[str, object]:
        """Return the mean SPIDEr without penalty and the share of captions with an
        error, from statistics (B, 3).
        """
        if not len(stats):
            return {}
        return dict(zip(("spider", "errors"), stats[:, 1:].mean(axis=0).tolist()))
