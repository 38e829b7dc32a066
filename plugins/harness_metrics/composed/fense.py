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
    MetricSpec,
    PathParam,
    fitted_fields,
)
from harness.contracts.parameters import Share, check_arguments
from harness_metrics.bases.embedding_metric import EmbeddingSpec
from harness_metrics.composed.fluency import Detector, resolve_detector
from harness_metrics.composed.penalised import PenalisedMetric
from harness_metrics.kernel.geometry import cosines


class Fense(PenalisedMetric):
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

    unpenalised = "similarity"

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
        return f"fense|{self.penalty_signature()}|{self.embedding.signature()}"

    def caption_scores(
        self, batch: Batch, features: Features, state: Any
    ) -> np.ndarray:
        """Return the mean cosine of each candidate with the references, shape
        (B, n).
        """
        similarities = cosines(features.set_vectors(self.embedding, batch.text_ids))
        return similarities[:, : batch.n, batch.n :].mean(axis=2)
