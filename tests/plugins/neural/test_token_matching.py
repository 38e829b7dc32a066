"""Greedy matching of token vectors: all pairs against the formula, and on a device."""

from __future__ import annotations

import numpy as np
import pytest

from harness_metrics.neural.token_matching import (
    Tokens,
    batch_precisions,
    precisions,
)


def by_pairs(candidate, reference):
    """Precision of one pair (Zhang et al. 2020, section 3):
    special tokens are matched but not counted.
    """
    if not candidate.counted.any() or not reference.counted.any():
        return 0.0
    return (
        (candidate.vectors @ reference.vectors.T)
        .max(axis=1)[candidate.counted]
        .mean(dtype=np.float64)
    )


@pytest.mark.parametrize("share", [1.0, 0.6, 0.0])
def test_all_pairs_equal_the_formula_pair_by_pair(share):
    rng = np.random.default_rng(0)
    tokens = []
    for length in (1, 4, 0, 9, 2, 3):
        vectors = rng.normal(size=(length, 5)).astype(np.float32)
        tokens.append(
            Tokens(
                vectors / np.linalg.norm(vectors, axis=1, keepdims=True),
                rng.random(length) < share,
            )
        )
    expected = [[by_pairs(a, b) for b in tokens] for a in tokens]
    assert precisions(tokens) == pytest.approx(np.array(expected), abs=1e-6)


@pytest.mark.parametrize("idf", [False, True])
def test_matching_on_a_device_equals_matching_of_arrays(idf):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(1)
    tokens = []
    for length in (1, 4, 2, 9, 2, 3, 5, 1):
        vectors = rng.normal(size=(length, 5)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        counted = rng.random(length) if idf else rng.random(length) < 0.6
        tokens.append(Tokens(vectors, counted))
    on_device = [
        text._replace(vectors=torch.from_numpy(text.vectors)) for text in tokens
    ]
    expected = pytest.approx(batch_precisions(tokens, 4), abs=1e-6)
    assert batch_precisions(on_device, 4, "cpu:0") == expected
    # wherever vectors are kept
    assert batch_precisions(tokens, 4, "cpu:0") == expected
    assert batch_precisions(on_device, 4) == expected
