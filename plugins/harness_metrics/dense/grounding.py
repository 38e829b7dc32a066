"""Protocol ``grounding``: times of given sentences, as Charades-STA has them.

The k-th prediction answers the k-th reference: the sentence is given. The score is the
mean tIoU, recall the share of the sentences whose first prediction reaches a threshold
(R@1, IoU = t), the mean over ``tious``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.contracts import Features
from harness.errors import InputError
from harness_metrics.dense.options import Options
from harness_metrics.dense.overlaps import time_overlaps
from harness_metrics.dense.protocol import VideoProtocol
from harness_metrics.dense.videos import SideRules, Video

TIOUS = (0.3, 0.5, 0.7)
"""Thresholds of tables on Charades-STA."""


class GroundingProtocol(VideoProtocol):
    """Mean tIoU or recall over sentences; a video without predictions counts 0."""

    def __init__(self, options: Options) -> None:
        options.refuse("seconds", "max_proposals", "annotators")
        options.refuse_measures("precision", "f1")
        self.tious = options.tious or TIOUS
        self.measure = options.measure
        self.rules = SideRules(options.protocol, swaps=True)

    def addends(
        self, videos: Sequence[Video], features: Features, state: Any
    ) -> np.ndarray:
        """Return the sum over sentences and their number, shape (V, 2)."""
        out = np.full((len(videos), 2), np.nan)
        for number, video in enumerate(videos):
            if not video.annotators:
                continue
            references = video.merged
            out[number] = 0.0, len(references)
            if not len(video.system):
                continue
            if len(video.system) != len(references):
                raise InputError(
                    f"{len(video.system)} times for {len(references)} sentences; "
                    "expected one for each, in their order",
                    f"candidates: '{video.id}'",
                )
            pairs = time_overlaps(video.system.places, references.places)
            overlaps = np.diagonal(pairs)
            if self.measure == "recall":
                hits = overlaps[:, None] >= np.array(self.tious)
                out[number, 0] = hits.mean(axis=1).sum()
            else:
                out[number, 0] = overlaps.sum()
        return out
