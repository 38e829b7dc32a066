"""Rows of a run's texts in an index of words and n-grams: each distinct text is tokenised and counted once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from caption_kernels import TextIndex
from harness_metrics.tokenisers.tokens import tokenize

if TYPE_CHECKING:
    from harness.contracts import Features


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

    def rows(self, features: Features, ids: np.ndarray) -> np.ndarray:
        """Return the rows of interned texts, int64, shape of ``ids``; new texts are added."""
        ids = np.asarray(ids, dtype=np.int64)
        if len(features.texts) > len(self._rows):
            earlier_rows = self._rows
            self._rows = np.full(max(len(features.texts), 2 * len(earlier_rows)), -1, dtype=np.int64)
            self._rows[: len(earlier_rows)] = earlier_rows
        rows = self._rows[ids]
        if ids.size and rows.min() < 0:
            missing = np.unique(ids[rows < 0])
            self._rows[missing] = self.add([features.texts[i] for i in missing.tolist()])
            rows = self._rows[ids]
        return rows

    def gram_rows(self, features: Features, ids: np.ndarray) -> np.ndarray:
        """Return the rows of interned texts whose n-grams are counted, int64, shape of ``ids``."""
        rows = self.rows(features, ids)
        return self.index.gram_rows(np.ascontiguousarray(rows).ravel()).reshape(rows.shape)

    def add(self, texts: list[str]) -> np.ndarray:
        """Return the rows (T,) of raw texts that need no id."""
        return self.index.add(texts if self.tokenizer == "ptb" else tokenize(texts, self.tokenizer))

    def forget_texts(self) -> None:
        """Drop all texts; words and n-grams keep their numbers, so that document frequencies stay valid."""
        self.index.rollback((0, 0, 0, 0), keep_grams=True)
        self._rows = np.zeros(0, dtype=np.int64)

    def __getstate__(self) -> dict[str, object]:
        """Return tokeniser, words and n-grams, for another process: no texts."""
        return {"tokenizer": self.tokenizer, "index": self.index, "_rows": np.zeros(0, dtype=np.int64)}


def text_rows_of(features: Features, tokenizer: str) -> TextRows:
    """Return the texts that the metrics of a run share for one tokeniser."""
    return features.memo(("text-rows", tokenizer), lambda: TextRows(tokenizer))
