"""Frechet distance against the d x d formula."""

from __future__ import annotations

import numpy as np
import pytest

from harness_metrics.kernel import frechet as frechet_module
from harness_metrics.kernel import geometry
from harness_metrics.kernel.frechet import helmert
from tests.support.kernel_values import frechet

SHAPES = [(10, 5), (5, 5), (3, 7), (1, 4), (4, 1), (2, 2)]


def samples(n, m, d=12, batch=(), seed=0, shift=0.4):
    rng = np.random.default_rng([seed, n, m])
    return rng.normal(size=(*batch, n, d)), rng.normal(size=(*batch, m, d)) + shift


def plain_frechet(x, y):
    """Evaluate the d x d formula with Tr (S^1/2 T S^1/2)^1/2 by symmetric
    eigendecompositions.
    """
    d = x.shape[1]
    s, t = (np.cov(z.T, ddof=1) if len(z) > 1 else np.zeros((d, d)) for z in (x, y))
    values, vectors = np.linalg.eigh(s)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    cross = np.sqrt(np.maximum(np.linalg.eigvalsh(root @ t @ root), 0)).sum()
    return np.sum((x.mean(0) - y.mean(0)) ** 2) + np.trace(s) + np.trace(t) - 2 * cross


@pytest.mark.parametrize("d", [3, 12, 60])
@pytest.mark.parametrize("n,m", [*SHAPES, (30, 80), (80, 30)])
def test_frechet_equals_the_d_by_d_formula(n, m, d):
    x, y = samples(n, m, d)
    # the reference itself loses half its digits where the covariances are rank
    # deficient
    assert frechet(x, y) == pytest.approx(plain_frechet(x, y), rel=1e-6)


def test_frechet_of_two_gaussians():
    x, y = samples(4000, 3000, 3, shift=0.0)
    x = x * [1, 2, 3] + [1, 0, 0]
    y = y * [1, 1, 1]
    # |mu|^2 = 1 and sum (s - t)^2 = 0 + 1 + 4
    assert frechet(x, y) == pytest.approx(6, rel=0.05)


@pytest.mark.parametrize("size", [2, 3, 8])
def test_helmert_columns_are_orthonormal_and_sum_to_zero(size):
    basis = helmert(size)
    assert basis.T @ basis == pytest.approx(np.eye(size - 1))
    assert basis.sum(axis=0) == pytest.approx(np.zeros(size - 1), abs=1e-12)


@pytest.mark.parametrize("n,m", SHAPES)
def test_examples_have_the_distances_of_lapack(n, m):
    x, y = samples(n, m, batch=(3,))
    inner = geometry.gram(np.concatenate([x, y], axis=1))
    inner[1] = geometry.gram(np.rint(np.concatenate([x, y], axis=1)))[1]
    assert frechet_module.of_examples(inner, n) == pytest.approx(
        frechet_module.from_gram(inner, n), rel=1e-12
    )


@pytest.mark.equal_bits
def test_chunks_of_relabelings_change_nothing(monkeypatch):
    x, y = samples(3, 3, batch=(2,))
    inner = geometry.gram(np.concatenate([x, y], axis=1))
    expected = frechet_module.exact_p_values(inner, 3)
    monkeypatch.setattr(frechet_module, "_CHUNK", 3)
    assert np.array_equal(frechet_module.exact_p_values(inner, 3), expected)
