"""Batches of texts for the tests of n-gram metrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from harness.contracts import Batch, CaptionSet
from harness.run.features import FeatureCache

BatchOf = Callable[[Sequence[Sequence[str]], int], tuple[FeatureCache, Batch]]


@pytest.fixture(scope="session")
def batch_of() -> BatchOf:
    """Function from lists of texts, the first ``n`` of each the candidates, to a
    feature cache and a batch.
    """

    def build(items: Sequence[Sequence[str]], n: int) -> tuple[FeatureCache, Batch]:
        sets = [
            CaptionSet(str(i), tuple(item[:n]), tuple(item[n:]))
            for i, item in enumerate(items)
        ]
        features = FeatureCache([item.references for item in sets])
        return features, features.batch(sets)

    return build
