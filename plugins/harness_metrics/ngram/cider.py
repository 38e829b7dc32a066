"""CIDEr and CIDEr-D: tf-idf weighted n-gram agreement of a candidate with its
references, and a distance from it.

The COCO caption toolkit prints the CIDEr-D formula under the name *CIDEr*; ``cider``
and ``ciderd`` are both that number.
"""

from __future__ import annotations

import logging
import os
import uuid
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np

from caption_kernels import cider_idf
from caption_kernels.batches import ngram
from caption_kernels.batches.ngram import SCALE
from harness.contracts import (
    Batch,
    Features,
    Interval,
    MeanMetric,
    MetricSpec,
    Objects,
    PathParam,
    Statistics,
)
from harness.contracts.parameters import check_arguments
from harness.errors import HarnessError
from harness.stats import bootstrap, forms
from harness_metrics.ngram.cider_refit import HELD_FIXED, TESTABLE_FROM, Refit
from harness_metrics.ngram.document_frequency import (
    Documents,
    Frequencies,
    Source,
    merge_frequencies,
)
from harness_metrics.tokenisers.text_rows import TextRows, text_rows_of
from harness_metrics.tokenisers.tokens import TokenizerName, check_tokenizer, signed
from harness_metrics.words.captions import words_object

Df = PathParam | os.PathLike[str] | Documents
Variant = Literal["d", "plain"]
_log = logging.getLogger(__name__)


class CiderScores:
    """Scores of pairs of texts under one set of document frequencies;
    texts are gram rows of an index.

    Parameters
    ----------
    texts : TextRows
        Index of the texts.
    frequencies : Frequencies
        Document frequencies of the n-grams of the index.
    plain : bool
        Use the original CIDEr, without clipping and length penalty, instead of CIDEr-D.
    """

    def __init__(
        self, texts: TextRows, frequencies: Frequencies, plain: bool = False
    ) -> None:
        self.key = uuid.uuid4().hex
        """Identifies these scores in caches."""
        self.texts = texts
        self.frequencies = frequencies
        self.plain = plain
        self.unseen = ngram.unseen_idf(frequencies.documents)
        self.stage: Literal["growing", "complete", "short"] = "growing"
        texts.tables.add(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.texts.tables.add(self)

    @property
    def counts(self) -> np.ndarray:
        """Number of documents that contain each n-gram, shape (n_grams,)."""
        return self.frequencies.counts

    @counts.setter
    def counts(self, counts: np.ndarray) -> None:
        self.frequencies = Frequencies(counts, self.frequencies.documents)
        self.__dict__.pop("idf", None)

    @cached_property
    def idf(self) -> np.ndarray:
        """Weight of each n-gram of the index; computed on first use, because the scores
        of a shard are merged unused.
        """
        return cider_idf(
            self.frequencies.counts.astype(np.int64), float(self.frequencies.documents)
        )

    def merge(self, second: CiderScores) -> Self:
        """Return the scores under the document frequencies of both."""
        return type(self)(
            self.texts,
            merge_frequencies(self.frequencies, second.frequencies),
            self.plain,
        )

    def forget_texts(self) -> None:
        """Drop all texts; the document frequencies of n-grams in several documents
        stay: those of one weigh as much as unseen ones.
        """
        self.stage = "complete" if self.stage == "growing" else self.stage
        self.texts.forget_texts()

    def pairs(self, hyp: np.ndarray, ref: np.ndarray) -> np.ndarray:
        """Return the scores (B, n, m), in [0, 10], of rows ``hyp`` (B, n) against
        single references ``ref`` (B, m).
        """
        return ngram.cider(
            self.texts.index, self.idf, self.unseen, hyp, ref, clip=not self.plain
        )

    def rows(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the gram rows (B, N) of the texts of a batch."""
        return self.texts.gram_rows(features, batch.text_ids)

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the scores (B, N, N) of all pairs of a batch, rows the hypothesis.

        The array is computed once per batch: metric, distance and p-value read the same
        one.
        """

        def build(full_batch: Batch) -> np.ndarray:
            rows = self.rows(full_batch, features)
            return self.pairs(rows, rows)

        return features.per_batch(("cider", self.key), batch, build)

    def block(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the scores (B, n, m) of the candidates against single references.

        The block is read from :meth:`matrices` where these exist; otherwise it alone is
        computed.
        """
        matrices = features.peek(("cider", self.key), batch)
        if matrices is not None:
            return matrices[:, : batch.n, batch.n :]
        rows = self.rows(batch, features)
        return self.pairs(rows[:, : batch.n], rows[:, batch.n :])


def _task_scores(
    source: Source, tokenizer: str, plain: bool, features: Features
) -> CiderScores:
    """Return the scores under the references of the whole task,
    or under a table or lists of texts.

    Metrics and distances of one source, tokeniser and variant share them in a run: the
    key is that of the state of the metric.
    """

    def build() -> CiderScores:
        texts = text_rows_of(features, tokenizer)
        return CiderScores(texts, source.frequencies(texts, features), plain)

    variant = "plain" if plain else "d"
    key = ("state", f"cider-{variant}|df:{source.name}|tok:{signed(tokenizer)}")
    return features.memo(key, build)


class Cider(MeanMetric):
    """CIDEr as the COCO caption toolkit prints it: mean over candidates, in [0,
    10]; higher is better.

    With one document (N = 1) all idf weights are log 1 = 0, and the scores are
    undefined: NaN, with one line in the log.

    Parameters
    ----------
    df : str, path or list of lists of str
        Source of the document frequencies
        (:mod:`harness_metrics.ngram.document_frequency`): ``references``, ``given``, a
        table's path, or lists of texts. ``resampled``: the references of the examples
        that are reduced, which is the number of ``references`` when every example has a
        score; resampling refits the frequencies. Scores per example and p-values are
        those of ``references``.
    tokenizer : str
        As for :class:`~harness_metrics.ngram.bleu.Bleu`.
    variant : str
        ``d`` (default), the CIDEr-D formula with clipped counts and length penalty, or
        ``plain``, the original CIDEr without both, on the same scale.

    References
    ----------
    Vedantam, Zitnick & Parikh (2015), "CIDEr: Consensus-based Image Description
    Evaluation", sections 4.1 and 4.2.
    """

    name = "cider"
    counts_end = True
    """Rewards may count the end of a sentence as a word,
    as self-critical training does.
    """

    @check_arguments
    def __init__(
        self,
        *,
        df: Df = "references",
        tokenizer: TokenizerName = "ptb",
        variant: Variant = "d",
    ) -> None:
        self.variant: Variant = variant
        self.resampled = isinstance(df, str) and df == "resampled"
        self.source = Source("references" if self.resampled else df)
        self.tokenizer = check_tokenizer(tokenizer)
        label = self.name if variant == "d" else f"{self.name}(plain)"
        held_fixed = "" if self.resampled else _interval_note(self.source)
        testable_from = _testable_from(self.source)
        self.spec = MetricSpec(
            name=label,
            higher_is_better=True,
            bounds=(0.0, SCALE),
            held_fixed=held_fixed,
            testable_from=testable_from,
        )

    def signature(self) -> str:
        """Return the variant, the source of the document frequencies and the tokeniser
        as one string.
        """
        source = "resampled" if self.resampled else self.source.name
        return f"cider-{self.variant}|df:{source}|tok:{signed(self.tokenizer)}"

    def fit(
        self, references: Sequence[Sequence[str]], features: Features
    ) -> CiderScores:
        """Return the pair scores under the document frequencies that ``df`` selects."""
        plain = self.variant == "plain"
        of_task = self.source.name == "task" and references is features.references
        if of_task or not self.source.fits_references:
            return _task_scores(self.source, self.tokenizer, plain, features)

        texts = text_rows_of(features, self.tokenizer)
        frequencies = self.source.frequencies(texts, fitted=references)
        return CiderScores(texts, frequencies, plain)

    def merge(self, first: CiderScores, second: CiderScores) -> CiderScores:
        """Return the pair scores under the document frequencies of two shards
        together.
        """
        return first.merge(second) if self.source.fits_references else first

    def scores(
        self, batch: Batch, features: Features, state: CiderScores
    ) -> np.ndarray:
        """Return the mean score over candidates and references of each example, shape
        (B,), in [0, 10]; NaN with one document.
        """
        return self.candidate_scores(batch, features, state).mean(axis=1)

    def candidate_scores(
        self, batch: Batch, features: Features, state: CiderScores
    ) -> np.ndarray:
        """Return the mean score over references of each candidate, shape (B, n), in [0,
        10]; NaN with one document.
        """
        if state.frequencies.documents == 1:
            _log.warning(
                "%s: one document: all idf weights are 0; use df=TABLE", self.spec.name
            )
            return np.full((len(batch), batch.n), np.nan)
        return state.block(batch, features).mean(axis=2)

    def stats(self, batch: Batch, features: Features, state: CiderScores) -> Any:
        """Return the scores, shape (B, 1); for ``resampled`` objects of the score and
        the words of the captions.
        """
        scores = super().stats(batch, features, state)
        if not self.resampled:
            return scores

        rows: list[dict[str, np.ndarray] | None] = []
        for ids, score in zip(batch.text_ids, scores):
            words = words_object(features, ids, batch.n, self.tokenizer)
            rows.append(None if np.isnan(score[0]) else {**words, "score": score})
        return Objects.of(rows, self.name)

    def per_example(self, stats: Statistics) -> np.ndarray:
        """Return the scores, shape (B,)."""
        if isinstance(stats, Objects):
            return stats.values("score")
        return super().per_example(stats)

    def reduce(self, stats: Any, weights: np.ndarray | None = None) -> Any:
        """Return the mean score, or means (W,) for weights (W, B); ``resampled`` refits
        the frequencies to each weight vector.
        """
        if not self.resampled:
            return super().reduce(stats, weights)
        if not len(stats):
            return float("nan")

        refit = self._refit(stats)
        if weights is None:
            return refit.value(np.ones(len(stats)))
        rows = np.asarray(weights, dtype=np.float64)
        return np.array([refit.value(row) for row in rows])

    def _refit(self, stats: Statistics) -> Refit:
        if not isinstance(stats, Objects):
            raise HarnessError(
                f"{self.name}: the statistics have no words of captions; "
                "run the spec again"
            )
        return Refit(stats, self.variant == "plain")

    def interval(self, stats: Any, samples: int, seed: int) -> Interval:
        """Return the interval of the mean under fixed document frequencies, or for
        ``resampled`` under refitted ones.
        """
        if self.resampled:
            return self._refit(stats).interval(seed)

        if len(stats) >= bootstrap.LARGE:
            _, ends = bootstrap.large_interval(
                self, stats, float(self.reduce(stats)), samples, seed
            )
        else:
            ends = bootstrap.confidence_interval(
                lambda w: self.reduce(stats, w), len(stats), samples, seed
            )
        if ends is None:
            return Interval(None, bootstrap.NO_SPREAD)

        note = ""
        if self.spec.held_fixed:
            note = f"{self.spec.held_fixed}; df: resampled refits them"
        return Interval(ends, note)

    def _forms(
        self, batch: Batch, features: Features, state: CiderScores
    ) -> np.ndarray:
        """Return the forms (B, N, N) whose values are the mean over pairs (candidate,
        reference).
        """
        return state.matrices(batch, features) / (batch.n * batch.m)

    def null(
        self, batch: Batch, features: Features, state: CiderScores, labels: np.ndarray
    ) -> np.ndarray:
        """Return the scores (B, P) under the relabelings ``labels`` (P, N),
        True = candidate.
        """
        return forms.evaluate(self._forms(batch, features, state), labels)

    def exact_p_values(
        self, batch: Batch, features: Features, state: CiderScores
    ) -> np.ndarray:
        """Return the permutation p-values (B,) over all relabelings;
        lower scores are more extreme.
        """
        mean_forms = self._forms(batch, features, state)
        return forms.exact_p_values(mean_forms, batch.n, "lower")


def _interval_note(source: Source) -> str:
    """Return the note of intervals under document frequencies of the references;
    empty for a table.
    """
    return HELD_FIXED if source.name in ("task", "given") else ""


def _testable_from(source: Source) -> int:
    """Return the number of examples from which on there are p-values: any, unless the
    references of the task are the documents.
    """
    return TESTABLE_FROM if source.fits_references else 0


class CiderD(Cider):
    """CIDEr-D under its own name: the same number as :class:`Cider`.

    Parameters
    ----------
    df, tokenizer
        As in :class:`Cider`.
    """

    name = "ciderd"

    def __init__(
        self, *, df: Df = "references", tokenizer: TokenizerName = "ptb"
    ) -> None:
        super().__init__(df=df, tokenizer=tokenizer)


class CiderDistance:
    """10 - CIDEr-D of a hypothesis against one reference, in [0, 10];
    exactly 0 for equal token sequences.

    Equal sequences are set to 0, because a text of fewer than four words, or whose
    n-grams occur in all documents, scores below 10 against itself. By the
    Cauchy-Schwarz inequality no score exceeds 10; negative distances from rounding, a
    few units in the last place, are set to 0. Not symmetric.

    Parameters
    ----------
    df, tokenizer
        As in :class:`Cider`.
    """

    name = "cider"

    def __init__(
        self, *, df: Df = "references", tokenizer: TokenizerName = "ptb"
    ) -> None:
        self.source = Source(df)
        self.tokenizer = check_tokenizer(tokenizer)

    def signature(self) -> str:
        """Return the source of the document frequencies and the tokeniser as one
        string.
        """
        return f"cider|df:{self.source.name}|tok:{signed(self.tokenizer)}"

    @property
    def held_fixed(self) -> str:
        """Note of intervals of metrics of this distance: document frequencies of the
        references; empty for a table.
        """
        return _interval_note(self.source)

    @property
    def testable_from(self) -> int:
        """Number of examples from which on metrics of this distance have p-values."""
        return _testable_from(self.source)

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the distances (B, N, N) of all pairs, rows the hypothesis."""
        scores = _task_scores(self.source, self.tokenizer, False, features)
        rows = scores.rows(batch, features)
        distances = np.maximum(SCALE - scores.matrices(batch, features), 0.0)
        distances[rows[:, :, None] == rows[:, None, :]] = 0.0
        return distances


@check_arguments
def matrix(
    texts: Sequence[str],
    *,
    df: Df | None = None,
    tokenizer: TokenizerName = "ptb",
    variant: Variant = "d",
) -> np.ndarray:
    """Return the scores of all pairs of texts.

    Parameters
    ----------
    texts : sequence of str
        T texts.
    df : path or list of lists of str, optional
        A table's path or lists of texts. By default each text is a document of its own
        (N = T), so that a pair's score depends on the other texts.
    tokenizer, variant
        As in :class:`Cider`.

    Returns
    -------
    ndarray
        Shape (T, T), in [0, 10], rows the hypothesis, columns the single reference.

    Raises
    ------
    HarnessError
        For an unknown variant, or a ``df`` that names the references of a task.

    Examples
    --------
    >>> matrix(["a dog runs", "a dog", "the cat"], tokenizer="none").round(2).tolist()
    [[7.5, 1.99, 0.0], [1.99, 5.0, 0.0], [0.0, 0.0, 5.0]]
    """
    if isinstance(df, str) and df in ("references", "task", "given"):
        raise HarnessError(
            f"cider.matrix has no task, so df is not {df!r}; "
            "expected a table's path or lists of texts"
        )

    own = TextRows(check_tokenizer(tokenizer))
    rows = own.index.gram_rows(own.add(list(texts)))
    if df is None:
        documents = own.index.document_frequencies(rows, np.arange(len(rows) + 1))
        frequencies = Frequencies(documents, max(1, len(rows)))
    else:
        frequencies = Source(df).frequencies(own)

    scores = CiderScores(own, frequencies, variant == "plain")
    # One reference per item: threads share the columns.
    hypotheses = np.broadcast_to(rows, (len(rows), len(rows)))
    columns = scores.pairs(hypotheses, rows[:, None])[:, :, 0]
    return columns.T.copy()
