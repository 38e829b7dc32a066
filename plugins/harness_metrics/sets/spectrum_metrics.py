"""Metrics ``vendi``, ``corpus-vendi`` and ``self-cider``:
diversity as the spread of eigenvalues.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import numpy as np

from harness.contracts import Batch, Features, MeanMetric, MetricSpec
from harness.contracts.parameters import Ge, MayBeInfinite, check_arguments
from harness_metrics.bases.embedding_metric import EmbeddingMetric, EmbeddingSpec
from harness_metrics.bases.inner_metric import FitsInner
from harness_metrics.kernel.geometry import unit_vectors, without_each
from harness_metrics.ngram.cider import Cider, CiderScores, Df
from harness_metrics.sets import spectrum
from harness_metrics.sets.corpus_vectors import CorpusVectors
from harness_metrics.tokenisers.tokens import TokenizerName

EntropyOrder = Annotated[float, Ge(0), MayBeInfinite] | Literal["inf"]
"""Order q of an entropy, which may be infinite."""


class Vendi(EmbeddingMetric, MeanMetric):
    """Effective number of different candidates of an example, in [1, n];
    higher is more diverse.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance; similarities
        are cosines.
    q : float, default 1
        Order of the entropy, at least 0; ``inf`` is allowed.

    Raises
    ------
    HarnessError
        For a negative ``q``.

    References
    ----------
    Friedman & Dieng 2023, *The Vendi Score: A Diversity Evaluation Metric for Machine
    Learning*.
    """

    @check_arguments
    def __init__(
        self, *, embedding: EmbeddingSpec = "minilm", q: EntropyOrder = 1.0
    ) -> None:
        self.q = float(q)
        order = [] if self.q == 1 else [f"q={self.q:g}"]
        super().__init__(
            "vendi",
            embedding,
            True,
            *order,
            references=False,
            settings=[f"q:{self.q:g}"],
            bounds=(1.0, math.inf),
        )

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the Vendi score of the candidates of each example, shape (B,)."""
        return spectrum.vendi(self._kernels(batch, features), self.q)

    def credits(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the Vendi score of the candidates less that without candidate i,
        shape (B, n).
        """
        kernels = self._kernels(batch, features)
        of_all = spectrum.vendi(kernels, self.q)
        left_out = spectrum.vendi(without_each(kernels, batch.n), self.q)
        return of_all[:, None] - left_out

    def _kernels(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the similarities of the candidates, shape (B, n, n)."""
        vectors = features.set_vectors(self.embedding, batch.candidate_ids)
        return spectrum.unit_kernels(vectors, batch.candidate_ids)


class CorpusVendi(CorpusVectors):
    """Effective number of different captions among all candidates of a run,
    at least 1; higher is more diverse.

    Parameters are those of :class:`Vendi`.
    """

    @check_arguments
    def __init__(
        self, *, embedding: EmbeddingSpec = "minilm", q: EntropyOrder = 1.0
    ) -> None:
        self.q = float(q)
        options = [f"q={self.q:g}"] if self.q != 1 else []
        super().__init__(
            "corpus-vendi",
            embedding,
            True,
            *options,
            level="corpus",
            references=False,
            bounds=(1.0, math.inf),
            resampled=False,
        )

    def value(self, candidates: np.ndarray, references: np.ndarray) -> float:
        """Return the Vendi score of vectors (n, d); zero vectors are left out,
        NaN if there are no others.
        """
        unit = unit_vectors(candidates)
        unit = unit[unit.any(axis=1)]
        if not len(unit):
            return float("nan")

        # the smaller of two products, which have the same eigenvalues
        product = unit.T @ unit if len(unit) > unit.shape[1] else unit @ unit.T
        shares = np.linalg.eigvalsh(product) / len(unit)
        return float(spectrum.effective_number(shares, self.q))


class SelfCider(FitsInner, MeanMetric):
    """Diversity of the candidates of an example in n-grams weighted by their rarity, in
    [0, 1]; higher is more diverse.

    The similarity of two candidates is the original CIDEr, without clipping and length
    penalty, so that the matrix is positive semi-definite. An example is undefined if no
    candidate has an n-gram with a weight.

    Parameters
    ----------
    df : str, path or list of lists of str
        Source of the document frequencies, as for ``cider``.
    tokenizer : str
        As for :class:`~harness_metrics.ngram.bleu.Bleu`.

    References
    ----------
    Wang & Chan 2019, *Describing Like Humans: On Diversity in Image Captioning*,
    section 3.
    """

    def __init__(
        self, *, df: Df = "references", tokenizer: TokenizerName = "ptb"
    ) -> None:
        self.inner = Cider(df=df, tokenizer=tokenizer, variant="plain")
        self.spec = MetricSpec(
            "self-cider",
            True,
            "set",
            min_candidates=2,
            bounds=(0.0, 1.0),
            compares_references=False,
            untestable="reads the candidates alone; "
            "the references give document frequencies",
            held_fixed=self.inner.spec.held_fixed,
        )

    def signature(self) -> str:
        """Return ``self-cider|`` and the signature of the similarity."""
        return f"self-cider|{self.inner.signature()}"

    def scores(
        self, batch: Batch, features: Features, state: CiderScores
    ) -> np.ndarray:
        """Return Self-CIDEr of the candidates of each example, shape (B,);
        NaN where no n-gram has a weight.
        """
        return spectrum.singular_spread(_symmetric_scores(batch, features, state))

    def credits(
        self, batch: Batch, features: Features, state: CiderScores
    ) -> np.ndarray:
        """Return Self-CIDEr of the candidates less that without candidate i,
        shape (B, n).
        """
        kernels = _symmetric_scores(batch, features, state)
        of_all = spectrum.singular_spread(kernels)
        left_out = spectrum.singular_spread(without_each(kernels, batch.n))
        return of_all[:, None] - left_out


def _symmetric_scores(
    batch: Batch, features: Features, state: CiderScores
) -> np.ndarray:
    """Return the similarities of the candidates, shape (B, n, n)."""
    rows = state.rows(batch, features)[:, : batch.n]
    kernels = state.pairs(rows, rows)
    return 0.5 * (kernels + kernels.transpose(0, 2, 1))
