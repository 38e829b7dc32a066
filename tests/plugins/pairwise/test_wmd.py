"""Word mover's distance: a case by hand, metric properties, the metric and its null."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import harness
from harness.contracts import CaptionSet
from harness.features import Features
from harness.plugins.pairwise.wmd import Wmd, WmdDistance, distance
from harness.stats.permutation import relabelings

pytest.importorskip("ot")
VECTORS = "dog 0 0\npuppy 1 0\ncat 0 3\nruns 4 0\nsleeps 4 4\n"


@pytest.fixture
def vectors(tmp_path):
    (tmp_path / "v.vec").write_text(VECTORS)
    return str(tmp_path / "v.vec")


def test_moving_one_word(vectors):
    features = Features()
    batch = features.batch([CaptionSet("x", ("dog runs",), ("puppy runs", "Runs a dog!"))])
    (matrix,) = WmdDistance(path=vectors).matrices(batch, features)
    assert matrix[0].tolist() == [0.0, 0.5, 0.0]


def test_it_is_symmetric_and_obeys_the_triangle_inequality():
    rng = np.random.default_rng(0)
    clouds = []
    for size in (1, 2, 3, 4):
        weights = rng.random(size)
        clouds.append((rng.normal(size=(size, 3)), weights / weights.sum()))
    for x, y, z in itertools.permutations(clouds, 3):
        assert distance(x, y) == pytest.approx(distance(y, x), abs=1e-9)
        assert distance(x, z) <= distance(x, y) + distance(y, z) + 1e-9
    assert distance(clouds[2], clouds[2]) == 0.0


def test_the_metric_takes_the_nearest_reference(vectors):
    metric = harness.metric("wmd", path=vectors)
    result = metric([["dog runs", "cat"]], [["puppy runs", "dog sleeps"]])
    nearest_of_cat = (3.0 + np.hypot(4, 1)) / 2  # half its weight to each of "dog" and "sleeps"
    assert result.per_example == pytest.approx([(0.5 + nearest_of_cat) / 2])
    assert metric([["zebra"]], [["zebra", "dog"]]).value == 0.0


def test_the_null_equals_the_metric_of_every_relabeling(vectors):
    texts = ["dog runs", "puppy", "cat sleeps", "runs", "zebra"]
    metric = Wmd(path=vectors)
    features = Features()
    batch = features.batch([CaptionSet("x", tuple(texts[:2]), tuple(texts[2:]))])
    labels = relabelings(2, 3)
    null = metric.null(batch, features, None, labels)[0]
    for value, label in zip(null, labels):
        candidates = [t for t, is_candidate in zip(texts, label) if is_candidate]
        references = [t for t, is_candidate in zip(texts, label) if not is_candidate]
        assert value == pytest.approx(harness.metric("wmd", path=vectors)([candidates], [references]).value)
    assert harness.metric("wmd", path=vectors, p_value="exact")([texts[:2]], [texts[2:]]).p_values is not None


def test_trm_over_wmd(vectors):
    assert harness.metric("trm", distance={"wmd": {"path": vectors}})([["dog", "dog"]], [["dog", "dog"]]).value == 0.0
