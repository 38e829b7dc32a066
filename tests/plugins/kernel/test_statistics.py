"""Properties that all four two-sample statistics share: invariances, exact tests,
validity under the null, errors.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats import forms, permutation, ties
from harness_metrics.kernel import frechet as frechet_module
from harness_metrics.kernel import geometry, sliced_wasserstein
from harness_metrics.kernel.energy import energy_kernel
from harness_metrics.kernel.mmd import mmd_kernel
from tests.support import kernel_values
from tests.support.kernel_values import energy, frechet, mmd

VALUES = {
    "mmd": lambda x, y: mmd(x, y),
    "energy": energy,
    "frechet": frechet,
    "sliced": lambda x, y: kernel_values.sliced_wasserstein(x, y, 8),
}


def samples(n, m, d=12, batch=(), seed=0, shift=0.4):
    rng = np.random.default_rng([seed, n, m])
    return rng.normal(size=(*batch, n, d)), rng.normal(size=(*batch, m, d)) + shift


@pytest.mark.equal_bits
@pytest.mark.parametrize("name", VALUES)
def test_values_ignore_batches_order_exchange_and_translation(name):
    value = VALUES[name]
    x, y = samples(6, 4, batch=(5,))
    batch = value(x, y)
    assert batch.shape == (5,)
    for row in range(5):
        assert value(x[row], y[row]) == pytest.approx(batch[row], rel=1e-12)
    rng = np.random.default_rng(0)
    assert value(x[:, rng.permutation(6)], y[:, rng.permutation(4)]) == pytest.approx(
        batch, rel=1e-9
    )
    assert value(y, x) == pytest.approx(batch, rel=1e-9)
    assert value(x + 100, y + 100) == pytest.approx(batch, rel=1e-9)
    assert (batch > 0).all()


@pytest.mark.equal_bits
@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("n,m", [(3, 2), (1, 1), (1, 4), (10, 5)])
def test_identical_vectors_give_zero(name, n, m):
    one = np.random.default_rng(0).normal(size=(1, 20)).astype(np.float32)
    assert VALUES[name](np.repeat(one, n, 0), np.repeat(one, m, 0)) == pytest.approx(
        0, abs=1e-12
    )


def exact_p_values(vectors, n):
    """Return the exact p-values (B,) of the four statistics of vectors (B, N, d),
    by name.
    """
    inner = geometry.gram(vectors)
    lines = sliced_wasserstein.project_vectors(vectors, 8, 0)
    mirrored = 2 * n == vectors.shape[1]
    return {
        "mmd": forms.exact_p_values(
            geometry.two_sample_form(mmd_kernel(inner), n, "biased"),
            n,
            "upper",
            mirrored=mirrored,
            precision=ties.FLOAT32,
        ),
        "energy": forms.exact_p_values(
            geometry.two_sample_form(energy_kernel(inner), n, "biased"),
            n,
            "upper",
            mirrored=mirrored,
            precision=ties.FLOAT32,
        ),
        "frechet": frechet_module.exact_p_values(inner, n),
        "sliced": sliced_wasserstein.exact_p_values(lines, n, 2.0),
        "sliced, p = 30": sliced_wasserstein.exact_p_values(lines, n, 30.0),
    }


@given(
    st.integers(0, 10**6),
    st.integers(-12, 12),
    st.sampled_from(["distinct", "duplicates", "lattice", "offset"]),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from([(3, 2), (3, 3), (1, 4)]),
)
def test_the_unit_of_embeddings_changes_no_p_value(seed, exponent, kind, dtype, shape):
    rng = np.random.default_rng(seed)
    n, m = shape
    vectors = {
        "distinct": lambda: rng.normal(size=(2, n + m, 5)),
        "duplicates": lambda: rng.normal(size=(2, 3, 5))[:, rng.integers(0, 3, n + m)],
        "lattice": lambda: rng.integers(0, 3, size=(2, n + m, 2)).astype(float),
        "offset": lambda: rng.normal(size=(2, n + m, 5)) + 4,
    }[kind]()
    if kind == "lattice":
        # exact in float32: other units break geometric ties before the test begins
        exponent = 3 * exponent
        base = 2.0
    else:
        base = 10.0
    scaled = (vectors * base**exponent).astype(dtype)
    expected = exact_p_values(vectors.astype(dtype), n)
    for name, p in exact_p_values(scaled, n).items():
        assert np.array_equal(p, expected[name]), name


@pytest.mark.parametrize("unit", [1e-12, 1e-4, 1.0, 1e12])
def test_separated_samples_are_significant_in_any_unit(unit):
    x, y = samples(5, 5, batch=(1,), shift=3.0)
    both = (np.concatenate([x, y], axis=1) * unit).astype(np.float32)
    for name, p in exact_p_values(both, 5).items():
        assert p == pytest.approx([2 / 252]), name


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_vectors_that_differ_by_rounding_alone_have_p_one(unit):
    rng = np.random.default_rng(0)
    noise = 1 + 1e-7 * rng.normal(size=(3, 7, 20))
    vectors = (rng.normal(size=(3, 1, 20)) * noise * unit).astype(np.float32)
    for name, p in exact_p_values(vectors, 4).items():
        assert p.tolist() == [1.0] * 3, name
    for name, value in VALUES.items():
        assert value(vectors[:, :4], vectors[:, 4:]).tolist() == [0.0] * 3, name


@pytest.mark.equal_bits
@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_samples_that_are_equal_up_to_float32_rounding_have_p_one(unit):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 3, 20))
    y = x * (1 + 6e-8 * rng.normal(size=x.shape))
    vectors = (np.concatenate([x, y], axis=1) * unit).astype(np.float32)
    for name, p in exact_p_values(vectors, 3).items():
        assert p.tolist() == [1.0] * 4, name


@pytest.mark.equal_bits
@pytest.mark.parametrize("n,m", [(4, 3), (4, 4), (1, 5), (6, 2)])
def test_exact_p_values_equal_those_of_recomputed_statistics(n, m):
    x, y = samples(n, m, batch=(3,))
    both = np.concatenate([x, y], axis=1)
    labels = permutation.relabelings(n, m)
    inner = geometry.gram(both)
    lines = sliced_wasserstein.project_vectors(both, 8, 0)

    fast = exact_p_values(both, n)
    null = {
        "mmd": forms.evaluate(
            geometry.two_sample_form(mmd_kernel(inner), n, "biased"), labels
        ),
        "energy": forms.evaluate(
            geometry.two_sample_form(energy_kernel(inner), n, "biased"), labels
        ),
        "frechet": frechet_module.relabel(inner, labels),
        "sliced": sliced_wasserstein.relabel(lines, labels, 2.0),
    }

    for name, value in VALUES.items():
        expected = np.stack(
            [value(both[:, row], both[:, ~row]) for row in labels], axis=1
        )
        assert null[name] == pytest.approx(expected, abs=1e-9)
        assert fast[name] == pytest.approx(
            (expected >= expected[:, :1] - 1e-6).mean(axis=1), abs=1e-12
        )


@pytest.mark.parametrize("kind", ["mmd", "energy", "frechet"])
def test_p_values_are_valid_under_the_null(kind):
    examples = {"frechet": 300}.get(kind, 1500)
    n = 5
    m = 4
    both = np.random.default_rng(3).normal(size=(examples, n + m, 6))
    inner = geometry.gram(both)
    if kind == "frechet":
        p = frechet_module.exact_p_values(inner, n)
    else:
        form = (
            geometry.two_sample_form(mmd_kernel(inner), n, "biased")
            if kind == "mmd"
            else geometry.two_sample_form(energy_kernel(inner), n, "biased")
        )
        p = forms.exact_p_values(form, n, "upper")
    assert p.min() >= 1 / permutation.count(n, m)
    for alpha in (0.01, 0.05, 0.1, 0.2, 0.5):
        error = 3 * math.sqrt(alpha * (1 - alpha) / examples)
        assert (p <= alpha).mean() <= alpha + error
        assert (p <= alpha).mean() >= alpha - 1 / permutation.count(n, m) - error
