"""Checks of the vectors and distances that components return, before they are used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.contracts import Batch
from harness.errors import HarnessError


def check_vectors(name: str, vectors: object, texts: Sequence[str]) -> np.ndarray:
    """Return the vectors of texts, float32, shape (T, d); raise :class:`HarnessError`
    for another shape and for numbers that are not finite.
    """
    array = np.asarray(vectors, dtype=np.float32)
    if array.ndim != 2 or array.shape[0] != len(texts) or array.shape[1] == 0:
        raise HarnessError(
            f"embedding '{name}' returned shape {array.shape} for {len(texts)} "
            f"texts; expected ({len(texts)}, d)"
        )
    finite = np.isfinite(array).all(axis=1)
    if not finite.all():
        raise HarnessError(
            f"embedding '{name}' is not finite for the text "
            f"{texts[int(np.argmin(finite))]!r}"
        )
    return array


def check_distances(name: str, matrices: np.ndarray, batch: Batch) -> None:
    """Raise :class:`HarnessError` for matrices (B, N, N) of another shape, and with the
    pair of texts for numbers that are no distances.
    """
    size = batch.n + batch.m
    expected = (len(batch), size, size)
    if matrices.shape != expected:
        raise HarnessError(
            f"distance '{name}' returned shape {matrices.shape}; expected {expected}"
        )

    of_same_text = np.where(np.eye(size, dtype=bool), matrices, 0)
    for problem, bad in (
        ("is not finite", ~np.isfinite(matrices)),
        ("is negative", matrices < 0),
        ("of a text to itself is not 0", of_same_text),
    ):
        if not bad.any():
            continue
        b, i, j = (int(x) for x in np.argwhere(bad)[0])
        item = batch.sets[b]
        texts = (*item.candidates, *item.references)
        raise HarnessError(
            f"distance '{name}' {problem} ({matrices[b, i, j]!r}) "
            f"for the pair {texts[i]!r}, {texts[j]!r} of example '{item.id}'"
        )
