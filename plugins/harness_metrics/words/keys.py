"""Words as integers, and n-grams as sortable keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, count

import numpy as np

Tokens = Sequence[str]


class Vocabulary:
    """Words as integers in order of first appearance;
    the corpora of one comparison share it.
    """

    def __init__(self) -> None:
        self.index: defaultdict[str, int] = defaultdict(count().__next__)

    def ids(self, sentences: Sequence[Tokens], total: int) -> np.ndarray:
        """Return the ids of all words, int64 of shape ``(total,)``;
        new words are added.
        """
        return np.fromiter(
            map(self.index.__getitem__, chain.from_iterable(sentences)), np.int64, total
        )


def pack(words: Sequence[np.ndarray]) -> np.ndarray:
    """Return the keys of n-grams, uint64 ``(columns, K)``, with two words of 32 bits
    per column, the first word in the highest bits.

    ``words`` are n arrays ``(K,)`` of word ids, by position in the n-gram.
    """
    columns: list[np.ndarray] = []
    for start in range(0, len(words), 2):
        key = words[start].astype(np.uint64)
        for word in words[start + 1 : start + 2]:
            key = (key << np.uint64(32)) | word.astype(np.uint64)
        columns.append(key)
    return np.stack(columns)


def sort_order(keys: np.ndarray) -> np.ndarray:
    """Return the indices ``(K,)`` that sort keys ``(columns, K)``;
    equal keys keep their order.
    """
    if len(keys) == 1:
        return np.argsort(keys[0], kind="stable")
    return np.lexsort(keys[::-1])


def changes(keys: np.ndarray) -> np.ndarray:
    """Return ``(K,)`` True where a key of sorted keys ``(columns, K)`` differs from its
    predecessor.
    """
    new = np.ones(keys.shape[1], dtype=bool)
    new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    return new


def gram_ids(words: Sequence[np.ndarray]) -> np.ndarray:
    """Return the ranks of n-grams in sorted order, int64 ``(K,)``, from n arrays
    ``(K,)`` of word ids, by position in the n-gram.
    """
    keys = pack(words)
    order = sort_order(keys)
    ids = np.empty(keys.shape[1], dtype=np.int64)
    ids[order] = np.cumsum(changes(keys[:, order])) - 1
    return ids
