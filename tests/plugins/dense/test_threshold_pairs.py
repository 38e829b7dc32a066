"""Pairs at thresholds against loops over events."""

from __future__ import annotations

import numpy as np
import pytest

from harness_metrics.dense import threshold_pairs as module
from harness_metrics.dense.threshold_pairs import (
    GarbageRule,
    localisation,
    start_closeness,
    threshold_pairs,
    time_closeness,
)
from harness_metrics.dense.videos import Side, Video

TIOUS = (0.3, 0.5)


def side(places):
    count = len(places)
    return Side(
        np.array(places, dtype=float).reshape(-1, 2),
        np.arange(count),
        np.full(count, np.nan),
        ("",) * count,
    )


def random_side(rng, count):
    starts = rng.integers(0, 10, count) * 5.0
    return side(np.stack([starts, starts + rng.integers(0, 5, count) * 5.0], axis=1))


@pytest.mark.parametrize("per_file", [False, True])
@pytest.mark.parametrize("block", [2, 4096])
def test_matches_and_garbage_equal_loops(monkeypatch, per_file, block):
    monkeypatch.setattr(module, "BLOCK", block)
    rng = np.random.default_rng(0)
    for _ in range(10):
        system = random_side(rng, 5)
        video = Video("v", system, (random_side(rng, 3), random_side(rng, 2)))
        rule = GarbageRule("x", per_file)
        pairs = threshold_pairs(video, TIOUS, rule, strict=False)
        for tiou, weights in zip(TIOUS, pairs.weights):
            found = {}
            for k, j, n in zip(pairs.predictions, pairs.references, weights):
                found[k, j] = found.get((k, j), 0) + n
            expected = {}
            for k in range(len(system)):
                garbage, is_matched, offset = 0, False, 0
                for own in video.annotators:
                    closeness = time_closeness(system.places[[k]], own.places)[0]
                    for j, value in enumerate(closeness):
                        if value >= tiou:
                            expected[k, offset + j] = 1
                            is_matched = True
                    garbage += not is_matched
                    offset += len(own)
                if not per_file:
                    garbage = int(not is_matched)
                expected[k, -1] = garbage
            expected = {key: n for key, n in expected.items() if n}
            assert {key: n for key, n in found.items() if n} == expected


def test_localisation_is_the_largest_over_annotators_and_strict():
    video = Video("v", side([(0, 10), (50, 60)]), (side([(0, 10)]), side([(0, 5)])))
    precision, recall = localisation(video, (0.4, 0.6), time_closeness)
    assert precision.tolist() == [0.5, 0.5]
    assert recall.tolist() == [1.0, 1.0]
    half = Video("v", side([(0, 10)]), (side([(0, 5)]),))
    # an overlap of exactly .5 is not above it
    assert localisation(half, (0.5,), time_closeness)[0].tolist() == [0.0]
    nothing = Video("v", side([]), (side([(0, 5)]),))
    assert localisation(nothing, (0.5,), time_closeness)[1].tolist() == [0.0]


def test_starts_are_close_below_so_many_seconds():
    video = Video("v", side([(0, 10), (8, 9)]), (side([(3, 4)]),))
    precision, recall = localisation(video, (-3.0, -5.0, -6.0), start_closeness)
    assert precision.tolist() == [0.0, 0.5, 1.0]
    assert recall.tolist() == [0.0, 1.0, 1.0]
