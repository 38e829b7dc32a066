"""Metric ``spider-fl``: SPIDEr with FENSE's penalty for errors of fluency."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from harness.contracts import Batch, Features, PathParam
from harness.contracts.parameters import Share, check_arguments
from harness_metrics.bases.inner_metric import FitsInner, untestable_by
from harness_metrics.bases.single_candidates import candidate_scores
from harness_metrics.composed.fluency import Detector, resolve_detector
from harness_metrics.composed.penalised import PenalisedMetric
from harness_metrics.composed.spider import MetricParam, Spider


class SpiderFl(FitsInner, PenalisedMetric):
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

    unpenalised = "spider"

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
        return f"spider-fl|{self.penalty_signature()}|{self.inner.signature()}"

    def caption_scores(
        self, batch: Batch, features: Features, state: Any
    ) -> np.ndarray:
        """Return the SPIDEr of each candidate, shape (B, n)."""
        return candidate_scores(self.inner, batch, features, state).T
