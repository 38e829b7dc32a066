"""Texts beyond the length of a model: cut, or read in windows; and the count of what
was cut.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

Long = Literal["cut", "windows"]
"""Reading of a text beyond the length of a model: its beginning alone, or the mean of
the vectors of consecutive windows.
"""


def cut_ids(ids: Sequence[int], limit: int) -> list[int]:
    """Return the first tokens of a text, and its last one, which ends it.

    >>> cut_ids([1, 7, 8, 9, 2], 4)
    [1, 7, 8, 2]
    """
    return list(ids) if len(ids) <= limit else [*ids[: limit - 1], ids[-1]]


def window_ids(ids: Sequence[int], limit: int) -> list[list[int]]:
    """Return the windows of a text, each with the first and the last token of the
    text around it.

    >>> window_ids([1, 7, 8, 9, 2], 4)
    [[1, 7, 8, 2], [1, 9, 2]]
    """
    if len(ids) <= limit:
        return [list(ids)]
    first, *content, last = ids
    width = limit - 2
    return [
        [first, *content[start : start + width], last]
        for start in range(0, len(content), width)
    ]


def divide(
    texts: Sequence[Sequence[int]], limit: int, long: Long
) -> tuple[list[list[int]], np.ndarray]:
    """Return rows of at most ``limit`` tokens, and the text of each row."""
    if long == "cut":
        return [cut_ids(ids, limit) for ids in texts], np.arange(len(texts))
    windows = [window_ids(ids, limit) for ids in texts]
    owners = np.repeat(np.arange(len(texts)), [len(rows) for rows in windows])
    return [row for rows in windows for row in rows], owners


def mean_of_windows(
    vectors: np.ndarray, owners: np.ndarray, count: int, *, normalize: bool
) -> np.ndarray:
    """Return the mean vector of the windows of each text, float32, shape (T, d).

    Parameters
    ----------
    vectors : ndarray, shape (R, d)
        Vectors of windows.
    owners : ndarray, shape (R,)
        Text of each window, ascending.
    count : int
        Number of texts T.
    normalize : bool
        Scale the means of several windows to unit length.
    """
    if len(vectors) == count:
        return vectors
    windows = np.bincount(owners, minlength=count)
    starts = np.concatenate([[0], np.cumsum(windows)[:-1]])
    sums = np.add.reduceat(vectors.astype(np.float64), starts, axis=0)
    means = sums / windows[:, None]
    if normalize:
        means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12)
    # a text of one window keeps the bits of its vector
    return np.where(windows[:, None] == 1, vectors[starts], means).astype(np.float32)


def count_cut_tokens(
    texts: Sequence[str],
    limit: int,
    token_ids: Callable[[list[str]], Sequence[Sequence[int]]],
) -> np.ndarray:
    """Return the number of tokens of each text beyond ``limit``, shape (T,), int64.

    A token has at least one byte, so that most texts are not tokenised.

    Parameters
    ----------
    texts : sequence of str
        Texts.
    limit : int
        Largest number of tokens, special ones included.
    token_ids : callable
        Function from texts to their tokens, whole and with special ones.
    """
    counts = np.zeros(len(texts), dtype=np.int64)
    long = [k for k, text in enumerate(texts) if len(text.encode()) > limit - 2]
    if long:
        lengths = [len(ids) for ids in token_ids([texts[k] for k in long])]
        counts[long] = np.maximum(np.array(lengths) - limit, 0)
    return counts
