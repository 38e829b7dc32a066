"""The heaviest triangle, against a loop over all triangles."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts import CaptionSet, TextDistance
from harness.run.features import FeatureCache
from harness_metrics.trm.heaviest_triangle import heaviest_triangle
from harness_metrics.trm.metric import Trm


def texts(count, rng):
    return tuple("x" * int(number) for number in rng.integers(0, 60, count))


def loop(d: np.ndarray, n: int) -> tuple[int, float]:
    """Most frequent rank and the largest margin within it."""
    counts = [0, 0, 0]
    margins = [-np.inf] * 3
    for a, b, x in permutations(range(len(d)), 3):
        if (a < n) != (b < n) or (x < n) == (a < n):
            continue
        low, high = sorted((d[x, a], d[x, b]))
        kinds = (d[a, b] <= low, low <= d[a, b] <= high, d[a, b] >= high)
        values = (low - d[a, b], min(d[a, b] - low, high - d[a, b]), d[a, b] - high)
        for rank in range(3):
            counts[rank] += kinds[rank]
            if kinds[rank]:
                margins[rank] = max(margins[rank], values[rank])
    rank = int(np.argmax(counts))
    return rank, margins[rank]


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 10_000))
def test_rank_and_margin_are_those_of_a_loop(n, m, seed):
    d = np.random.default_rng(seed).integers(0, 5, (n + m, n + m)).astype(float)
    best = heaviest_triangle(d, n)
    if n + m < 3:
        assert best is None
        return
    assert best is not None
    rank, margin = loop(d, n)
    low, high = sorted((best.to_a, best.to_b))
    assert best.rank == rank
    assert margin == pytest.approx(
        (low - best.inner, min(best.inner - low, high - best.inner), best.inner - high)[
            rank
        ]
    )
    assert (best.inner, best.to_a, best.to_b) == (
        d[best.a, best.b],
        d[best.x, best.a],
        d[best.x, best.b],
    )


def test_the_metric_says_it_in_words():
    sets = [
        CaptionSet("x", ("a", "a b"), ("a b c d e", "a b c d e f")),
        CaptionSet("y", ("a",), ("b",)),
    ]
    features = FeatureCache([item.references for item in sets])
    metric = Trm(distance=Words())
    (explanation,) = metric.explain(features.batch(sets[:1]), features, None)
    assert explanation is not None
    assert explanation.title == (
        "Heaviest triangle: two candidates are closer to each other (1.000) "
        "than to the reference (5.000 and 4.000); 100 % of the "
        "triangles are of this kind, 33 % by chance"
    )
    assert explanation.texts == (
        (0, "one of the pair"),
        (1, "one of the pair"),
        (3, "opposite"),
    )
    assert metric.explain(features.batch(sets[1:]), features, None) == [None]


class Words(TextDistance):
    """Difference of the numbers of words."""

    name = "words"

    def pairwise(self, texts):
        counts = np.array([len(text.split()) for text in texts], dtype=float)
        return np.abs(counts[:, None] - counts)
