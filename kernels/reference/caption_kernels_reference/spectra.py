"""Laws of sums by Fourier transforms, and eigenvalues of symmetric matrices, in fixed
orders of the basic operations.

The order of the operations is that of ``core/spectra.cpp``. Real and imaginary parts
are arrays of their own: NumPy's products of complex numbers depend on the processor.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from caption_kernels_reference.math import turn


class _Complex(NamedTuple):
    real: np.ndarray
    imaginary: np.ndarray

    def times(self, other: _Complex) -> _Complex:
        a, b = self, other
        return _Complex(
            a.real * b.real - a.imaginary * b.imaginary,
            a.real * b.imaginary + a.imaginary * b.real,
        )


def sum_law(laws: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the law modulo the size of a sum of independent whole numbers,
    float64, shape (size,).

    Parameters
    ----------
    laws : ndarray
        Probabilities of 0, 1, ..., float64, shape (designs, size); the size is a power
        of two.
    counts : ndarray
        How many of the numbers have each law, int64, shape (designs,).

    Examples
    --------
    >>> sum_law(np.array([[0.5, 0.5, 0.0, 0.0]]), np.array([2])).round(12).tolist()
    [0.25, 0.5, 0.25, 0.0]
    """
    size = laws.shape[1]
    if size < 2 or size & (size - 1) or (counts < 0).any():
        raise ValueError("the law of a sum: an argument is out of its range")

    roots = _find_roots(size)
    half = size // 2

    # The law of a sum has the product of the transforms, each to the power of its
    # count.
    product = _Complex(np.ones(half + 1), np.zeros(half + 1))
    for law, count in zip(laws, counts.tolist()):
        own = _transform(_Complex(law, np.zeros(size)), roots)
        product = product.times(
            _power(_Complex(own.real[: half + 1], own.imaginary[: half + 1]), count)
        )
    # The transform of real numbers is symmetric, and that of its conjugate is the
    # inverse one.
    mirrored = slice(half - 1, 0, -1)
    conjugate = np.concatenate(
        [product.imaginary[:1], -product.imaginary[1:], product.imaginary[mirrored]]
    )
    return (
        _transform(
            _Complex(np.concatenate([product.real, product.real[mirrored]]), conjugate),
            roots,
        ).real
        / size
    )


def _power(base: _Complex, exponent: int) -> _Complex:
    result = _Complex(np.ones_like(base.real), np.zeros_like(base.real))
    while exponent > 0:
        if exponent & 1:
            result = result.times(base)
        exponent = exponent >> 1
        base = base.times(base)
    return result


def _find_roots(size: int) -> _Complex:
    """Return exp(-2 pi i k / size) for k < size / 2:
    products of two tables of about sqrt(size) values.
    """
    fine = 1 << (size.bit_length() // 2)

    def roots(k: np.ndarray) -> _Complex:
        angles = 2 * math.pi * k.astype(np.float64) / size
        return _Complex(turn(angles, 1), -turn(angles, 0))

    high = roots(np.arange(size // fine + 1) * fine)
    low = roots(np.arange(fine))
    k = np.arange(size // 2)
    return _Complex(high.real[k // fine], high.imaginary[k // fine]).times(
        _Complex(low.real[k % fine], low.imaginary[k % fine])
    )


def _transform(x: _Complex, roots: _Complex) -> _Complex:
    """Return the discrete Fourier transform (Stockham's order: transforms lie side by
    side).
    """
    size = len(x.real)
    step = 1
    while step < size:
        (a_real, b_real), (a_imaginary, b_imaginary) = (
            part.reshape(2, -1, step) for part in x
        )
        factor = _Complex(roots.real[::step, None], roots.imaginary[::step, None])
        turned = _Complex(a_real - b_real, a_imaginary - b_imaginary).times(factor)
        summed = _Complex(a_real + b_real, a_imaginary + b_imaginary)
        x = _Complex(
            *(np.stack(parts, axis=1).ravel() for parts in zip(summed, turned))
        )
        step *= 2
    return x


def eigenvalues(matrices: np.ndarray) -> np.ndarray:
    """Return the eigenvalues (n, size), ascending, of symmetric finite matrices (n,
    size, size), of which the lower triangle is read.

    References
    ----------
    Jacobi (1846); Golub & Van Loan, *Matrix Computations*, section 8.5.

    Examples
    --------
    >>> eigenvalues(np.array([[[2.0, 1.0], [1.0, 2.0]]])).round(12).tolist()
    [[1.0, 3.0]]
    """
    if not np.isfinite(matrices).all():
        raise ValueError("eigenvalues: an argument is out of its range")
    return np.array([_eigenvalues(matrix.tolist()) for matrix in matrices]).reshape(
        matrices.shape[:2]
    )


def _eigenvalues(a: list[list[float]]) -> list[float]:
    """Return the eigenvalues of a matrix by rotations that annihilate one pair after
    another.
    """
    size = len(a)
    changed = True

    sweep = 0
    while changed and sweep < 64:
        changed = False
        sweep = sweep + 1
        for q in range(1, size):
            for p in range(q):
                off = a[q][p]
                first = a[p][p]
                second = a[q][q]
                if (
                    abs(off) <= 2.0**-60 * (abs(first) + abs(second))
                    or abs(off) < 2.0**-1000
                ):
                    a[q][p] = 0.0
                    continue
                changed = True

                # The rotation that makes the element off the diagonal zero (Jacobi).
                ratio = (second - first) / (2 * off)
                tangent = (-1 if ratio < 0 else 1) / (
                    abs(ratio) + math.sqrt(ratio * ratio + 1)
                )
                cosine = 1 / math.sqrt(tangent * tangent + 1)
                sine = tangent * cosine

                a[p][p], a[q][q], a[q][p] = (
                    first - tangent * off,
                    second + tangent * off,
                    0.0,
                )
                for k in range(size):
                    if k not in (p, q):
                        (i, j), (m, n) = (max(k, p), min(k, p)), (max(k, q), min(k, q))
                        left, right = a[i][j], a[m][n]
                        a[i][j], a[m][n] = (
                            cosine * left - sine * right,
                            sine * left + cosine * right,
                        )
    return np.sort([a[k][k] for k in range(size)]).tolist()  # NaN comes last
