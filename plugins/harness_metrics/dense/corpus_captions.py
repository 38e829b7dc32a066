"""A caption metric over texts that a protocol makes of events, summed over a corpus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from harness.contracts import CaptionSet, Features, MeanMetric, Metric, Values
from harness.errors import HarnessError
from harness_metrics.meteor.metric import Meteor
from harness_metrics.ngram.bleu import Bleu
from harness_metrics.ngram.cider import Cider
from harness_metrics.ngram.rouge import Rouge

_WITH_TOKENIZER = (Bleu, Cider, Meteor, Rouge)


class CorpusCaptions:
    """A caption metric whose number is a function of sums, over texts that are
    tokenised already.

    Parameters
    ----------
    metric : Metric
        The metric; those of the field take the words by their blanks.
    protocol : str
        Name of the protocol, for messages.

    Raises
    ------
    HarnessError
        For a metric whose number is no function of sums.
    """

    def __init__(self, metric: Metric, protocol: str) -> None:
        if isinstance(metric, _WITH_TOKENIZER):
            parameters: Values = {**metric.constructor_parameters, "tokenizer": "none"}
            create: Callable[..., Metric] = type(metric)
            metric = create(**parameters)
        if not isinstance(metric, MeanMetric):
            raise HarnessError(
                f"dense: the protocol {protocol} sums scores over a corpus, and "
                f"'{metric.spec.name}' has no sums; expected text: meteor, cider, "
                "bleu4 or rouge"
            )
        self.metric = metric

    def sums(
        self,
        candidates: Sequence[str],
        references: Sequence[Sequence[str]],
        features: Features,
        state: Any,
    ) -> np.ndarray:
        """Return the summands of each candidate with its references, shape (K, k)."""
        return self._over_batches(
            candidates, references, features, state, self.metric.summands
        )

    def scores(
        self,
        candidates: Sequence[str],
        references: Sequence[Sequence[str]],
        features: Features,
        state: Any,
    ) -> np.ndarray:
        """Return the score of each candidate with its references, shape (K,)."""
        columns = self._over_batches(
            candidates,
            references,
            features,
            state,
            lambda stats: self.metric.per_example(stats)[:, None],
        )
        return columns[:, 0]

    def _over_batches(
        self,
        candidates: Sequence[str],
        references: Sequence[Sequence[str]],
        features: Features,
        state: Any,
        rows_of: Callable[[np.ndarray], np.ndarray],
    ) -> np.ndarray:
        """Return what a function gives of the statistics of all texts, shape (K, k);
        texts with as many references are scored at once.
        """
        by_count: dict[int, list[int]] = {}
        for row, texts in enumerate(references):
            by_count.setdefault(len(texts), []).append(row)

        out: np.ndarray | None = None
        for rows in by_count.values():
            sets = [
                CaptionSet(str(row), (candidates[row],), tuple(references[row]))
                for row in rows
            ]
            batch = features.batch(sets)
            values = rows_of(self.metric.stats(batch, features, state))
            features.forget(batch)
            if out is None:
                out = np.zeros((len(candidates), values.shape[1]))
            out[rows] = values
        return np.zeros((0, 1)) if out is None else out
