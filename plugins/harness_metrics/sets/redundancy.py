"""Compressibility of texts and similarity of n-gram multisets."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Sequence

import numpy as np

from caption_kernels import exp, log
from harness_metrics.words.grams import Words, grams_of


def compression_ratio(texts: Iterable[bytes]) -> float:
    """Return the bytes of the sorted texts, one per line,
    over the bytes of their gzip file.

    Sorting makes the ratio independent of the order of the texts: gzip finds
    repetitions within 32 KiB alone.

    References
    ----------
    Shaib et al. 2024, *Standardizing the Measurement of Text Diversity: A Tool and a
    Comparative Analysis of Scores*, section 2.

    Examples
    --------
    >>> compression_ratio([b"a dog runs"] * 100) > 20
    True
    """
    content = b"\n".join(sorted(texts))
    if not content:
        return float("nan")
    return len(content) / len(gzip.compress(content, mtime=0))


def ms_jaccard(
    candidates: Words, references: Words, sizes: Sequence[int], n: int
) -> float:
    """Return the geometric mean over the orders 1 to n of the Jaccard index of n-gram
    multisets, counts per sentence.

    Parameters
    ----------
    candidates, references : Words
        Words of both sides, with common ids.
    sizes : sequence of int
        Numbers of candidates and of references.
    n : int
        Largest order.

    Returns
    -------
    float
        In [0, 1]; 0 where an order has no common n-gram, NaN where no sentence has an
        n-gram of an order.

    References
    ----------
    Alihosseini et al. 2019, *Jointly Measuring Diversity and Quality in Text Generation
    Models*, section 4.1.
    """
    logs: list[float] = []
    for order in range(1, n + 1):
        sides = grams_of([candidates, references], order)
        width = 1 + max(int(side.gram.max(initial=-1)) for side in sides)
        q, p = (
            np.bincount(side.gram, minlength=width) / size
            for side, size in zip(sides, sizes)
        )

        union = np.maximum(q, p).sum()
        if not union:
            return float("nan")
        shared = np.minimum(q, p).sum() / union
        if not shared:
            return 0.0
        logs.append(log(shared))
    return exp(np.mean(logs))
