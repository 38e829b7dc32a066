"""Metric ``dense``: captions of events by the protocols of the field."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from harness.contracts import Batch, Features, Metric, MetricSpec, State, SumMetric
from harness.contracts.parameters import Count, Share, check_arguments
from harness.errors import UnknownName
from harness_metrics.dense.activitynet import RULES, ActivityNetProtocol
from harness_metrics.dense.objects import ObjectBenchmarkProtocol, ObjectProtocol
from harness_metrics.dense.options import Annotators, Measure, Options
from harness_metrics.dense.pair_scores import caption_metric, pair_scorer
from harness_metrics.dense.paragraph import ParagraphProtocol
from harness_metrics.dense.protocol import FittedProtocol, VideoProtocol
from harness_metrics.dense.soda import SodaProtocol
from harness_metrics.dense.videos import read_videos

PROTOCOLS: Mapping[str, Callable[[Options], VideoProtocol]] = {
    **dict.fromkeys(RULES, ActivityNetProtocol),
    **{f"soda-{variant}": SodaProtocol for variant in "abcd"},
    "paragraph": ParagraphProtocol,
    "vote2cap": ObjectProtocol,
    "scan2cap": ObjectProtocol,
    "scan2cap-benchmark": ObjectBenchmarkProtocol,
}
"""Protocols by name."""


class Dense(SumMetric):
    """Captions of events, each with its time or box, by a protocol; higher is better.
    """

    @check_arguments
    def __init__(
        self,
        *,
        protocol: str = "activitynet-2018",
        text: str | Mapping[str, Any] | Metric = "meteor",
        measure: Measure = "score",
        tious: Sequence[Share] | None = None,
        seconds: Sequence[float] | None = None,
        max_proposals: Count | None = None,
        annotators: Annotators | None = None,
    ) -> None:
        if protocol not in PROTOCOLS:
            raise UnknownName.of_name(
                "dense: unknown protocol", protocol, list(PROTOCOLS), "expected",
                parameter="protocol",
            )
        inner = caption_metric(text)
        options = Options(
            protocol,
            inner,
            pair_scorer(inner),
            measure,
            tuple(tious) if tious else None,
            tuple(seconds) if seconds else None,
            max_proposals,
            annotators,
        )
        self.protocol = PROTOCOLS[protocol](options)
        self.options = options
        what = inner.spec.name if measure == "score" else measure
        self.spec = MetricSpec(
            f"dense({protocol},{what})",
            higher_is_better=True,
            needs=frozenset({"references", "events"}),
            bounds=self.protocol.bounds,
        )

    def signature(self) -> str:
        """Return the protocol, the text metric and the parameters that were given."""
        options = self.options
        parts = ["dense", options.protocol, options.text.signature]
        for name in ("tious", "seconds", "max_proposals", "annotators", "measure"):
            parts.append(f"{name}:{getattr(options, name)}")
        return "|".join(parts)

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> State:
        """Return the corpus state of the protocol, None without one."""
        if isinstance(self.protocol, FittedProtocol):
            return self.protocol.fit(references, features)
        return None

    def merge(self, first: State, second: State) -> State:
        """Return the corpus state of two shards together."""
        if isinstance(self.protocol, FittedProtocol):
            return self.protocol.merge(first, second)
        return None

    def addends(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return what the protocol sums over videos, shape (B, k)."""
        rows = [
            self.protocol.addends(videos, features, state)
            for videos in read_videos(batch, features, self.protocol.rules)
        ]
        return np.mean(rows, axis=0)

    def of_sums(self, sums: np.ndarray) -> np.ndarray:
        """Return the numbers (...) of sums (..., k)."""
        return self.protocol.of_sums(sums)
