"""Gram matrices, distances and pair statistics against direct formulas."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from harness_metrics.kernel import geometry


def counts(*shape, seed=0, mean=0.4):
    return np.random.default_rng(seed).poisson(mean, shape).astype(np.float32)


def test_gram_matrices_are_inner_products_about_the_mean(monkeypatch):
    vectors = np.random.default_rng(0).normal(size=(5, 4, 3)).astype(np.float32)
    monkeypatch.setattr(geometry, "CACHE_BYTES", 1)
    centred = vectors.astype(np.float64) - vectors.astype(np.float64).mean(
        axis=1, keepdims=True
    )
    assert geometry.gram(vectors) == pytest.approx(
        np.einsum("bid,bjd->bij", centred, centred)
    )
    # float32 input
    assert geometry.gram(vectors + 100) == pytest.approx(
        geometry.gram(vectors), abs=1e-3
    )


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
    counted = (
        np.ones((7, 7), dtype=bool) if estimator == "biased" else ~np.eye(7, dtype=bool)
    )
    expected = [
        one[:4, :4][counted[:4, :4]].mean()
        + one[4:, 4:][counted[4:, 4:]].mean()
        - 2 * one[:4, 4:].mean()
        for one in kernel
    ]
    assert geometry.two_sample(kernel, 4, estimator) == pytest.approx(expected)
    form = geometry.two_sample_form(kernel, 4, estimator)
    assert form[:, :4, 4:].sum(axis=(1, 2)) == pytest.approx(expected)


def test_the_unbiased_statistic_of_one_vector_is_undefined():
    assert np.isnan(geometry.two_sample(np.ones((2, 4, 4)), 1, "unbiased")).all()
    assert np.isnan(geometry.two_sample_form(np.ones((2, 4, 4)), 3, "unbiased")).all()


@pytest.mark.equal_bits
def test_products_of_whole_numbers_are_exact():
    vectors = counts(4, 5, 300)
    vectors[1, 0, 0] = 0.5
    vectors[2, 3, 7] = 2.0**14
    products, exact = geometry.whole_products(vectors)
    # a half, and a number whose square is too large
    assert exact.tolist() == [True, False, False, True]
    for example in (0, 3):
        whole = vectors[example].astype(int).tolist()
        assert products[example].tolist() == [
            [sum(a * b for a, b in zip(x, y)) for y in whole] for x in whole
        ]


def test_examples_have_their_own_gram_matrices(monkeypatch):
    vectors = counts(5, 4, 30)
    vectors[[1, 2]] += 0.25
    whole = geometry.gram(vectors)
    monkeypatch.setattr(geometry, "CACHE_BYTES", 1)
    assert np.array_equal(geometry.gram(vectors), whole)
    assert np.array_equal(
        np.concatenate([geometry.gram(vectors[k : k + 1]) for k in range(5)]), whole
    )
    assert geometry.gram(vectors[:0]).shape == (0, 4, 4)


def test_gram_matrices_about_the_mean():
    vectors = counts(3, 6, 20)
    centred = vectors.astype(np.float64) - vectors.mean(axis=1, keepdims=True)
    assert geometry.centre(geometry.gram(vectors)) == pytest.approx(
        centred @ centred.transpose(0, 2, 1), abs=1e-5
    )


@pytest.mark.equal_bits
@pytest.mark.parametrize("copies", [1, 3])
def test_equal_cosines_of_whole_numbers_have_equal_bits(copies):
    """As fractions of whole numbers, squares of cosines are compared without
    rounding.
    """
    vectors = np.tile(counts(1, 40, 6, mean=1.0), (1, 1, copies))
    vectors[0, ::7] *= 3
    found = geometry.cosines(vectors)[0]

    whole = vectors[0].astype(int).tolist()
    by_square: dict[Fraction, set[float]] = {}
    for x, row in zip(whole, found.tolist()):
        for y, cosine in zip(whole, row):
            inner, scale = (
                sum(a * b for a, b in zip(u, v)) for u, v in ((x, y), (x, x))
            )
            scale *= sum(b * b for b in y)
            by_square.setdefault(
                Fraction(inner * inner, scale) if scale else Fraction(0), set()
            ).add(cosine)

    assert len(by_square) > 40
    assert all(len(bits) == 1 for bits in by_square.values())
    assert [max(bits) for bits in by_square.values()] == pytest.approx(
        [float(square) ** 0.5 for square in by_square], rel=1e-15
    )


def test_cosines_of_other_vectors_and_of_opposite_ones():
    vectors = np.random.default_rng(0).normal(size=(2, 5, 7)).astype(np.float32)
    vectors[1] = np.rint(vectors[1])
    vectors[1, 4] = -vectors[1, 3]
    unit = geometry.unit_vectors(vectors)
    assert geometry.cosines(vectors) == pytest.approx(
        unit @ unit.transpose(0, 2, 1), abs=1e-14
    )
    assert geometry.cosines(vectors)[1, 3, 4] == -1.0


def test_projections_of_whole_numbers():
    vectors = counts(6, 50)
    axes = np.random.default_rng(1).normal(size=(50, 3))
    vectors[2] = 0.0
    assert geometry.project_whole(vectors, axes) == pytest.approx(vectors @ axes)
    assert geometry.project_whole(vectors, axes)[2].tolist() == [0.0, 0.0, 0.0]


def test_close_distances_take_the_value_of_the_first_of_them():
    distances = np.array(
        [[[0.0, 2.0], [2.0 + 1e-6, 2.0 - 1e-6]], [[1.0, 1.0 + 1e-4], [np.inf, np.nan]]]
    )
    merged = geometry.merge_close(distances)
    assert merged[0].tolist() == [[0.0, 2.0 - 1e-6], [2.0 - 1e-6] * 2]
    np.testing.assert_array_equal(merged[1], distances[1])
    assert geometry.merge_close(distances, 1e-9)[0].tolist() == distances[0].tolist()
