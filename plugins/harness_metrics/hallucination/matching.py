"""Metric ``object-match``: objects of captions matched one to one with those of the
references, by any embedding, as in ALOHa.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from harness import registry
from harness.contracts import (
    Batch,
    Embedding,
    Features,
    MeanMetric,
    MetricSpec,
    fitted_fields,
)
from harness.contracts.parameters import check_arguments
from harness.errors import require
from harness_metrics.bases.embedding_metric import EmbeddingSpec
from harness_metrics.bases.example_values import features_by_example, mean_of_defined
from harness_metrics.hallucination.facts import parse
from harness_metrics.hallucination.objects import ObjectTable
from harness_metrics.kernel.geometry import unit_vectors

NO_SYNONYMS = ObjectTable({}, name="none")


def match_objects(similarity: np.ndarray) -> np.ndarray:
    """Return the similarity of each row with its match in the one-to-one assignment of
    the largest sum, shape (c,).

    Parameters
    ----------
    similarity : ndarray
        Similarities in [0, 1] of c objects of a candidate and r objects of the
        references, shape (c, r). Rows beyond r have no match and the similarity 0.

    Examples
    --------
    >>> match_objects(np.array([[0.9, 0.8], [0.8, 0.1], [0.0, 0.3]])).tolist()
    [0.8, 0.8, 0.0]
    """
    out = np.zeros(len(similarity))
    if similarity.shape[1]:
        optimize = require("scipy.optimize", needed_by="metric 'object-match'")
        rows, columns = optimize.linear_sum_assignment(similarity, maximize=True)
        out[rows] = similarity[rows, columns]
    return out


class ObjectMatch(MeanMetric):
    """Similarity of the worst (or mean) object of a candidate to its match among the
    objects of the references, in [0, 1].

    Higher is better. Objects are the nouns of the rule parser, each once; those of the
    references are pooled. The similarity is the cosine of the embeddings, negative ones
    count as 0. The score of an example is the mean over the candidates with an object;
    an example without such candidates is undefined.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.
    aggregate : {"worst", "mean"}
        Number of a candidate from its objects; ALOHa takes the worst.

    References
    ----------
    Petryk et al. 2024, *ALOHa: A New Measure for Hallucination in Captioning Models*,
    section 3, which extracts objects with a language model.
    """

    @check_arguments
    def __init__(
        self,
        *,
        embedding: EmbeddingSpec = "minilm",
        aggregate: Literal["worst", "mean"] = "worst",
    ) -> None:
        self.embedding: Embedding = registry.resolve("embeddings", embedding)
        self.aggregate = aggregate
        needs = frozenset({"references", "embeddings"}) | frozenset(
            getattr(self.embedding, "needs", ())
        )
        details: list[str] = []
        if self.embedding.name != "minilm":
            details.append(self.embedding.name)
        if aggregate == "mean":
            details.append("mean")
        label = f"object-match({','.join(details)})" if details else "object-match"
        self.spec = MetricSpec(
            label, True, needs=needs, bounds=(0.0, 1.0), **fitted_fields(self.embedding)
        )

    def signature(self) -> str:
        """Return a text such as ``object-match|worst|rules|minilm``."""
        return f"object-match|{self.aggregate}|rules|{self.embedding.signature()}"

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the score of each example, shape (B,)."""
        key = ("nouns", NO_SYNONYMS.signature())
        nouns = features_by_example(features, batch, key, _find_nouns)

        distinct = set[str]()
        for candidates, references in nouns:
            distinct.update(*candidates, *references)
        if not distinct:
            return np.full(len(batch), np.nan)

        words = sorted(distinct)
        word_vectors = features.vectors(self.embedding, features.intern(words))
        vectors = dict(zip(words, unit_vectors(word_vectors)))

        reduce = np.min if self.aggregate == "worst" else np.mean
        out: list[float] = []
        for candidates, references in nouns:
            truth = sorted({noun for text in references for noun in text})
            scores = [
                float(reduce(match_objects(_similarity(text, truth, vectors))))
                for text in candidates
                if text
            ]
            out.append(mean_of_defined(scores))
        return np.array(out)


def _find_nouns(texts: list[str]) -> list[tuple[str, ...]]:
    """Return the distinct nouns of each text, sorted."""
    return [
        tuple(sorted(noun for (noun,) in parse(text, NO_SYNONYMS).objects))
        for text in texts
    ]


def _similarity(
    nouns: tuple[str, ...], truth: list[str], vectors: dict[str, np.ndarray]
) -> np.ndarray:
    """Return the similarities of two lists of nouns, shape (c, r), in [0, 1],
    exactly 1 for equal nouns.
    """
    out = np.empty((len(nouns), len(truth)))
    for i, noun in enumerate(nouns):
        for j, true_noun in enumerate(truth):
            vector = np.asarray(vectors[noun], np.float64)
            cosine = float(vector @ np.asarray(vectors[true_noun], np.float64))
            out[i, j] = 1.0 if noun == true_noun else min(max(cosine, 0.0), 1.0)
    return out
