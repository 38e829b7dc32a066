"""Embedding ``fasttext``: mean of fastText word vectors."""

from __future__ import annotations

from harness.contracts import PathParam
from harness.errors import HarnessError
from harness_metrics.embeddings.word_vector_mean import WordVectorEmbedding


class FastText(WordVectorEmbedding):
    """Mean of fastText word vectors, without subwords.

    Parameters
    ----------
    path : str
        A ``.vec`` file (``crawl-300d-2M.vec``, ``wiki-news-300d-1M.vec``). Required: no package contains one.

    References
    ----------
    Bojanowski et al. 2017, *Enriching Word Vectors with Subword Information*.
    """

    name = "fasttext"

    def __init__(self, *, path: PathParam | None = None) -> None:
        if path is None:
            raise HarnessError("embedding 'fasttext' needs path: a .vec file of fastText (no package contains one)")
        super().__init__(path=path)
