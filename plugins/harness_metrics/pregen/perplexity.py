"""The metric ``perplexity``, of level ``model``: perplexity of the references, per
caption and per token.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.contracts import Interval, MetricSpec, TokenScores
from harness_metrics.pregen.metric import Pregen
from harness_metrics.pregen.tokens import FlatTokens, from_token_scores

CAPTIONS = "geomean_join_pplx_none"
"""Perplexity as Tanti et al. 2018 compute it:
the geometric mean over captions of the perplexity of a caption.
"""
NO_INTERVAL = "the perplexity per token has no bootstrap; that per caption has"
"""Reason why the column ``tokens`` has no interval."""


class Perplexity:
    """Perplexity of the references under the model, END counted; at least 1,
    lower is better.

    Two columns: ``captions`` (each caption counts alike; ``geomean_join_pplx_none`` of
    :class:`~harness_metrics.pregen.metric.Pregen`) and ``tokens`` (each token counts
    alike: exp of the mean negative log-probability). A token of probability 0 makes
    both infinite.

    References
    ----------
    Tanti, Gatt & Muscat (2018), section 3; Chan et al. (2022), section 5, which
    recommends to report it.
    """

    def __init__(self) -> None:
        self._captions = Pregen(name=CAPTIONS)
        needs = frozenset({"references", "logprobs"})
        self.spec = MetricSpec(
            "perplexity", False, level="model", needs=needs, bounds=(1.0, float("inf"))
        )

    def signature(self) -> str:
        """Return the name of the metric."""
        return "perplexity"

    def evaluate_scores(
        self, scores: Sequence[Sequence[TokenScores]]
    ) -> dict[str, float]:
        """Return the perplexity per caption and per token."""
        flat = from_token_scores(scores)
        return {
            "captions": self._captions.evaluate_scores(flat)[CAPTIONS],
            "tokens": float(np.exp2(-flat.log2.mean())),
        }

    def per_example(
        self, scores: Sequence[Sequence[TokenScores]]
    ) -> dict[str, np.ndarray]:
        """Return the perplexity per token of the references of each example,
        shape (I,).
        """
        flat = from_token_scores(scores)
        starts = flat.captions[flat.images[:-1]]
        counts = np.diff(flat.captions[flat.images])
        return {"tokens": np.exp2(-np.add.reduceat(flat.log2, starts) / counts)}

    def intervals(
        self, scores: Sequence[Sequence[TokenScores]], samples: int, seed: int
    ) -> dict[str, Interval]:
        """Return the interval of a bootstrap over images for ``captions``, and the
        reason for none for ``tokens``.
        """
        flat: FlatTokens = from_token_scores(scores)
        return {
            "captions": self._captions.intervals(flat, samples, seed)[CAPTIONS],
            "tokens": Interval(None, NO_INTERVAL),
        }
