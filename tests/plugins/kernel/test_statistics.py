"""Properties that all four two-sample statistics share: invariances, exact tests, validity under the null, errors."""

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


def samples(n, m, d=12, batch=(), seed=0, shift=0.4):
    rng = np.random.default_rng([seed, n, m])
    return rng.normal(size=(*batch, n, d)), rng.normal(size=(*batch, m, d)) + shift


VALUES = {
    "mmd": lambda x, y: mmd(x, y),
    "energy": energy,
    "frechet": frechet,
    "sliced": lambda x, y: sliced_wasserstein.sliced_wasserstein(x, y, 8),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_ignore_batches_order_exchange_and_translation(name):
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


@pytest.mark.parametrize("n,m", [(4, 3), (4, 4), (1, 5), (6, 2)])
def test_exact_p_values_equal_those_of_recomputed_statistics(n, m):
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
        expected = np.stack([value(both[:, row], both[:, ~row]) for row in labels], axis=1)
        assert null[name] == pytest.approx(expected, abs=1e-9)
        assert fast[name] == pytest.approx((expected >= expected[:, :1] - 1e-6).mean(axis=1), abs=1e-12)


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


@pytest.mark.parametrize("name", VALUES)
def test_samples_of_other_shapes_are_an_error(name):
    with pytest.raises(ValueError, match=r"samples have shapes \(3, 4\) and \(2, 5\); expected \(n, d\), \(m, d\)"):
        VALUES[name](np.zeros((3, 4)), np.zeros((2, 5)))
    with pytest.raises(ValueError, match="each must hold at least one vector"):
        VALUES[name](np.zeros((0, 4)), np.zeros((2, 4)))
