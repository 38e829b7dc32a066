"""CIDEr and CIDEr-D: tf-idf weighted n-gram agreement with the references, and all pairs of it.

What the COCO toolkit prints as *CIDEr* is the CIDEr-D formula; ``cider`` and ``ciderd`` are both that number.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from harness.contracts import Batch, Features, MeanMetric, MetricSpec, PathParam
from harness.errors import HarnessError
from harness.plugins.compiled.chunks import run_slices
from harness.plugins.ngram.cider_formula import SCALE, SIGMA
from harness.plugins.ngram.document_frequency import Documents, Frequencies, Source
from harness.plugins.ngram.index import ORDERS, NgramIndex, grown, index_of, kernels, rows_of
from harness.plugins.tokenisers.tokens import check_tokenizer, tokenize
from harness.stats import forms

Df = PathParam | os.PathLike[str] | Documents
Variant = Literal["d", "plain"]


class CiderScores:
    """Pair scores under one set of document frequencies; texts are rows of its n-gram index."""

    def __init__(self, index: NgramIndex, frequencies: Frequencies, tokenizer: str, plain: bool = False) -> None:
        kernels()  # says what to install, before anything else can fail
        self.index = index
        self.frequencies = frequencies
        self.tokenizer = tokenizer
        self.plain = plain
        self._log_n = np.log(float(frequencies.documents))
        self._weights = np.zeros(0)
        self._norms = np.zeros((0, ORDERS))
        self._done = 0
        self._pairs: weakref.WeakKeyDictionary[Batch, np.ndarray] = weakref.WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_pairs"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._pairs = weakref.WeakKeyDictionary()

    def _weigh(self) -> None:
        """Weights and norms of the rows that were added to the index since the last call."""
        index = self.index
        if self._done == index.n_rows:
            return
        from harness.plugins.ngram import cider_kernels

        idf = np.full(index.n_grams, self._log_n)
        known = self.frequencies.counts
        idf[: len(known)] -= np.log(np.arange(1, known.max(initial=1) + 1.0))[np.maximum(known, 1) - 1]
        self._weights = grown(self._weights, index.n_entries)
        self._norms = grown(self._norms, index.n_rows)
        cider_kernels.weigh(
            self._done, index.n_rows, index.bounds, index.ids, index.counts, idf, self._weights, self._norms
        )
        self._done = index.n_rows

    def pairs(self, hyp: np.ndarray, ref: np.ndarray) -> np.ndarray:
        """(B, n, m) scores in [0, 10] of rows ``hyp`` (B, n) against single references, rows ``ref`` (B, m)."""
        from harness.plugins.ngram import cider_kernels

        self._weigh()
        index = self.index
        bigrams = np.maximum(index.lengths - 1, 0)
        longest = int(max(bigrams[hyp].max(initial=0), bigrams[ref].max(initial=0)))
        penalty = np.e ** (-(np.arange(longest + 1.0) ** 2) / (2 * SIGMA**2))
        out = np.empty((len(hyp), hyp.shape[1], ref.shape[1]))

        def work(start: int, stop: int) -> None:
            cider_kernels.score_pairs(
                hyp[start:stop], ref[start:stop], index.bounds, index.ids, self._weights, self._norms, bigrams,
                penalty, not self.plain, np.zeros(index.n_grams), out[start:stop],
            )  # fmt: skip

        run_slices(work, len(hyp), pairs=out[:1].size)
        return out

    def rows(self, batch: Batch, features: Features) -> np.ndarray:
        """(B, N) rows of a batch's texts."""
        return rows_of(features, batch.text_ids, self.tokenizer, self.index)

    def known_matrices(self, batch: Batch) -> np.ndarray | None:
        """The (B, N, N) scores of a batch (or of its parent, sliced) where they have been computed."""
        if batch.parent is not None and batch.columns is not None:
            whole = self.known_matrices(batch.parent)
            return None if whole is None else whole[:, batch.columns[:, None], batch.columns]
        return self._pairs.get(batch)

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        """(B, N, N) scores, rows the hypothesis, computed once per batch: metric, distance and p-value read the same."""
        if batch.parent is not None and batch.columns is not None:
            return self.matrices(batch.parent, features)[:, batch.columns[:, None], batch.columns]
        found = self._pairs.get(batch)
        if found is None:
            rows = self.rows(batch, features)
            found = self._pairs[batch] = self.pairs(rows, rows)
        return found


def _scores(source: Source, tokenizer: str, plain: bool, features: Features, references: Documents = ()) -> CiderScores:
    """The pair scores that all users of one df, tokeniser and variant share in a run."""

    def build() -> CiderScores:
        index = index_of(features, tokenizer)
        return CiderScores(index, source.frequencies(index, tokenizer, features, references), tokenizer, plain)

    if source.name == "given":  # differs with every fit
        return build()
    return features.memo(("cider", source.name, tokenizer, plain), build)


class Cider(MeanMetric):
    """CIDEr as the COCO toolkit prints it, mean over the candidates, in [0, 10]; higher is better.

    ``df``: where document frequencies come from (:mod:`harness.plugins.ngram.document_frequency`). ``tokenizer``: ``ptb``,
    ``java-ptb`` or ``none``. ``variant``: ``d``, the toolkit's CIDEr-D formula (clipped counts, length penalty), or ``plain``,
    the original CIDEr without either, on the same scale. With one document (N = 1) every score is 0.
    """

    name = "cider"

    def __init__(self, *, df: Df = "references", tokenizer: str = "ptb", variant: Variant = "d") -> None:
        if variant not in ("d", "plain"):
            raise HarnessError(f"{self.name}: variant is 'd' or 'plain'; found {variant!r}")
        self.source = Source(df)
        self.tokenizer = check_tokenizer(tokenizer)
        self.variant = variant
        label = self.name if variant == "d" else f"{self.name}(plain)"
        self.spec = MetricSpec(name=label, higher_is_better=True, bounds=(0.0, SCALE))

    def signature(self) -> str:
        return f"cider-{self.variant}|df:{self.source.name}|tok:{self.tokenizer}"

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> CiderScores:
        return _scores(self.source, self.tokenizer, self.variant == "plain", features, references)

    def scores(self, batch: Batch, features: Features, state: CiderScores) -> np.ndarray:
        return self._block(batch, features, state).mean(axis=2).mean(axis=1)

    def _block(self, batch: Batch, features: Features, state: CiderScores) -> np.ndarray:
        """(B, n, m) scores of the candidates against the single references."""
        known = state.known_matrices(batch)
        if known is not None:
            return known[:, : batch.n, batch.n :]
        rows = state.rows(batch, features)
        return state.pairs(rows[:, : batch.n], rows[:, batch.n :])

    def _forms(self, batch: Batch, features: Features, state: CiderScores) -> np.ndarray:
        """(B, N, N): the mean over pairs (candidate, reference) is a form in the labels."""
        return state.matrices(batch, features) / (batch.n * batch.m)

    def null(self, batch: Batch, features: Features, state: CiderScores, labels: np.ndarray) -> np.ndarray:
        return forms.evaluate(self._forms(batch, features, state), labels)

    def exact_p_values(self, batch: Batch, features: Features, state: CiderScores) -> np.ndarray:
        return forms.exact_p_values(self._forms(batch, features, state), batch.n, "lower")


class CiderD(Cider):
    """CIDEr-D by its own name: the same number as ``cider``."""

    name = "ciderd"

    def __init__(self, *, df: Df = "references", tokenizer: str = "ptb") -> None:
        super().__init__(df=df, tokenizer=tokenizer)


class CiderDistance:
    """10 - CIDEr-D(hyp, ref), one reference; equal token sequences give exactly 0.

    Without that rule a text of fewer than four words (or whose every n-gram stands in all documents) would be far from
    itself. By the Cauchy-Schwarz inequality a score never passes 10; rounding may by a few units of the last place, and
    that much is cut off.
    """

    name = "cider"

    def __init__(self, *, df: Df = "references", tokenizer: str = "ptb") -> None:
        self.source = Source(df)
        self.tokenizer = check_tokenizer(tokenizer)

    def signature(self) -> str:
        return f"cider|df:{self.source.name}|tok:{self.tokenizer}"

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        scores = _scores(self.source, self.tokenizer, False, features)
        rows = scores.rows(batch, features)
        distances = np.maximum(SCALE - scores.matrices(batch, features), 0.0)
        distances[rows[:, :, None] == rows[:, None, :]] = 0.0
        return distances


def matrix(texts: Sequence[str], *, df: Df | None = None, tokenizer: str = "ptb", variant: Variant = "d") -> np.ndarray:
    """(T, T) scores in [0, 10], rows the hypothesis, columns the single reference.

    ``df``: a table's path or lists of texts; by default every one of ``texts`` is a document of its own (N = T), so the
    numbers depend on the company a text keeps.

    >>> matrix(["a dog runs", "a dog", "the cat"], tokenizer="none").round(2).tolist()
    [[7.5, 1.99, 0.0], [1.99, 5.0, 0.0], [0.0, 0.0, 5.0]]
    """
    if variant not in ("d", "plain"):
        raise HarnessError(f"cider: variant is 'd' or 'plain'; found {variant!r}")
    if isinstance(df, str) and df in ("references", "task", "given"):
        raise HarnessError(f"cider.matrix has no task: df={df!r} is for metrics; give a table's path or lists of texts")
    index = NgramIndex()
    rows = index.add(tokenize(texts, check_tokenizer(tokenizer)))
    if df is None:
        frequencies = Frequencies(index.document_frequencies(list(rows[:, None])), max(1, len(rows)))
    else:
        frequencies = Source(df).frequencies(index, tokenizer)
    scores = CiderScores(index, frequencies, tokenizer, variant == "plain")
    # One reference an item, so that columns are shared between threads and a reference is laid out once.
    return scores.pairs(np.broadcast_to(rows, (len(rows), len(rows))), rows[:, None])[:, :, 0].T.copy()
