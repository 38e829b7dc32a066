"""Metrics ``vendi``, ``corpus-vendi`` and ``self-cider``: diversity as the spread of eigenvalues."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import numpy as np

from harness.contracts import Batch, Features, MeanMetric, MetricSpec
from harness.contracts.parameters import Ge, MayBeInfinite, check_arguments
from harness_metrics.bases.metrics import EmbeddingMetric, EmbeddingSpec, FitsInner
from harness_metrics.kernel.geometry import unit_vectors
from harness_metrics.ngram.cider import Cider, CiderScores, Df
from harness_metrics.sets.corpus_vectors import CorpusVectors

# --------------------------------------------------------------------------- eigenvalues
# Diversity of a set from the eigenvalues of its matrix of similarities: the Vendi score and Self-CIDEr.


def vendi(kernels: np.ndarray, q: float = 1.0) -> np.ndarray:
    """Return the Vendi score: the effective number of different items.

    Parameters
    ----------
    kernels : ndarray, shape (..., n, n)
        Symmetric positive semi-definite similarities with ones on the diagonal.
    q : float
        Order of the Renyi entropy, at least 0: 1 is Shannon's, ``inf`` that of the largest eigenvalue. Larger orders weigh rare items
        less.

    Returns
    -------
    ndarray, shape (...)
        From 1, for equal items, to n, for items without any similarity.

    References
    ----------
    Friedman & Dieng 2023, *The Vendi Score: A Diversity Evaluation Metric for Machine Learning*, definition 3.1; Pasarkar & Dieng 2024,
    *Cousins of the Vendi Score*, for other orders.

    Examples
    --------
    >>> vendi(np.array([np.eye(3), np.ones((3, 3))])).round(6).tolist()
    [3.0, 1.0]
    """
    return effective_number(np.linalg.eigvalsh(kernels) / kernels.shape[-1], q)


def effective_number(shares: np.ndarray, q: float = 1.0) -> np.ndarray:
    """Return exp of the Renyi entropy of order q of shares (..., n), which sum to 1; negative rounding errors count as 0."""
    p = np.maximum(shares, 0.0)
    if q == 1:
        return np.exp(-(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=-1))
    if math.isinf(q):
        return 1.0 / p.max(axis=-1)
    # Shares that are rounding errors would count as items of their own for small orders.
    powers = np.where(p > 1e-12, p, 0.0) ** q if q > 0 else (p > 1e-12).astype(np.float64)
    return powers.sum(axis=-1) ** (1.0 / (1.0 - q))


def unit_kernels(vectors: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return the cosines of vectors (B, n, d), float64, shape (B, n, n); 1 for texts with the same id (B, n), also for zero vectors."""
    unit = unit_vectors(vectors)
    kernels = unit @ unit.transpose(0, 2, 1)
    kernels[ids[:, :, None] == ids[:, None, :]] = 1.0
    return kernels


def singular_spread(kernels: np.ndarray) -> np.ndarray:
    """Return -log_n(sqrt(e_1) / sum of sqrt(e_i)) for the eigenvalues e_1 >= e_2 >= ... of each matrix: Self-CIDEr.

    Parameters
    ----------
    kernels : ndarray, shape (..., n, n)
        Symmetric similarities, n >= 2. The factor of a matrix does not matter.

    Returns
    -------
    ndarray, shape (...)
        From 0, for equal items, to 1, for items without any similarity; NaN for a matrix of zeros.

    References
    ----------
    Wang & Chan 2019, *Describing Like Humans: On Diversity in Image Captioning*, equations 4 to 7.

    Examples
    --------
    >>> singular_spread(np.array([np.eye(3), np.ones((3, 3))])).round(6).tolist()
    [1.0, 0.0]
    """
    values = np.linalg.eigvalsh(kernels)
    # Rounding errors of eigenvalues that are 0 would count with their square roots.
    largest = values[..., -1:]
    roots = np.sqrt(np.where(values > 1e-12 * largest, values, 0.0))
    total = roots.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, -np.log(roots[..., -1] / total) / math.log(kernels.shape[-1]), np.nan) + 0.0


# --------------------------------------------------------------------------- metrics

EntropyOrder = Annotated[float, Ge(0), MayBeInfinite] | Literal["inf"]
"""Order q of an entropy, which may be infinite."""


class Vendi(EmbeddingMetric, MeanMetric):
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

    @check_arguments
    def __init__(self, *, embedding: EmbeddingSpec = "minilm", q: EntropyOrder = 1.0) -> None:
        self.q = float(q)
        order = [] if self.q == 1 else [f"q={self.q:g}"]
        super().__init__("vendi", embedding, True, *order, references=False, settings=[f"q:{self.q:g}"])

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the Vendi score of the candidates of each example, shape (B,)."""
        vectors = features.vectors(self.embedding, batch.candidate_ids)
        return vendi(unit_kernels(vectors, batch.candidate_ids), self.q)


class CorpusVendi(CorpusVectors):
    """Effective number of different captions among all candidates of a run, at least 1; higher is more diverse.

    Parameters are those of :class:`Vendi`.
    """

    @check_arguments
    def __init__(self, *, embedding: EmbeddingSpec = "minilm", q: EntropyOrder = 1.0) -> None:
        self.q = float(q)
        options = [f"q={self.q:g}"] if self.q != 1 else []
        super().__init__(
            "corpus-vendi", embedding, True, *options, level="corpus", references=False, bounds=(1.0, math.inf), resampled=False
        )  # fmt: skip

    def value(self, candidates: np.ndarray, references: np.ndarray) -> float:
        """Return the Vendi score of vectors (n, d); zero vectors are left out, NaN if there are no others."""
        unit = unit_vectors(candidates)
        unit = unit[unit.any(axis=1)]
        if not len(unit):
            return float("nan")
        product = unit.T @ unit if len(unit) > unit.shape[1] else unit @ unit.T  # both have the same eigenvalues
        return float(effective_number(np.linalg.eigvalsh(product) / len(unit), self.q))


class SelfCider(FitsInner, MeanMetric):
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
        self.inner = Cider(df=df, tokenizer=tokenizer, variant="plain")
        self.spec = MetricSpec(
            "self-cider", True, "set", min_candidates=2, bounds=(0.0, 1.0),
            untestable="reads the candidates alone; the references give document frequencies", held_fixed=self.inner.spec.held_fixed,
        )  # fmt: skip

    def signature(self) -> str:
        """Return ``self-cider|`` and the signature of the similarity."""
        return f"self-cider|{self.inner.signature()}"

    def scores(self, batch: Batch, features: Features, state: CiderScores) -> np.ndarray:
        """Return Self-CIDEr of the candidates of each example, shape (B,); NaN where no n-gram has a weight."""
        rows = state.rows(batch, features)[:, : batch.n]
        kernels = state.pairs(rows, rows)
        return singular_spread(0.5 * (kernels + kernels.transpose(0, 2, 1)))
