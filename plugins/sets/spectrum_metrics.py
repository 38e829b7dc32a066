"""Metrics ``vendi``, ``corpus-vendi`` and ``self-cider``: diversity as the spread of eigenvalues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import registry
from harness.contracts import Batch, Embedding, Features, MeanMetric, MetricSpec
from harness.plugins.ngram.cider import Cider, CiderScores, Df
from harness.plugins.ngram.document_frequency import Frequencies
from harness.plugins.sets import spectrum
from harness.plugins.sets.checks import check_order_of_entropy
from harness.plugins.sets.corpus_vectors import CorpusVectors, EmbeddingSpec


class Vendi(MeanMetric):
    """Effective number of different candidates of an example, in [1, n]; higher is more diverse.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance; similarities are cosines.
    q : float, default 1
        Order of the entropy, at least 0; ``inf`` is allowed.

    Raises
    ------
    HarnessError
        For a negative ``q``.

    References
    ----------
    Friedman & Dieng 2023, *The Vendi Score: A Diversity Evaluation Metric for Machine Learning*.
    """

    def __init__(self, *, embedding: EmbeddingSpec = "minilm", q: float = 1.0) -> None:
        self.embedding: Embedding = registry.resolve("embeddings", embedding)
        self.q = check_order_of_entropy(q, "vendi")
        order = "" if self.q == 1 else f", q={self.q:g}"
        needs = frozenset({"embeddings"}) | frozenset(getattr(self.embedding, "needs", ()))
        self.spec = MetricSpec(f"vendi({self.embedding.name}{order})", True, "set", needs)

    def signature(self) -> str:
        """Return the order and the signature of the embedding, such as ``vendi|q:1|minilm``."""
        return f"vendi|q:{self.q:g}|{self.embedding.signature()}"

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the Vendi score of the candidates of each example, shape (B,)."""
        vectors = features.vectors(self.embedding, batch.candidate_ids)
        return spectrum.vendi(spectrum.unit_kernels(vectors, batch.candidate_ids), self.q)


class CorpusVendi(CorpusVectors):
    """Effective number of different captions among all candidates of a run, at least 1; higher is more diverse.

    Parameters are those of :class:`Vendi`.
    """

    def __init__(self, *, embedding: EmbeddingSpec = "minilm", q: float = 1.0) -> None:
        self.q = check_order_of_entropy(q, "corpus-vendi")
        super().__init__("corpus-vendi", embedding, True, *([f"q={self.q:g}"] if self.q != 1 else []), references=False)

    def value(self, candidates: np.ndarray, references: np.ndarray) -> float:
        """Return the Vendi score of vectors (n, d); zero vectors are left out, NaN if there are no others."""
        unit = spectrum.unit_vectors(candidates)
        unit = unit[unit.any(axis=1)]
        if not len(unit):
            return float("nan")
        product = unit.T @ unit if len(unit) > unit.shape[1] else unit @ unit.T  # both have the same eigenvalues
        return float(spectrum.effective_number(np.linalg.eigvalsh(product) / len(unit), self.q))


class SelfCider(MeanMetric):
    """Diversity of the candidates of an example in n-grams weighted by their rarity, in [0, 1]; higher is more diverse.

    The similarity of two candidates is the original CIDEr, without clipping and length penalty, so that the matrix is positive
    semi-definite. An example is undefined if no candidate has an n-gram with a weight.

    Parameters
    ----------
    df : str, path or list of lists of str
        Source of the document frequencies, as for ``cider``.
    tokenizer : str
        ``ptb`` (default), ``java-ptb`` or ``none``.

    References
    ----------
    Wang & Chan 2019, *Describing Like Humans: On Diversity in Image Captioning*, section 3.
    """

    def __init__(self, *, df: Df = "references", tokenizer: str = "ptb") -> None:
        self.cider = Cider(df=df, tokenizer=tokenizer, variant="plain")
        self.spec = MetricSpec("self-cider", True, "set", min_candidates=2, bounds=(0.0, 1.0))
        self.untestable = "reads the candidates alone; the references give document frequencies"

    def signature(self) -> str:
        """Return ``self-cider|`` and the signature of the similarity."""
        return f"self-cider|{self.cider.signature()}"

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> CiderScores:
        """Return the pair scores under the document frequencies that ``df`` selects."""
        return self.cider.fit(references, features)

    def partial_fit(self, references: Sequence[Sequence[str]], features: Features) -> Frequencies | None:
        """Return the document frequencies of one shard's references."""
        return self.cider.partial_fit(references, features)

    def merge_fits(self, first: Frequencies | None, second: Frequencies | None) -> Frequencies | None:
        """Return the document frequencies of two shards together."""
        return self.cider.merge_fits(first, second)

    def finish_fit(self, part: Frequencies | None, features: Features) -> CiderScores:
        """Return the pair scores under the merged document frequencies."""
        return self.cider.finish_fit(part, features)

    def scores(self, batch: Batch, features: Features, state: CiderScores) -> np.ndarray:
        """Return Self-CIDEr of the candidates of each example, shape (B,); NaN where no n-gram has a weight."""
        rows = state.rows(batch, features)[:, : batch.n]
        kernels = state.pairs(rows, rows)
        return spectrum.singular_spread(0.5 * (kernels + kernels.transpose(0, 2, 1)))
