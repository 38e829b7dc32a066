"""Metrics with a permutation null as kernels of ``harness same``:
``METRIC:PARAMETER=VALUE``, over any registered distance or embedding.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.contracts import CaptionSet, Metric
from harness.decisions.same.answer_kernels import KERNELS
from harness.errors import HarnessError
from harness.registry import current, split_spec
from harness.registry.permissions import typed_by_user
from harness.run.features import FeatureCache
from harness.run.score import can_score, fit_once
from harness.spec.metric_text import parse_metric
from harness.stats.significance import extremeness, untestable_reason
from harness.stats.stratified_test import Stratum


def metric_kernel(text: str) -> Metric:
    """Return the metric of a kernel's name.

    Raises :class:`HarnessError` for an unknown metric, and for one whose statistic
    labels of answers alone do not determine.
    """
    name, parameters = split_spec(parse_metric(text), "metric")
    if not current().match_entries("metrics", name):
        raise HarnessError.of_name(
            "same: no kernel", name, [*KERNELS, "METRIC:PARAMETER=VALUE"], "kernels are"
        )
    with typed_by_user():
        metric: Metric = current().create("metrics", name, parameters)
    if reason := untestable_reason(metric):
        raise HarnessError(f"same: the kernel {text} {reason}", value=text)
    return metric


class MetricKernels:
    """Statistics of metrics under relabelings of the answers to each prompt.

    Corpus state, such as document frequencies or a vocabulary, is that of the answers
    of both sources together: no relabeling changes it.

    Parameters
    ----------
    names : sequence of str
        Metrics, ``METRIC`` or ``METRIC:PARAMETER=VALUE,...``.
    prompts : sequence of sequences of str
        Answers to each prompt, those of source A first.
    """

    def __init__(self, names: Sequence[str], prompts: Sequence[Sequence[str]]) -> None:
        self._prompts = prompts
        self._features = FeatureCache(prompts)
        self._metrics = [
            (metric, fit_once(metric, self._features))
            for metric in (metric_kernel(name) for name in names)
        ]

    def scores(self, block: Stratum, labels: np.ndarray) -> np.ndarray:
        """Return the statistics of some prompts under labels (b, P, N), shape (b, P,
        S); NaN for a metric that cannot score the sizes.
        """
        out = np.full((*labels.shape[:2], len(self._metrics)), np.nan)
        positions: list[int] = block.prompts.tolist()
        for values, position, prompt_labels in zip(out, positions, labels.astype(bool)):
            answers = tuple(self._prompts[position])
            batch = self._features.batch(
                [CaptionSet(str(position), answers[: block.n], answers[block.n :])]
            )

            for column, (metric, state) in enumerate(self._metrics):
                if can_score(metric, batch):
                    values[:, column] = extremeness(
                        metric, batch, self._features, state, prompt_labels
                    )[0]
            self._features.forget(batch)
        return out
