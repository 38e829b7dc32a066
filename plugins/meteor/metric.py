"""METEOR as a metric and as a distance of a run: PTB tokens first, alignments shared by all that ask.

Denkowski & Lavie (2014), as the COCO caption toolkit runs it. Numbers equal those of the toolkit's jar.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from importlib import util
from typing import Any, NamedTuple

import numpy as np

from harness.contracts import Batch, Features, MetricSpec
from harness.errors import UnknownName, did_you_mean
from harness.plugins.compiled.chunks import run_slices
from harness.plugins.meteor import engine as meteor
from harness.plugins.meteor.kernels import compile_ahead as meteor_compile
from harness.plugins.meteor.score import N_STATISTICS, scores_of, summable
from harness.plugins.tokenisers.java_runtime import java_command
from harness.plugins.tokenisers.tokens import check_tokenizer, tokens_of
from harness.plugins.tokenisers.words import word_index_of, word_rows_of

ENGINES = ("python", "java")


class _Block(NamedTuple):
    """The candidates of a batch against its references."""

    scores: np.ndarray
    """(B, n, m)."""
    statistics: np.ndarray
    """(B, n, m, 23) int32."""


class Alignments:
    """The pairs of a run's batches, each aligned once: metric, p-value and distance read the same."""

    def __init__(self, tokenizer: str, engine: str) -> None:
        self.tokenizer, self.engine = tokenizer, engine
        self._table: Any = None
        self._blocks: weakref.WeakKeyDictionary[Batch, _Block] = weakref.WeakKeyDictionary()
        self._matrices: weakref.WeakKeyDictionary[Batch, np.ndarray] = weakref.WeakKeyDictionary()

    def __reduce__(self) -> tuple[Any, ...]:
        return Alignments, (self.tokenizer, self.engine)  # a worker aligns its own batches

    def block(self, batch: Batch, features: Features) -> _Block:
        """Scores and statistics of candidates against references."""
        if batch.parent is not None and batch.columns is not None:
            whole = self.block(batch.parent, features)
            rows, columns = batch.columns[: batch.n, None], batch.columns[batch.n :] - batch.parent.n
            return _Block(whole.scores[:, rows, columns], whole.statistics[:, rows, columns])
        found = self._blocks.get(batch)
        if found is None:
            aligned = self._align(batch, features, _across(batch), with_statistics=True)
            shape = (len(batch), batch.n, batch.m)
            found = _Block(aligned.scores.reshape(shape), aligned.statistics.reshape(*shape, N_STATISTICS))
            self._blocks[batch] = found
        return found

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        """(B, N, N) scores, rows the hypothesis, columns the reference."""
        if batch.parent is not None and batch.columns is not None:
            return self.matrices(batch.parent, features)[:, batch.columns[:, None], batch.columns]
        found = self._matrices.get(batch)
        if found is None:
            across, size = _across(batch), batch.n + batch.m
            found = np.empty((len(batch), size, size))
            found[:, across] = self.block(batch, features).scores.reshape(len(batch), -1)
            found[:, ~across] = self._align(batch, features, ~across, with_statistics=False).scores
            self._matrices[batch] = found
        return found

    def same_words(self, batch: Batch, features: Features) -> np.ndarray:
        """(B, N, N) bool: texts that have the same words once tokenised and normalised."""
        numbers = self._texts().same_words(self._rows(batch, features))
        return numbers[:, :, None] == numbers[:, None, :]

    def _align(self, batch: Batch, features: Features, wanted: np.ndarray, *, with_statistics: bool) -> meteor.Aligned:
        rows = self._rows(batch, features)
        return self._texts().align_places(rows, wanted, with_statistics=with_statistics)

    def _rows(self, batch: Batch, features: Features) -> np.ndarray:
        """(B, N) numbers of the tokenised texts in this engine's table."""
        distinct, places = np.unique(batch.text_ids, return_inverse=True)
        texts, table = tokens_of(features, distinct, self.tokenizer), self._texts()
        if isinstance(table, meteor.PreparedTexts):
            words = word_rows_of(features, distinct, self.tokenizer)
            rows = table.intern_split(texts, word_index_of(features, self.tokenizer), words)
        else:
            rows = table.intern(texts)
        return rows[places].reshape(batch.text_ids.shape)

    def _texts(self) -> Any:
        if self._table is None:
            if self.engine == "java":
                from harness.plugins.meteor.java import JavaTexts  # starts a JVM: only when asked for

                self._table = JavaTexts()
            else:
                self._table = meteor.PreparedTexts()
        return self._table


def _across(batch: Batch) -> np.ndarray:
    """(N, N) bool: candidates as hypotheses, references as references."""
    size = batch.n + batch.m
    out = np.zeros((size, size), dtype=bool)
    out[: batch.n, batch.n :] = True
    return out


def _alignments(features: Features, tokenizer: str, engine: str) -> Alignments:
    return features.memo(("meteor", tokenizer, engine), lambda: Alignments(tokenizer, engine))


def _check_engine(name: str) -> str:
    """``name`` if there is such an engine and, for ``java``, a runtime to start: told now, before anything is written."""
    if name not in ENGINES:
        raise UnknownName(f"meteor: unknown engine {name!r}{did_you_mean(name, ENGINES)}; expected python or java")
    if name == "java":
        java_command(needed_by="METEOR (engine: java)")
    return name


def _warm(engine: str) -> None:
    """Have the kernels compiled meanwhile, where they are not."""
    if engine == "python" and util.find_spec("numba") is not None:
        meteor_compile.start()


def _signature(tokenizer: str, engine: str) -> str:
    return f"meteor|v1.5-en|tok:{tokenizer}" + ("" if engine == "python" else f"|engine:{engine}")


class Meteor:
    """METEOR 1.5 (English, ``-norm``), in [0, 1]; higher is better. The corpus number is the score of summed statistics.

    ``tokenizer``: ``ptb`` (the COCO pipeline), ``java-ptb``, or ``none`` for raw text. ``engine``: ``python`` (compiled) or ``java``,
    the reference implementation. Statistics (B, 24): the example's 23 numbers summed over its candidates, each against its best
    reference, and the mean of the candidates' scores.
    """

    def __init__(self, *, tokenizer: str = "ptb", engine: str = "python") -> None:
        self.tokenizer = check_tokenizer(tokenizer)
        self.engine = _check_engine(engine)
        needs = {"references"} | ({"java"} if engine == "java" else set())
        self.spec = MetricSpec(name="meteor", higher_is_better=True, needs=frozenset(needs), bounds=(0.0, 1.0))

    def signature(self) -> str:
        return _signature(self.tokenizer, self.engine)

    def warm(self) -> None:
        _warm(self.engine)

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> None:
        """METEOR keeps nothing of the corpus."""

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        block = _alignments(features, self.tokenizer, self.engine).block(batch, features)
        best = block.scores.argmax(axis=2)  # the first of equals, as the tool takes it
        rows = np.take_along_axis(block.statistics, best[:, :, None, None], axis=2)[:, :, 0]
        values = np.sort(block.scores.max(axis=2), axis=1)
        means = np.cumsum(values, axis=1)[:, -1] / batch.n  # added one by one in increasing order, as in null
        return np.concatenate([summable(rows).sum(axis=1), means[:, None]], axis=1)

    def per_example(self, stats: np.ndarray) -> np.ndarray:
        return stats[:, N_STATISTICS]

    def reduce(self, stats: np.ndarray, weights: np.ndarray | None = None) -> Any:
        if not len(stats):
            return float("nan") if weights is None else np.full(len(weights), np.nan)
        if weights is None:
            return float(scores_of(stats[:, :N_STATISTICS].sum(axis=0, keepdims=True))[0])
        return scores_of(np.asarray(weights, dtype=np.float64) @ stats[:, :N_STATISTICS])

    def null(self, batch: Batch, features: Features, state: Any, labels: np.ndarray) -> np.ndarray:
        from harness.plugins.ngram.best_match_kernels import relabel  # numba

        scores = np.ascontiguousarray(_alignments(features, self.tokenizer, self.engine).matrices(batch, features))
        ranked = np.argsort(-scores, axis=2, kind="stable")
        labels, out = np.ascontiguousarray(labels, dtype=bool), np.empty((len(batch), len(labels)))

        def work(start: int, stop: int) -> None:
            relabel(scores[start:stop], ranked[start:stop], labels, out[start:stop])

        run_slices(work, len(batch), pairs=len(labels))
        return out


class MeteorDistance:
    """1 - METEOR(hypothesis, reference), **not symmetric**; rows the hypothesis.

    Exactly 0 for texts with the same words, two empty ones included: the score itself is 0 for empty texts, and the beam search may
    miss the straight alignment of a text full of repeated words with itself.
    """

    name = "meteor"

    def __init__(self, *, tokenizer: str = "ptb", engine: str = "python") -> None:
        self.tokenizer = check_tokenizer(tokenizer)
        self.engine = _check_engine(engine)
        self.needs = frozenset({"references", "java"} if engine == "java" else {"references"})

    def signature(self) -> str:
        return _signature(self.tokenizer, self.engine)

    def warm(self) -> None:
        _warm(self.engine)

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        alignments = _alignments(features, self.tokenizer, self.engine)
        distances = np.maximum(1.0 - alignments.matrices(batch, features), 0.0)
        distances[alignments.same_words(batch, features)] = 0.0
        return distances
