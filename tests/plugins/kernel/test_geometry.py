"""Gram matrices, distances and pair statistics against direct formulas."""

from __future__ import annotations

import numpy as np
import pytest

from harness_metrics.kernel import geometry


def test_gram_matrices_are_inner_products_about_the_mean(monkeypatch):
    vectors = np.random.default_rng(0).normal(size=(5, 4, 3)).astype(np.float32)
    monkeypatch.setattr(geometry, "CACHE_BYTES", 1)
    centred = vectors.astype(np.float64) - vectors.astype(np.float64).mean(axis=1, keepdims=True)
    assert geometry.gram(vectors) == pytest.approx(np.einsum("bid,bjd->bij", centred, centred))
    assert geometry.gram(vectors + 100) == pytest.approx(geometry.gram(vectors), abs=1e-3)  # float32 input


def test_squared_distances():
    points = np.random.default_rng(0).normal(size=(1, 6, 3))
    direct = ((points[0, :, None] - points[0]) ** 2).sum(axis=2)
    squared = geometry.squared_distances(geometry.gram(points))
    assert squared[0] == pytest.approx(direct)
    assert geometry.upper(squared)[0] == pytest.approx(direct[np.triu_indices(6, 1)])


def test_duplicates_are_at_distance_zero_exactly():
    rng = np.random.default_rng(0)
    one = rng.normal(size=(3, 384)).astype(np.float32)
    vectors = one[[0, 1, 2, 0, 1, 0]][None] * 1e3 + 1e3
    squared = geometry.squared_distances(geometry.gram(vectors))[0]
    equal = np.array([0, 1, 2, 0, 1, 0])[:, None] == np.array([0, 1, 2, 0, 1, 0])
    assert (squared[equal] == 0).all()
    assert (squared[~equal] > 0).all()


@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
def test_the_two_sample_statistic_is_its_means(estimator):
    rng = np.random.default_rng(0)
    kernel = rng.normal(size=(2, 7, 7))
    kernel += kernel.transpose(0, 2, 1)
    counted = np.ones((7, 7), dtype=bool) if estimator == "biased" else ~np.eye(7, dtype=bool)
    expected = [one[:4, :4][counted[:4, :4]].mean() + one[4:, 4:][counted[4:, 4:]].mean() - 2 * one[:4, 4:].mean() for one in kernel]
    assert geometry.two_sample(kernel, 4, estimator) == pytest.approx(expected)
    form = geometry.two_sample_form(kernel, 4, estimator)
    assert form[:, :4, 4:].sum(axis=(1, 2)) == pytest.approx(expected)


def test_the_unbiased_statistic_of_one_vector_is_undefined():
    assert np.isnan(geometry.two_sample(np.ones((2, 4, 4)), 1, "unbiased")).all()
    assert np.isnan(geometry.two_sample_form(np.ones((2, 4, 4)), 3, "unbiased")).all()
