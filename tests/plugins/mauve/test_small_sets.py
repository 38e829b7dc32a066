"""Many small sets, quantised as one."""

from __future__ import annotations

import numpy as np
import pytest

from harness_metrics.mauve import components, quantise, small_sets


def test_small_sets_are_quantised_as_well_as_by_the_general_code():
    rng = np.random.default_rng(2)
    sets = rng.normal(size=(20, 15, 30))

    def within(points, labels):
        return sum(
            ((points[labels == b] - points[labels == b].mean(axis=0)) ** 2).sum()
            for b in np.unique(labels)
        )

    small = small_sets.many_buckets(sets, 2, redo=20)
    for vectors, labels in zip(sets, small):
        reduced = components.reduce_dimensions(vectors)
        points = reduced.coordinates
        expected = within(points, quantise.clusters(points, 2, redo=20))
        assert within(points, labels[reduced.order]) == pytest.approx(
            expected, rel=0.05
        )
