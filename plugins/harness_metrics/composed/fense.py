"""Metric ``fense``: similarity of sentence vectors with a penalty for captions that are
not fluent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import registry
from harness.contracts import (
    Batch,
    Embedding,
    Features,
    MeanMetric,
    MetricSpec,
    PathParam,
    fitted_fields,
)
from harness.contracts.parameters import Share, check_arguments
from harness_metrics.bases.embedding_metric import EmbeddingSpec
from harness_metrics.composed.caption_errors import caption_errors
from harness_metrics.composed.fluency import Detector, resolve_detector
from harness_metrics.kernel.geometry import cosines


class Fense(MeanMetric):
    """Mean cosine with the references, times (1 - penalty) for a caption with an error
    of fluency, in [-1, 1]; higher is better.

    The score of an example is the mean over its candidates. ``details`` adds the mean
    similarity without penalty and the share of captions with an error.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.
    detector : str or Detector
        ``rules``, the folder of a local text classifier, or an object with
        ``signature()`` and ``probabilities(texts)``.
    label : str
        Class of errors of a classifier.
    threshold : float, default 0.9
        Probability above which a caption has an error.
    penalty : float, default 0.9
        Share of the similarity that an error costs.
    device : str, default "auto"
        Device of a classifier: ``auto`` is the first accelerator, else the CPU.

    Raises
    ------
    HarnessError
        For a parameter out of range, or another kind of detector.

    References
    ----------
    Zhou et al. 2022, *Can Audio Captions Be Evaluated with Image Caption Metrics?*,
    section 3.
    """

    @check_arguments
    def __init__(
        self,
        *,
        embedding: EmbeddingSpec = "minilm",
        detector: PathParam | Detector = "rules",
        label: str = "error",
        threshold: Share = 0.9,
        penalty: Share = 0.9,
        device: str = "auto",
    ) -> None:
        self.embedding: Embedding = registry.resolve("embeddings", embedding)
        self.detector = resolve_detector(detector, label, device)
        self.threshold = float(threshold)
        self.penalty = float(penalty)

        needs = frozenset({"references", "embeddings"}) | frozenset(
            getattr(self.embedding, "needs", ())
        )
        name = "fense"
        if self.embedding.name != "minilm":
            name = f"fense({self.embedding.name})"
        self.spec = MetricSpec(
            name, True, needs=needs, bounds=(-1.0, 1.0), **fitted_fields(self.embedding)
        )

    def signature(self) -> str:
        """Return a text such as ``fense|rules|threshold:0.9|penalty:0.9|minilm``."""
        settings = f"threshold:{self.threshold:g}|penalty:{self.penalty:g}"
        return (
            f"fense|{self.detector.signature()}|{settings}|{self.embedding.signature()}"
        )

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the score, the similarity and the share of captions with an error of
        each example, shape (B, 3).
        """
        similarities = cosines(features.set_vectors(self.embedding, batch.text_ids))
        similarity = similarities[:, : batch.n, batch.n :].mean(axis=2)

        errors = caption_errors(self.detector, self.threshold, batch, features)
        scores = (similarity * (1.0 - self.penalty * errors)).mean(axis=1)
        return np.stack([scores, similarity.mean(axis=1), errors.mean(axis=1)], axis=1)

    def details(self, stats: np.ndarray) -> dict[str, object]:
        """Return the mean similarity without penalty and the share of captions with an
        error, from statistics (B, 3).
        """
        if not len(stats):
            return {}
        return dict(zip(("similarity", "errors"), stats[:, 1:].mean(axis=0).tolist()))
