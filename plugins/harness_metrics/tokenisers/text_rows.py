"""Rows of a run's texts in an index of words and n-grams: each distinct text is
tokenised and counted once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet

import numpy as np

from caption_kernels import TextIndex
from harness_metrics.tokenisers.tokens import function_of

if TYPE_CHECKING:
    from harness.contracts import Features


_NO_PREFIX = np.uint64(2**32 - 1)
"""Prefix of an n-gram of one word, among the keys of an index:
the number of the prefix << 32 | the word.
"""


class TextRows:
    """The texts of a run in the index of one tokeniser.

    Parameters
    ----------
    tokenizer : str
        Name of the tokeniser.
    """

    def __init__(self, tokenizer: str) -> None:
        self.tokenizer = tokenizer
        self.index = TextIndex("ptb" if tokenizer == "ptb" else "none")
        self._rows = np.zeros(0, dtype=np.int64)
        """Row of each text id, -1 for a text that is not in the index yet."""
        self.tables: WeakSet[Any] = WeakSet()
        """Objects with ``counts`` of the n-grams of the index, by their numbers, and a
        ``stage``: ``growing``, ``complete`` (no further documents are counted) or
        ``short`` (without rare n-grams).
        """

    def rows(self, features: Features, ids: np.ndarray) -> np.ndarray:
        """Return the rows of interned texts, int64, shape of ``ids``;
        new texts are added.
        """
        ids = np.asarray(ids, dtype=np.int64)
        if len(features.texts) > len(self._rows):
            # doubled, so that texts that come one by one are not copied each time
            earlier_rows = self._rows
            size = max(len(features.texts), 2 * len(earlier_rows))
            self._rows = np.full(size, -1, dtype=np.int64)
            self._rows[: len(earlier_rows)] = earlier_rows

        rows = self._rows[ids]
        if ids.size and rows.min() < 0:
            missing = np.unique(ids[rows < 0])
            new_texts: list[str] = [features.texts[i] for i in missing.tolist()]
            self._rows[missing] = self.add(new_texts)
            rows = self._rows[ids]
        return rows

    def gram_rows(self, features: Features, ids: np.ndarray) -> np.ndarray:
        """Return the rows of interned texts whose n-grams are counted, int64,
        shape of ``ids``.
        """
        rows = self.rows(features, ids)
        flat = np.ascontiguousarray(rows).ravel()
        return self.index.gram_rows(flat).reshape(rows.shape)

    def add(self, texts: list[str]) -> np.ndarray:
        """Return the rows (T,) of raw texts that need no id."""
        # the index itself has the rules of "ptb"
        if self.tokenizer != "ptb":
            texts = function_of(self.tokenizer)(texts)
        return self.index.add(texts)

    def forget_texts(self) -> None:
        """Drop all texts, and the n-grams that no table counts; of tables that are
        complete also those of fewer than two documents.
        """
        self._rows = np.zeros(0, dtype=np.int64)
        stages = {table.stage for table in self.tables}
        if stages in ({"complete"}, {"complete", "short"}):
            self._drop_rare_grams()

        n_grams = max((len(table.counts) for table in self.tables), default=0)
        self.index.rollback((0, n_grams, 0, 0))

    def _drop_rare_grams(self) -> None:
        """Keep the n-grams of at least two documents of a table, under new numbers: one
        document weighs as much as none.
        """
        tokenizer, words, keys = cast(
            "tuple[str, object, np.ndarray]", self.index.__getstate__()
        )
        is_kept = np.zeros(len(keys), dtype=bool)
        for table in self.tables:
            is_kept[: len(table.counts)] |= table.counts > 1

        del self.index  # the old and the new one are never there at once
        for _ in range(3):  # a table from a file may lack the beginning of an n-gram
            prefixes = keys[is_kept] >> np.uint64(32)
            is_kept[prefixes[prefixes < _NO_PREFIX]] = True

        # A key holds the number of the prefix, which changes with the numbers.
        numbers = np.cumsum(is_kept, dtype=np.int32) - 1
        keys = keys[is_kept]
        prefixes = keys >> np.uint64(32)
        is_long = prefixes < _NO_PREFIX
        new_prefixes = numbers[prefixes[is_long]].astype(np.uint64)
        keys[is_long] = new_prefixes << np.uint64(32) | keys[is_long] & _NO_PREFIX

        self.index = TextIndex.__new__(TextIndex)
        self.index.__setstate__((tokenizer, words, keys))
        for table in self.tables:
            table.stage = "short"
            table.counts = table.counts[is_kept[: len(table.counts)]]

    def __getstate__(self) -> dict[str, object]:
        """Return tokeniser, words and n-grams, for another process: no texts."""
        return {
            "tokenizer": self.tokenizer,
            "index": self.index,
            "_rows": np.zeros(0, dtype=np.int64),
        }

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state, tables=WeakSet())  # the tables add themselves


def text_rows_of(features: Features, tokenizer: str) -> TextRows:
    """Return the texts that the metrics of a run share for one tokeniser."""
    return features.memo(("text-rows", tokenizer), lambda: TextRows(tokenizer))
