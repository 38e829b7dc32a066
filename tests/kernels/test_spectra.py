"""Laws of sums and eigenvalues: those of NumPy, and equal bits of both versions."""

from __future__ import annotations

import numpy as np
import pytest

from caption_kernels_reference import spectra as readable

compiled = pytest.importorskip("caption_kernels._compiled")


def random_laws(rng: np.random.Generator, designs: int, size: int) -> np.ndarray:
    """Return laws of a few small whole numbers, shape (designs, size)."""
    laws = np.zeros((designs, size))
    values = min(size, 5)
    laws[:, :values] = rng.dirichlet(np.ones(values), designs)
    return laws


def convolve_laws(laws: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the law of the sum modulo the size, one number after another."""
    size = laws.shape[1]
    total = np.eye(size)[0]
    for law, count in zip(laws, counts):
        for _ in range(count):
            long = np.convolve(total, law)
            total = np.bincount(np.arange(len(long)) % size, long, minlength=size)
    return total


@pytest.mark.parametrize("size", [2, 4, 8, 64, 256])
def test_the_law_of_a_sum_is_the_convolution(size):
    rng = np.random.default_rng(size)
    laws = random_laws(rng, 3, size)
    counts = np.array([0, 1, 7])
    found = compiled.sum_law(laws, counts)
    assert found == pytest.approx(convolve_laws(laws, counts), abs=1e-14)
    assert np.array_equal(found, readable.sum_law(laws, counts))


@pytest.mark.parametrize(
    ("laws", "counts"),
    [(np.ones((1, 3)), [1]), (np.ones((1, 1)), [1]), (np.ones((1, 4)), [-1])],
)
def test_a_size_that_is_no_power_of_two_and_a_negative_count_are_refused(laws, counts):
    for version in (compiled, readable):
        with pytest.raises(ValueError, match="out of its range"):
            version.sum_law(laws, np.array(counts))


@pytest.mark.parametrize("size", [1, 2, 3, 10])
def test_eigenvalues_are_those_of_numpy(size):
    rng = np.random.default_rng(size)
    matrices = rng.normal(size=(6, size, size))
    matrices = matrices + matrices.transpose(0, 2, 1)
    matrices[0] = 1.0  # of rank one
    found = compiled.eigenvalues(matrices)
    assert found == pytest.approx(np.linalg.eigvalsh(matrices), abs=1e-12)
    assert np.array_equal(found, readable.eigenvalues(matrices))
