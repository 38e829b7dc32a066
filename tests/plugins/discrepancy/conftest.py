"""A task of sixty random sentences, each with one reference."""

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.run.features import FeatureCache


def corpus(rng, count, words=12):
    return [
        " ".join(f"w{int(x)}" for x in rng.zipf(1.7, rng.integers(3, 9)) % words)
        for _ in range(count)
    ]


@pytest.fixture
def scene():
    """Candidates, references, features and the batch of the task."""
    rng = np.random.default_rng(5)
    candidates = corpus(rng, 60)
    references = corpus(rng, 60)
    features = FeatureCache([(text,) for text in references])
    batch = features.batch(
        [
            CaptionSet(str(i), (c,), (r,))
            for i, (c, r) in enumerate(zip(candidates, references))
        ]
    )
    return candidates, references, features, batch
