"""Terms of a reward: metrics fitted on the references of all examples, and the scores or credits that they give to candidates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.contracts import Batch, CaptionSet, CreditsCandidates, Example, Metric, PositionedBatch, ScoresCandidates, example_scores
from harness.errors import HarnessError, InputError, counted
from harness.run.features import FeatureCache
from harness.run.reward_texts import END_WORD
from harness.run.score import fit_once, scorable

MAX_TEXTS = 100_000
"""Number of texts after which everything but the corpus state is dropped, so that memory does not grow with the number of calls."""
SCALE_EXAMPLES = 500
"""Maximum number of examples from which a scale is estimated."""
SCALE_REFERENCES = 5
"""Minimum number of references of an example from which the scale of a metric of sets is estimated."""


class _Sets(Sequence[CaptionSet]):
    """Caption sets of a batch that are made when a metric reads them: most metrics read the ids of the texts alone."""

    def __init__(self, examples: Sequence[Example], rows: list[int], texts: Sequence[str], positions: list[int], n: int) -> None:
        self._examples, self._rows, self._texts, self._positions, self._n = examples, rows, texts, positions, n

    def __len__(self) -> int:
        return len(self._positions)

    def __getitem__(self, index: Any) -> Any:
        position = self._positions[int(index)]
        example, first = self._examples[self._rows[position]], position * self._n
        captions = tuple(self._texts[first : first + self._n])
        return CaptionSet(example.id, captions, example.references, example.media, example.source, example.meta)


class RewardCorpus:
    """References of all examples, on which metrics are fitted once, and the texts that were scored lately."""

    def __init__(self, examples: Sequence[Example], *, counts_end: bool) -> None:
        self.counts_end = counts_end
        self.examples = list(map(_with_end, examples)) if counts_end else list(examples)
        self.features = FeatureCache([example.references for example in self.examples])
        self._counts = np.array([len(example.references) for example in self.examples])
        self._forget_texts()

    def _forget_texts(self) -> None:
        self.features.next_shard()
        self._ids = np.full((len(self.examples), self._counts.max()), -1, dtype=np.int64)
        self._is_interned = np.zeros(len(self.examples), dtype=bool)

    def __getstate__(self) -> dict[str, Any]:
        self._forget_texts()
        return self.__dict__ | {"_ids": None, "_is_interned": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.features.references = [example.references for example in self.examples]
        self._forget_texts()

    def fit(self, metric: Metric) -> Any:
        """Return the corpus state of a metric, which stays."""
        state = fit_once(metric, self.features)
        self.features.keep(("state", metric.signature()), state)
        return state

    def batches(self, rows: np.ndarray, texts: Sequence[str], n: int) -> Iterator[PositionedBatch]:
        """Yield the examples ``rows`` (B,) with ``texts``, n captions of each, as batches of one number of references."""
        if len(self.features.texts) > MAX_TEXTS:
            self._forget_texts()
        for row in map(int, np.unique(rows[~self._is_interned[rows]])):
            self._ids[row, : self._counts[row]] = self.features.intern(self.examples[row].references)
            self._is_interned[row] = True
        candidate_ids, counts = self.features.intern(texts).reshape(len(rows), n), self._counts[rows]
        for m in np.unique(counts).tolist():
            positions = np.flatnonzero(counts == m)
            ids = np.concatenate([candidate_ids[positions], self._ids[rows[positions], :m]], axis=1)
            yield PositionedBatch(positions, Batch(_Sets(self.examples, rows.tolist(), texts, positions.tolist(), n), ids, n, m))


def leave_each_out(metric: Metric, batch: Batch, features: Any, state: Any) -> np.ndarray:
    """Return S(C) - S(C without i) for each candidate i, shape (B, n), by scoring every set without i again."""
    scores = example_scores(metric, metric.stats(batch, features, state))
    out = np.empty((len(batch), batch.n))
    for i in range(batch.n):
        sets = [
            CaptionSet(
                item.id, item.candidates[:i] + item.candidates[i + 1 :], item.references, item.media, item.source, item.meta
            ) for item in batch.sets
        ]  # fmt: skip
        without = Batch(tuple(sets), np.delete(batch.text_ids, i, axis=1), batch.n - 1, batch.m)
        out[:, i] = scores - example_scores(metric, metric.stats(without, features, state))
    return out


@dataclass(frozen=True)
class Term:
    """One metric of a reward."""

    label: str
    metric: Metric
    weight: float
    """Factor of the value of the metric; negative for a metric of which lower is better."""
    corpus: RewardCorpus
    scale: float = 1.0

    @property
    def is_of_sets(self) -> bool:
        """True for a metric of sets, whose captions get credits."""
        return self.metric.spec.level == "set"

    @property
    def reads_groups(self) -> bool:
        """True where :meth:`score` takes sets of several candidates."""
        return self.is_of_sets or isinstance(self.metric, ScoresCandidates)

    def score(self, batch: Batch) -> np.ndarray:
        """Return the weighted scores or credits of the candidates of a batch, shape (B, n); 0 where undefined.

        Raises :class:`InputError` for sets, or sets without one of their captions, that are too small for the metric.
        """
        smallest = batch.n - self.is_of_sets
        if smallest < 1 or not scorable(self.metric, np.asarray(smallest), np.asarray(batch.m)):
            without = " without one of them" if self.is_of_sets else ""
            raise InputError(
                f"{self.label} has no value for {counted(batch.n, 'caption')}{without} beside {counted(batch.m, 'reference')}; "
                f"expected at least {max(self.metric.spec.min_candidates, 1) + self.is_of_sets}"
                f" and {self.metric.spec.min_references}", f"example '{batch.ids[0]}'",
            )  # fmt: skip
        features, state = self.corpus.features, fit_once(self.metric, self.corpus.features)
        if isinstance(self.metric, ScoresCandidates):
            values = self.metric.candidate_scores(batch, features, state)
        elif not self.is_of_sets:
            values = example_scores(self.metric, self.metric.stats(batch, features, state))[:, None]
        elif isinstance(self.metric, CreditsCandidates):
            values = self.metric.credits(batch, features, state)
        else:
            values = leave_each_out(self.metric, batch, features, state)
        return np.nan_to_num(values * (self.weight / self.scale), nan=0.0)

    def estimate_scale(self) -> float:
        """Return the standard deviation of the scores or credits of references, as captions beside the other references.

        A metric of single captions scores the first reference of each example, a metric of sets the first half of the references.
        """
        fewest = SCALE_REFERENCES if self.is_of_sets else 2
        examples = [example for example in self.corpus.examples if len(example.references) >= fewest][:SCALE_EXAMPLES]
        values = [np.zeros(0)]
        for example in examples:
            n = (len(example.references) + 1) // 2 if self.is_of_sets else 1
            item = CaptionSet(
                example.id, example.references[:n], example.references[n:], example.media, example.source, example.meta
            )  # fmt: skip
            values.append(self.score(self.corpus.features.batch([item])).ravel() / self.weight)
        spread = float(np.concatenate(values).std()) if examples else 0.0
        if not spread > 1e-9:
            reason = "is constant on the references" if examples else f"needs examples of {fewest} references"
            raise HarnessError(f"scale: the estimate of {self.label} {reason}; write scale={{'{self.label}': NUMBER}}", parameter="scale")
        return spread


def _with_end(example: Example) -> Example:
    return replace(example, references=tuple(f"{text} {END_WORD}" for text in example.references))
