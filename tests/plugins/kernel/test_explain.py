"""The nearest and the farthest candidate and reference of an example."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import CaptionSet, Explains
from harness.run.features import FeatureCache
from harness_metrics.kernel.metric import Energy, Mmd


class Line:
    """Words ``a`` to ``z`` on a line."""

    name = "line"

    def signature(self) -> str:
        return "line"

    def fit(self, references) -> None:
        """Need no references."""

    def encode(self, texts):
        return np.array(
            [[float(ord(text[0]) - ord("a")), 1.0] for text in texts], dtype=np.float32
        )


@pytest.mark.parametrize("metric", [Mmd, Energy])
def test_pairs_are_those_of_the_embedding(metric):
    sets = [
        CaptionSet("x", ("a", "z", "k"), ("m", "b")),
        CaptionSet("y", ("c", "c", "c"), ("c", "c")),
    ]
    features = FeatureCache([item.references for item in sets])
    instance = metric(embedding=Line())
    assert isinstance(instance, Explains)

    first, second = instance.explain(features.batch(sets), features, None)
    assert first is not None and second is not None
    assert (
        first.title
        == "Nearest candidate and reference (distance 1.000) and farthest (24.000), "
        "in the embedding"
    )
    assert first.texts == (
        (0, "nearest"),
        (4, "nearest"),
        (1, "farthest"),
        (4, "farthest"),
    )
    assert "(distance 0.000) and farthest (0.000)" in second.title
