"""Statistics that are sums over (candidate, reference) pairs, under all relabelings at
once.

A *form* is an (N, N) matrix M. Its value under labels s in {0, 1}^N is

    f(s) = sum over candidates p and references q of M[p, q] = s' M (1 - s).

For samples of fixed sizes every quadratic statistic has this form (a term linear in s
is divided among the texts of the other sample): the triangle counts of TRM, MMD, the
energy distance, mean CIDEr-D. All C(N, n) values are computed by splitting the texts
into two halves, s = (s1, s2):

    f(s) = f1(s1) + f2(s2) - s1' (M12 + M21') s2,

The relabelings with k candidates in the first half form a block of (first-half labels)
x (second-half labels), whose values are one matrix product; no (P, N) table of labels
is built.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from harness.stats import permutation, ties
from harness.stats.permutation_p_values import Tail, tail_counts

MEMORY_BYTES = 128 << 20
"""Maximum size of the temporary arrays of one call, in bytes."""


def evaluate(
    forms: np.ndarray, labels: np.ndarray, *, memory_bytes: int = MEMORY_BYTES
) -> np.ndarray:
    """Return the values of forms (..., N, N) under labels (P, N), float64,
    shape (..., P).

    Parameters
    ----------
    forms : array
        Matrices, shape (..., N, N).
    labels : array of bool
        Relabelings, shape (P, N), True for a candidate; the number of candidates may
        differ between rows.
    memory_bytes : int
        Maximum size of the temporary arrays.

    >>> evaluate(np.arange(4.0).reshape(2, 2), np.array([[True, False], [False, True]]))
    array([1., 2.])
    """
    forms = np.asarray(forms, dtype=np.float64)
    size = forms.shape[-1]
    flat = forms.reshape(-1, size, size)
    first, second = np.triu_indices(size, 1)

    # Both orders of a pair: s_p (1 - s_q) and s_q (1 - s_p).
    columns = np.concatenate([flat[:, first, second], flat[:, second, first]], axis=1)

    out = np.empty((len(flat), len(labels)))
    step = max(1, memory_bytes // (16 * len(first) + 8 * len(flat) + 1))
    for start in range(0, len(labels), step):
        part = np.asarray(labels[start : start + step], dtype=bool)
        a = part[:, first]
        b = part[:, second]
        pairs = np.concatenate([a & ~b, b & ~a], axis=1).astype(np.float64)
        out[:, start : start + step] = columns @ pairs.T
    return out.reshape(*forms.shape[:-2], len(labels))


def identity(forms: np.ndarray, n: int) -> np.ndarray:
    """Return the values of forms of shape (..., N, N) under the observed labels, in
    which the first ``n`` texts are the candidates.
    """
    return np.asarray(forms)[..., :n, n:].sum(axis=(-2, -1))


@dataclass(frozen=True)
class Block:
    """Relabelings with the same number of candidates in the first half: every row
    combined with every column.
    """

    rows: np.ndarray
    """Labels of the first half, float64, shape (r, h)."""
    columns: np.ndarray
    """Labels of the second half, float64, shape (c, N - h)."""


@lru_cache(maxsize=64)
def blocks(n: int, m: int, mirrored: bool = False) -> tuple[Block, ...]:
    """Return blocks that together hold every relabeling of n candidates and m
    references once.

    With ``mirrored`` they hold one relabeling of each pair s, 1 - s, the one in which
    text 0 is a candidate: enough for statistics that are symmetric in the two samples.
    Raises ValueError for ``mirrored`` with n != m.
    """
    if mirrored and n != m:
        raise ValueError("mirrored blocks need as many candidates as references")
    half = (n + m) // 2
    out: list[Block] = []
    for k in range(max(0, n - (n + m - half)), min(n, half) + 1):
        rows = _choices(half, k)
        if mirrored:
            rows = rows[rows[:, 0] == 1]
        if len(rows):
            out.append(Block(rows, _choices(n + m - half, n - k)))
    return tuple(out)


def _choices(size: int, k: int) -> np.ndarray:
    """Return all 0/1 vectors with k ones, float64, shape (C(size, k), size)."""
    if k in (0, size):
        return np.full((1, size), float(k > 0))
    return permutation.relabelings(k, size - k).astype(np.float64)


def sweep(
    forms: np.ndarray,
    n: int,
    *,
    mirrored: bool = False,
    memory_bytes: int = MEMORY_BYTES,
) -> Iterator[np.ndarray]:
    """Yield the values of forms (F, N, N) under all relabelings with n candidates,
    in arrays of shape (F, p).

    Every relabeling occurs once, in an unspecified order. Arguments are those of
    :func:`blocks`; ``memory_bytes`` bounds the temporary arrays. An array is valid
    until the next one is requested.
    """
    forms = np.asarray(forms, dtype=np.float64)
    f = len(forms)
    size = forms.shape[-1]
    half = size // 2
    top = forms[:, :half, :half]
    bottom = forms[:, half:, half:]
    across = forms[:, :half, half:] + forms[:, half:, :half].transpose(0, 2, 1)
    top_out = forms[:, :half, half:].sum(axis=2)
    bottom_out = forms[:, half:, :half].sum(axis=2)

    for block in blocks(n, size - n, mirrored):
        rows = block.rows
        columns = block.columns
        ends = _within(bottom, columns) + bottom_out @ columns.T  # (F, c)
        starts = _within(top, rows) + top_out @ rows.T  # (F, r)
        slopes = np.matmul(rows, across)  # (F, r, N - h)

        step = max(1, memory_bytes // (8 * f * len(columns)))
        for first in range(0, len(rows), step):
            part = slice(first, first + step)
            values = slopes[:, part].reshape(-1, size - half) @ -columns.T
            values = values.reshape(f, -1, len(columns))
            values += ends[:, None, :]
            values += starts[:, part, None]
            yield values.reshape(f, -1)


def _within(square: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return s' M (1 - s) within one half, shape (F, r), for matrices (F, h, h) and
    labels (r, h).
    """
    return np.einsum("frq,rq->fr", np.matmul(labels, square), 1.0 - labels)


def exact_p_values(
    forms: np.ndarray,
    n: int,
    tail: Tail,
    *,
    mirrored: bool = False,
    precision: float = ties.FLOAT64,
    memory_bytes: int = MEMORY_BYTES,
) -> np.ndarray:
    """Return exact p-values of the statistics f(s) of forms (B, N, N), shape (B,);
    a form with NaN gives NaN.

    The p-values of a form and of its multiples are equal: the tolerance of ties is
    relative to :func:`magnitude`.

    Parameters
    ----------
    forms : array
        Matrices, shape (B, N, N); the first ``n`` texts are the observed candidates.
    n : int
        Number of candidates.
    tail : {"upper", "lower"}
        Values that count as extreme: large or small ones.
    mirrored : bool
        See :func:`blocks`.
    precision : float
        Relative tolerance of ties, see :mod:`harness.stats.ties`; ``ties.FLOAT32`` for
        forms of float32 numbers.
    memory_bytes : int
        Maximum size of the temporary arrays.
    """
    forms = np.asarray(forms, dtype=np.float64)
    size = forms.shape[-1]
    total = sum(
        len(block.rows) * len(block.columns) for block in blocks(n, size - n, mirrored)
    )
    step = max(1, memory_bytes // (8 * min(total, 1 << 16) * 4))

    out = np.empty(len(forms))
    for start in range(0, len(forms), step):
        part = forms[start : start + step]
        observed = identity(part, n)
        tolerance = ties.tolerance(magnitude(part, n), precision)
        extreme = np.zeros(len(part), dtype=np.int64)
        for values in sweep(part, n, mirrored=mirrored, memory_bytes=memory_bytes // 4):
            extreme += tail_counts(values, observed, tail, tolerance)
        p_values = np.where(np.isnan(observed), np.nan, extreme / total)
        out[start : start + step] = p_values
    return out


def magnitude(forms: np.ndarray, n: int) -> np.ndarray:
    """Return the mean over relabelings with n candidates of the sum of |M[p, q]| over
    pairs, shape (...), for forms (..., N, N).

    >>> magnitude(np.array([[[9.0, -1.0], [3.0, 9.0]]]), 1)
    array([2.])
    """
    size = forms.shape[-1]
    absolute = np.abs(forms)
    # The diagonal has no influence on the values.
    absolute[..., range(size), range(size)] = 0.0
    return absolute.sum(axis=(-2, -1)) * (n * (size - n) / (size * (size - 1)))
