"""MAUVE by local densities against a plain program of the formulas."""

import numpy as np
import pytest

from harness.stats import permutation
from harness_metrics.mauve import densities, frontier


def by_definition(weights, label, scaling):
    own = np.flatnonzero(label)
    other = np.flatnonzero(~label)

    def divergence(sample, rest, w):
        terms = []
        for i in sample:
            p = weights[i, sample].mean()
            q = weights[i, rest].mean()
            terms.append(np.log(p / (w * p + (1 - w) * q)))
        return max(np.mean(terms), 0.0)

    grid = np.linspace(1e-6, 1 - 1e-6, 25)
    x = [1.0, *(np.exp(-scaling * divergence(other, own, 1 - w)) for w in grid), 0.0]
    y = [0.0, *(np.exp(-scaling * divergence(own, other, w)) for w in grid), 1.0]
    return np.trapezoid(y[::-1], x[::-1])


def test_every_relabeling_by_the_definition():
    rng = np.random.default_rng(0)
    points = rng.standard_normal((2, 6, 3))
    squared = ((points[:, :, None] - points[:, None]) ** 2).sum(axis=-1)
    labels = permutation.relabelings(2, 4)
    for weights in (densities.neighbour_weights(squared, 2), np.exp(-squared)):
        values = densities.area(weights, labels, 3.0)
        expected = [
            [by_definition(matrix, label, 3.0) for label in labels]
            for matrix in weights
        ]
        np.testing.assert_allclose(values, expected, atol=1e-12)


def test_neighbours_include_the_text_itself_and_all_ties():
    squared = np.array([[[0.0, 1, 1, 4], [1, 0, 2, 3], [1, 2, 0, 0], [4, 3, 0, 0]]])
    weights = densities.neighbour_weights(squared, 1)
    assert weights[0].tolist() == [
        [1, 1, 1, 0],
        [1, 1, 0, 0],
        [0, 0, 1, 1],
        [0, 0, 1, 1],
    ]
    assert densities.neighbour_weights(squared, 9).all()


def test_rounding_errors_change_no_neighbour():
    points = np.random.default_rng(1).integers(0, 3, (4, 12, 3)).astype(float)
    squared = ((points[:, :, None] - points[:, None]) ** 2).sum(axis=-1)
    noisy = squared * (1 + 1e-9 * np.random.default_rng(2).normal(size=squared.shape))
    for k in (1, 4, 7):
        assert np.array_equal(
            densities.neighbour_weights(noisy, k),
            densities.neighbour_weights(squared, k),
        )


def test_many_texts_have_finite_divergences():
    """Products of densities are formed of a few texts at a time."""
    weights = np.full((1, 400, 400), 1e-6)
    weights[0, :200, :200] = 1.0
    weights[0, np.arange(400), np.arange(400)] = 1.0
    value = densities.area(weights, (np.arange(400) < 200)[None])[0, 0]
    assert value == pytest.approx(
        by_definition_area(weights[0], np.arange(400) < 200), rel=1e-9
    )


def by_definition_area(weights, label):
    """Return the area of :func:`by_definition` with densities as matrix products."""
    own = np.where(
        label, weights @ label / label.sum(), weights @ ~label / (~label).sum()
    )
    other = np.where(
        label, weights @ ~label / (~label).sum(), weights @ label / label.sum()
    )

    def divergence(sample, w):
        return max(
            np.log(own[sample] / (w * own[sample] + (1 - w) * other[sample])).mean(),
            0.0,
        )

    grid = np.linspace(1e-6, 1 - 1e-6, 25)
    x = [1.0, *(np.exp(-5 * divergence(~label, 1 - w)) for w in grid), 0.0]
    y = [0.0, *(np.exp(-5 * divergence(label, w)) for w in grid), 1.0]
    return np.trapezoid(y[::-1], x[::-1])


def test_the_curve_is_that_of_histograms():
    p = np.array([[0.7, 0.3]])
    q = np.array([[0.2, 0.8]])
    weights = frontier.mixtures()[:, None]
    mixture = weights * p + (1 - weights) * q
    x, y = (
        np.exp(-5 * (one * np.log(one / mixture)).sum(axis=1))[None] for one in (q, p)
    )
    assert frontier.area_of_curve(x, y) == pytest.approx(frontier.area(p, q))
