"""METEOR as a metric and as a distance, as the COCO caption toolkit computes it:
PTB tokens, then alignment.

Metric, null and distance of a run share their alignments through the feature cache.
Scores equal those of meteor-1.5.jar.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from caption_kernels.batches import ngram
from caption_kernels.batches.meteor import (
    N_STATISTICS,
    Aligned,
    Groups,
    scores_of,
    summable,
)
from harness.contracts import Batch, Cost, Features, MetricSpec, SumMetric
from harness.errors import UnknownName, did_you_mean
from harness_metrics.meteor.engine import PreparedTexts
from harness_metrics.meteor.installed import start_loading
from harness_metrics.tokenisers.java_runtime import java_command
from harness_metrics.tokenisers.text_rows import text_rows_of
from harness_metrics.tokenisers.tokens import (
    TokenizerName,
    check_tokenizer,
    signed,
    tokens_of,
)

if TYPE_CHECKING:
    from harness_metrics.meteor.java import JavaTexts

ENGINES = ("python", "java")

_ALIGNED = np.dtype(
    [("score", np.float64), ("statistics", np.int32, (N_STATISTICS,))], align=True
)
"""Alignment of one pair of texts."""


class Alignments:
    """Alignments of the batches of one run,
    computed once per batch and engine and kept in the feature cache.

    Parameters
    ----------
    features : Features
    tokenizer : str
        Name of the tokeniser.
    engine : str
        ``python`` or ``java``.
    """

    def __init__(self, features: Features, tokenizer: str, engine: str) -> None:
        self._features = features
        self._tokenizer = tokenizer
        self._engine = engine

    def candidates_with_references(self, batch: Batch) -> np.ndarray:
        """Return the alignments (B, n, m) of each candidate with each reference: fields
        ``score`` and ``statistics`` (23 int32).
        """

        def build(full_batch: Batch) -> np.ndarray:
            pairs = _candidate_reference(full_batch)
            aligned = self._align(full_batch, pairs, with_statistics=True)

            shape = len(full_batch), full_batch.n * full_batch.m
            out = np.empty(shape, dtype=_ALIGNED)
            out["score"] = aligned.scores
            out["statistics"] = aligned.statistics
            return out.reshape(len(full_batch), full_batch.n, full_batch.m)

        return self._features.per_batch(
            self._key("candidates-references"), batch, build, _cut_candidates_references
        )

    def matrices(self, batch: Batch) -> np.ndarray:
        """Return the scores (B, N, N) of all pairs, rows the hypothesis,
        columns the reference; read-only.
        """

        def build(full_batch: Batch) -> np.ndarray:
            across = _candidate_reference(full_batch)
            size = full_batch.n + full_batch.m
            out = np.empty((len(full_batch), size, size))

            # The score of an example has aligned these pairs already.
            scores = self.candidates_with_references(full_batch)["score"]
            out[:, across] = scores.reshape(len(full_batch), -1)
            others = self._align(full_batch, ~across, with_statistics=False)
            out[:, ~across] = others.scores
            return out

        return self._features.per_batch(self._key("matrices"), batch, build)

    def same_words(self, batch: Batch) -> np.ndarray:
        """Return a bool array (B, N, N), True for two texts that have the same words
        after tokenising and normalising.
        """
        numbers = self._texts().same_words(self._rows(batch))
        return numbers[:, :, None] == numbers[:, None, :]

    def _key(self, values: str) -> tuple[str, ...]:
        return ("meteor", values, self._tokenizer, self._engine)

    def _align(
        self, batch: Batch, pairs: np.ndarray, *, with_statistics: bool
    ) -> Aligned:
        return self._texts().align_pairs(
            self._rows(batch), pairs, with_statistics=with_statistics
        )

    def _rows(self, batch: Batch) -> np.ndarray:
        """Return the ids (B, N) of the tokenised texts in the engine's table."""
        distinct, inverse = np.unique(batch.text_ids, return_inverse=True)
        table = self._texts()
        if isinstance(table, PreparedTexts):
            texts = text_rows_of(self._features, self._tokenizer)
            rows = table.add_rows(texts.index, texts.rows(self._features, distinct))
        else:
            rows = table.intern(tokens_of(self._features, distinct, self._tokenizer))
        return rows[inverse].reshape(batch.text_ids.shape)

    def _texts(self) -> PreparedTexts | JavaTexts:
        new_table = _new_java_texts if self._engine == "java" else PreparedTexts
        return self._features.memo(self._key("texts"), new_table)


def align_groups(features: Features, groups: Groups, tokenizer: str = "ptb") -> Aligned:
    """Align pairs of groups of interned texts, which are tokenised and prepared once
    per run.

    Parameters
    ----------
    features : Features
    groups : Groups
        Its ``texts`` are text ids of ``features``.
    tokenizer : str
    """
    table = features.memo(("meteor", "texts", tokenizer, "python"), PreparedTexts)
    texts = text_rows_of(features, tokenizer)
    distinct, inverse = np.unique(groups.texts, return_inverse=True)
    rows = table.add_rows(texts.index, texts.rows(features, distinct))
    return table.align_groups(groups._replace(texts=rows[inverse]))


def _new_java_texts() -> JavaTexts:
    from harness_metrics.meteor.java import JavaTexts  # starts a JVM

    return JavaTexts()


def _candidate_reference(batch: Batch) -> np.ndarray:
    """Return a bool array (N, N), True for a candidate as hypothesis (row) and a
    reference (column).
    """
    size = batch.n + batch.m
    out = np.zeros((size, size), dtype=bool)
    out[: batch.n, batch.n :] = True
    return out


def _cut_candidates_references(parent_values: np.ndarray, batch: Batch) -> np.ndarray:
    """Return the candidates (axis 1) and references (axis 2) of a batch from the array
    of its parent.
    """
    assert batch.parent is not None
    assert batch.columns is not None
    candidates = batch.columns[: batch.n, None]
    references = batch.columns[batch.n :] - batch.parent.n
    return parent_values[:, candidates, references]


def _check_engine(name: str) -> str:
    """Return ``name``; raise :class:`UnknownName` for another engine,
    :class:`MissingExtra` for ``java`` without a Java runtime.
    """
    if name not in ENGINES:
        raise UnknownName(
            f"meteor: unknown engine {name!r}{did_you_mean(name, ENGINES)}; "
            "expected python or java"
        )
    if name == "java":
        java_command(needed_by="METEOR (engine: java)")
    return name


class _WithEngine:
    """Tokeniser and engine of the metric and of the distance;
    parameters as of :class:`Meteor`.
    """

    def __init__(
        self, *, tokenizer: TokenizerName = "ptb", engine: str = "python"
    ) -> None:
        self.tokenizer = check_tokenizer(tokenizer)
        self.engine = _check_engine(engine)
        self.needs = frozenset({"references"})
        if engine == "java":
            self.needs |= {"java"}

    def signature(self) -> str:
        """Return the version of METEOR, the tokeniser and, for ``java``, the engine."""
        signature = f"meteor|v1.5-en|tok:{signed(self.tokenizer)}"
        if self.engine != "python":
            signature += f"|engine:{self.engine}"
        return signature

    def pair_seconds(self, tokens: float) -> float:
        """Return the seconds of the alignment of two texts of so many words."""
        return 5e-6 * tokens + 8e-9 * tokens**2

    def warm(self) -> None:
        """Start to load the lexicon in a thread, unless the engine is ``java``."""
        if self.engine == "python":
            start_loading()


class Meteor(_WithEngine, SumMetric):
    """METEOR 1.5 (English, ``-norm``), in [0, 1]; higher is better.

    The corpus number is the score of summed statistics, not the mean of the examples'
    scores. The score of an example is the mean over its candidates of the score with
    the best reference.

    Parameters
    ----------
    tokenizer : str, default "ptb"
        As for :class:`~harness_metrics.ngram.bleu.Bleu`; ``none`` is raw text. METEOR
        then separates all characters but Latin and Cyrillic letters and digits: Chinese
        and Japanese words are characters with each of them.
    engine : str, default "python"
        ``python`` (compiled) or ``java`` (the jar, as reference implementation).

    Raises
    ------
    UnknownName
        For another tokeniser or engine.
    MissingExtra
        For ``java`` without a Java runtime.

    References
    ----------
    Denkowski & Lavie (2014), "Meteor Universal: Language Specific Translation
    Evaluation for Any Target Language"; table 1, task ``rank``.
    """

    def __init__(
        self, *, tokenizer: TokenizerName = "ptb", engine: str = "python"
    ) -> None:
        super().__init__(tokenizer=tokenizer, engine=engine)
        self.spec = MetricSpec(
            name="meteor", higher_is_better=True, needs=self.needs, bounds=(0.0, 1.0)
        )

    def stats(self, batch: Batch, features: Features, state: object) -> np.ndarray:
        """Return statistics (B, 24): the 23 of METEOR summed over the candidates, and
        the mean of the candidates' scores.

        Each candidate is aligned with its best reference, the first one among equals.
        """
        alignments = Alignments(features, self.tokenizer, self.engine)
        aligned = alignments.candidates_with_references(batch)
        scores = aligned["score"]
        # the first of equals, as in the jar
        best = scores.argmax(axis=2)[:, :, None, None]
        rows = np.take_along_axis(aligned["statistics"], best, axis=2)[:, :, 0]

        # added one by one in increasing order, as in null
        values = np.sort(scores.max(axis=2), axis=1)
        means = np.cumsum(values, axis=1)[:, -1] / batch.n
        return np.concatenate([summable(rows).sum(axis=1), means[:, None]], axis=1)

    def candidate_scores(
        self, batch: Batch, features: Features, state: object
    ) -> np.ndarray:
        """Return the score of each candidate with its best reference, shape (B, n)."""
        alignments = Alignments(features, self.tokenizer, self.engine)
        return alignments.candidates_with_references(batch)["score"].max(axis=2)

    def cost(self, n: int, m: int, tokens: float, *, tested: bool = False) -> Cost:
        """Return the cost of the alignments: of the candidates with the references, and
        with ``tested`` of all pairs.
        """
        pairs = (n + m) ** 2 if tested else n * m
        return replace(
            super().cost(n, m, tokens),
            seconds=pairs * self.pair_seconds(tokens),
            bytes=500.0 * pairs + 300.0 * (n + m) * tokens,
        )

    def per_example(self, stats: np.ndarray) -> np.ndarray:
        """Return the mean of the candidates' scores (B,) from statistics (B, 24)."""
        return stats[:, N_STATISTICS]

    def summands(self, stats: np.ndarray) -> np.ndarray:
        """Return the summed statistics of METEOR, shape (B, 23),
        of statistics (B, 24).
        """
        return stats[:, :N_STATISTICS]

    def of_sums(self, sums: np.ndarray) -> np.ndarray:
        """Return corpus scores (R,) from sums of statistics (R, 23)."""
        return scores_of(sums)

    def null(
        self, batch: Batch, features: Features, state: object, labels: np.ndarray
    ) -> np.ndarray:
        """Return the example scores (B, P) under the relabelings (P, N),
        True for a candidate.
        """
        alignments = Alignments(features, self.tokenizer, self.engine)
        return ngram.relabel_best(alignments.matrices(batch), labels)


class MeteorDistance(_WithEngine):
    """1 - METEOR(hypothesis, reference), in [0, 1], rows the hypothesis;
    **not symmetric**.

    The distance is exactly 0 for texts with the same words, also for two empty texts,
    although the score of empty texts is 0 and the beam search may miss the straight
    alignment of a very repetitive text with itself.

    Parameters
    ----------
    tokenizer : str, default "ptb"
        As for :class:`Meteor`.
    engine : str, default "python"
        As for :class:`Meteor`.

    References
    ----------
    Denkowski & Lavie (2014), "Meteor Universal: Language Specific Translation
    Evaluation for Any Target Language".
    """

    name = "meteor"

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the distances (B, N, N) of all pairs, rows the hypothesis,
        columns the reference.
        """
        alignments = Alignments(features, self.tokenizer, self.engine)
        distances = np.maximum(1.0 - alignments.matrices(batch), 0.0)
        distances[alignments.same_words(batch)] = 0.0
        return distances
