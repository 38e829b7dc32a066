"""MMD, Frechet, energy and sliced Wasserstein against their textbook formulas, and their exact tests against all relabelings."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.plugins.kernel import frechet as frechet_module
from harness.plugins.kernel import geometry, sliced_wasserstein
from harness.plugins.kernel.energy import energy, energy_form
from harness.plugins.kernel.frechet import frechet
from harness.plugins.kernel.mmd import mmd, mmd_form
from harness.stats import forms, permutation

SHAPES = [(10, 5), (5, 5), (3, 7), (1, 4), (4, 1), (2, 2)]


def samples(n, m, d=12, batch=(), seed=0, shift=0.4):
    rng = np.random.default_rng([seed, n, m])
    return rng.normal(size=(*batch, n, d)), rng.normal(size=(*batch, m, d)) + shift


def plain_mmd(x, y, estimator):
    both = np.concatenate([x, y])
    distances = [np.linalg.norm(a - b) for i, a in enumerate(both) for b in both[i + 1 :]]
    sigma = 0.5 * np.median(distances)

    def mean(first, second, skip):
        values = [
            math.exp(-np.sum((a - b) ** 2) / (2 * sigma**2))
            for i, a in enumerate(first)
            for j, b in enumerate(second)
            if not (skip and i == j)
        ]
        return sum(values) / len(values)

    skip = estimator == "unbiased"
    return mean(x, x, skip) + mean(y, y, skip) - 2 * mean(x, y, False)


def plain_frechet(x, y):
    """The d x d formula, with the square root by a symmetric eigendecomposition: Tr (S^1/2 T S^1/2)^1/2."""
    d = x.shape[1]
    s, t = (np.cov(z.T, ddof=1) if len(z) > 1 else np.zeros((d, d)) for z in (x, y))
    values, vectors = np.linalg.eigh(s)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    cross = np.sqrt(np.maximum(np.linalg.eigvalsh(root @ t @ root), 0)).sum()
    return np.sum((x.mean(0) - y.mean(0)) ** 2) + np.trace(s) + np.trace(t) - 2 * cross


def plain_energy(x, y):
    def mean(first, second):
        return np.mean([[np.linalg.norm(a - b) for b in second] for a in first])

    return 2 * mean(x, y) - mean(x, x) - mean(y, y)


@pytest.mark.parametrize("n,m", SHAPES)
@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
def test_mmd_equals_the_double_sums(n, m, estimator):
    x, y = samples(n, m)
    if estimator == "unbiased" and min(n, m) == 1:
        assert math.isnan(mmd(x, y, estimator))
    else:
        assert mmd(x, y, estimator) == pytest.approx(plain_mmd(x, y, estimator), rel=1e-9)


@pytest.mark.parametrize("n,m", SHAPES)
def test_energy_equals_the_double_sums(n, m):
    x, y = samples(n, m)
    assert energy(x, y) == pytest.approx(plain_energy(x, y), rel=1e-9)


@pytest.mark.parametrize("d", [3, 12, 60])
@pytest.mark.parametrize("n,m", [*SHAPES, (30, 80), (80, 30)])
def test_frechet_equals_the_d_by_d_formula(n, m, d):
    x, y = samples(n, m, d)
    # the reference itself loses half its digits where the covariances are rank deficient
    assert frechet(x, y) == pytest.approx(plain_frechet(x, y), rel=1e-6)


def test_frechet_of_known_gaussians():
    x, y = samples(4000, 3000, 3, shift=0.0)
    x, y = x * [1, 2, 3] + [1, 0, 0], y * [1, 1, 1]
    # |mu|^2 = 1 and sum (s - t)^2 = 0 + 1 + 4
    assert frechet(x, y) == pytest.approx(6, rel=0.05)


def test_one_dimensional_wasserstein_equals_scipy():
    stats = pytest.importorskip("scipy.stats")
    for n, m in SHAPES:
        x, y = samples(n, m, 1)
        wanted = stats.wasserstein_distance(x[:, 0], y[:, 0])
        assert sliced_wasserstein.sliced_wasserstein(x, y, p=1) == pytest.approx(wanted, rel=1e-12)


def test_sliced_wasserstein_equals_pot():
    ot = pytest.importorskip("ot")
    x, y = samples(10, 7)
    for p in (1, 2, 3):
        wanted = ot.sliced_wasserstein_distance(x, y, projections=sliced_wasserstein.directions(12, 50, 3), p=p)
        assert sliced_wasserstein.sliced_wasserstein(x, y, 50, p, seed=3) == pytest.approx(wanted, rel=1e-9)


def test_coupling_weights():
    first, second, weights = sliced_wasserstein.coupling(3, 2)
    assert (first.tolist(), second.tolist()) == ([0, 1, 1, 2], [0, 0, 1, 1])
    assert weights == pytest.approx([1 / 3, 1 / 6, 1 / 6, 1 / 3])


VALUES = {
    "mmd": lambda x, y: mmd(x, y),
    "energy": energy,
    "frechet": frechet,
    "sliced": lambda x, y: sliced_wasserstein.sliced_wasserstein(x, y, 8),
}


@pytest.mark.parametrize("name", VALUES)
def test_batches_order_exchange_translation(name):
    value = VALUES[name]
    x, y = samples(6, 4, batch=(5,))
    batch = value(x, y)
    assert batch.shape == (5,)
    for row in range(5):
        assert value(x[row], y[row]) == pytest.approx(batch[row], rel=1e-12)
    rng = np.random.default_rng(0)
    assert value(x[:, rng.permutation(6)], y[:, rng.permutation(4)]) == pytest.approx(batch, rel=1e-9)
    assert value(y, x) == pytest.approx(batch, rel=1e-9)
    assert value(x + 100, y + 100) == pytest.approx(batch, rel=1e-9)
    assert (batch > 0).all()


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("n,m", [(3, 2), (1, 1), (1, 4), (10, 5)])
def test_identical_vectors_give_zero(name, n, m):
    one = np.random.default_rng(0).normal(size=(1, 20)).astype(np.float32)
    assert VALUES[name](np.repeat(one, n, 0), np.repeat(one, m, 0)) == pytest.approx(0, abs=1e-12)


def test_mmd_when_most_vectors_are_equal():
    """The median distance is 0: the kernel is its limit, equality; the values stay defined."""
    x, y = np.zeros((5, 3)), np.zeros((4, 3))
    y[0] = 1
    # K(R, R) averages (1 + 9) / 16, K(C, R) 3 / 4
    assert mmd(x, y) == pytest.approx(1 + 10 / 16 - 2 * 3 / 4)


def test_duplicates_are_at_distance_zero_exactly():
    rng = np.random.default_rng(0)
    one = rng.normal(size=(3, 384)).astype(np.float32)
    vectors = one[[0, 1, 2, 0, 1, 0]][None] * 1e3 + 1e3
    squared = geometry.squared_distances(geometry.gram(vectors))[0]
    equal = np.array([0, 1, 2, 0, 1, 0])[:, None] == np.array([0, 1, 2, 0, 1, 0])
    assert (squared[equal] == 0).all()
    assert (squared[~equal] > 0).all()


@pytest.mark.parametrize("n,m", [(4, 3), (4, 4), (1, 5), (6, 2)])
def test_exact_p_values_equal_recomputed_relabelings(n, m):
    x, y = samples(n, m, batch=(3,))
    both = np.concatenate([x, y], axis=1)
    labels = permutation.relabelings(n, m)
    inner = geometry.gram(both)
    lines = sliced_wasserstein.projected(both, 8, 0)
    fast = {
        "mmd": forms.exact_p_values(mmd_form(inner, n), n, "upper", mirrored=n == m),
        "energy": forms.exact_p_values(energy_form(inner, n), n, "upper", mirrored=n == m),
        "frechet": frechet_module.exact_p_values(inner, n),
        "sliced": sliced_wasserstein.exact_p_values(lines, n, 2.0),
    }
    null = {
        "mmd": forms.evaluate(mmd_form(inner, n), labels),
        "energy": forms.evaluate(energy_form(inner, n), labels),
        "frechet": frechet_module.relabeled(inner, labels),
        "sliced": sliced_wasserstein.relabeled(lines, labels, 2.0),
    }
    for name, value in VALUES.items():
        wanted = np.stack([value(both[:, row], both[:, ~row]) for row in labels], axis=1)
        assert null[name] == pytest.approx(wanted, abs=1e-9)
        assert fast[name] == pytest.approx((wanted >= wanted[:, :1] - 1e-6).mean(axis=1), abs=1e-12)


@pytest.mark.parametrize("kind", ["mmd", "energy", "frechet"])
def test_p_values_are_valid_under_the_null(kind):
    examples, n, m = {"frechet": 300}.get(kind, 1500), 5, 4
    both = np.random.default_rng(3).normal(size=(examples, n + m, 6))
    inner = geometry.gram(both)
    if kind == "frechet":
        p = frechet_module.exact_p_values(inner, n)
    else:
        form = mmd_form(inner, n) if kind == "mmd" else energy_form(inner, n)
        p = forms.exact_p_values(form, n, "upper")
    assert p.min() >= 1 / permutation.count(n, m)
    for alpha in (0.01, 0.05, 0.1, 0.2, 0.5):
        error = 3 * math.sqrt(alpha * (1 - alpha) / examples)
        assert (p <= alpha).mean() <= alpha + error
        assert (p <= alpha).mean() >= alpha - 1 / permutation.count(n, m) - error


def test_what_does_not_fit_is_an_error():
    for value in VALUES.values():
        with pytest.raises(ValueError, match=r"samples have shapes \(3, 4\) and \(2, 5\)"):
            value(np.zeros((3, 4)), np.zeros((2, 5)))
        with pytest.raises(ValueError, match="each needs a vector"):
            value(np.zeros((0, 4)), np.zeros((2, 4)))
    with pytest.raises(ValueError, match="estimator is biased or unbiased"):
        mmd(np.zeros((3, 4)), np.zeros((2, 4)), "both")
