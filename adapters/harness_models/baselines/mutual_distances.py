"""Distances among the captions of a set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from harness.contracts import CaptionSet, Distance
from harness.run.features import FeatureCache

BATCH = 512
"""Sets per batch of distances."""


def sum_distances(
    sets: Sequence[Sequence[str]], distance: Distance, features: FeatureCache
) -> list[np.ndarray]:
    """Return for each set of captions the sum (P,) of the distances of each caption to
    the others.

    Parameters
    ----------
    sets
        Sets of P captions; P may differ from set to set.
    distance
        Distance whose matrices (B, P, P) are used: rows are hypotheses, columns
        references.
    features
        Cache with the references for the corpus statistics of the distance.
    """
    sums: list[np.ndarray] = [np.zeros(1)] * len(sets)
    by_count: dict[int, list[int]] = defaultdict(list)
    for index, texts in enumerate(sets):
        if len(texts) > 1:  # a single caption has no others
            by_count[len(texts)].append(index)

    # Sets of one size are one array.
    for group in by_count.values():
        for start in range(0, len(group), BATCH):
            rows = group[start : start + BATCH]
            # The split into candidates and references has no effect on the P x P
            # matrix.
            items = [
                CaptionSet(str(i), tuple(sets[i][:1]), tuple(sets[i][1:])) for i in rows
            ]
            batch = features.batch(items)
            # Sums of equal distances in another order may differ in the last digit;
            # rounding keeps them equal.
            totals = features.distances(distance, batch).sum(axis=2).round(12)
            for i, row in zip(rows, totals):
                sums[i] = row
            features.forget(batch)
    return sums
