"""Vendi score and Self-CIDEr of matrices: the package's values, limits, orders."""

import json

import numpy as np
import pytest

from harness_metrics.sets import spectrum


def test_values_of_vendi_score(golden):
    for case in json.loads((golden / "sets/vectors.json").read_text())["vendi"]:
        vectors = np.array(case["vectors"], dtype=np.float32)
        kernel = spectrum.unit_kernels(vectors[None], np.arange(len(vectors))[None])
        for q in (1.0, 2.0, 0.5):
            if f"q{q:g}" in case:
                assert spectrum.vendi(kernel, q).item() == pytest.approx(
                    case[f"q{q:g}"], abs=1e-9
                )
        assert spectrum.vendi(kernel).item() == pytest.approx(case["dual"], abs=1e-9)


@pytest.mark.parametrize("q", [0.0, 0.5, 1.0, 2.0, np.inf])
def test_limits_of_the_vendi_score(q):
    half = np.kron(np.eye(2), np.ones((2, 2)))
    kernels = np.array([np.eye(4), np.ones((4, 4)), half])
    np.testing.assert_allclose(spectrum.vendi(kernels, q), [4, 1, 2], atol=1e-9)


def test_orders_decrease():
    x = np.random.default_rng(0).standard_normal((1, 6, 9))
    kernel = spectrum.unit_kernels(x, np.arange(6)[None])
    values = [spectrum.vendi(kernel, q).item() for q in (0, 0.3, 1, 1.0001, 3, np.inf)]
    assert values == sorted(values, reverse=True)
    assert values[2] == pytest.approx(values[3], rel=1e-3)


def test_texts_with_zero_vectors_are_equal_only_to_themselves():
    kernel = spectrum.unit_kernels(np.zeros((1, 3, 2)), np.array([[7, 7, 8]]))
    assert kernel.tolist() == [[[1, 1, 0], [1, 1, 0], [0, 0, 1]]]


def test_self_cider_by_singular_values():
    rng = np.random.default_rng(1)
    x = rng.random((4, 6))
    singular = np.linalg.svd(x, compute_uv=False)
    expected = -np.log(singular[0] / singular.sum()) / np.log(4)
    assert spectrum.singular_spread(x @ x.T) == pytest.approx(expected, abs=1e-12)
    assert spectrum.singular_spread(3 * x @ x.T) == pytest.approx(expected, abs=1e-12)
    assert np.isnan(spectrum.singular_spread(np.zeros((2, 2))))
