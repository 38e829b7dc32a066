"""Scores of pairs of texts by a caption metric, of many videos at once.

The texts of a batch are tokenised once and each pair is aligned once, whatever number
of thresholds it belongs to: a threshold is a row of weights, which say how often each
pair counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from caption_kernels import TextIndex, cider_idf
from caption_kernels.batches import ngram
from caption_kernels.batches.meteor import N_STATISTICS, Groups, scores_of, summable
from caption_kernels.batches.ngram import ORDERS
from harness.contracts import (
    CaptionSet,
    Features,
    Metric,
    Objects,
    example_scores,
    is_defined,
)
from harness.contracts.bases import has_corpus_state
from harness.errors import HarnessError
from harness.registry import resolve
from harness_metrics.meteor.metric import Meteor, align_groups
from harness_metrics.ngram.bleu import Bleu
from harness_metrics.ngram.cider import Cider
from harness_metrics.ngram.rouge import Rouge
from harness_metrics.tokenisers.text_rows import text_rows_of


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of a predicted and a reference text, those of a video one after the
    other.
    """

    videos: int
    """Number V of videos."""
    owners: np.ndarray
    """Video of each pair, shape (P,), ascending."""
    hyps: np.ndarray
    """Text ids of the predictions, shape (P,)."""
    refs: np.ndarray
    """Text ids of the references, shape (P,)."""

    @property
    def bounds(self) -> np.ndarray:
        """First pair of each video and the end of the last one, shape (V + 1,)."""
        return np.searchsorted(self.owners, np.arange(self.videos + 1))

    def sums(self, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the weighted sums of values (P, d) over the pairs of each video, shape
        (T, V, d), for weights (T, P).
        """
        out = np.zeros((len(weights), self.videos, values.shape[1]))
        filled = np.flatnonzero(np.diff(self.bounds))
        if len(filled):
            starts = self.bounds[:-1][filled]
            for row, own in enumerate(weights):
                out[row, filled] = np.add.reduceat(values * own[:, None], starts)
        return out


class PairScorer(Protocol):
    """A caption metric over pairs of one prediction and one reference."""

    signature: str

    def of_videos(
        self, pairs: Pairs, weights: np.ndarray, features: Features
    ) -> np.ndarray:
        """Return the score of the pairs of each video under each row of weights
        (T, P), whole numbers; shape (T, V), 0 for a video without pairs.
        """
        ...

    def of_pairs(self, pairs: Pairs, features: Features) -> np.ndarray:
        """Return the score of each pair, shape (P,)."""
        ...


class MeteorPairs:
    """METEOR: the score of summed statistics, as the jar's aggregate."""

    signature = "meteor|v1.5-en|tok:ptb"

    def of_videos(
        self, pairs: Pairs, weights: np.ndarray, features: Features
    ) -> np.ndarray:
        """As :class:`PairScorer`."""
        _, statistics = self._align(pairs, features)
        sums = pairs.sums(summable(statistics), weights)
        shape = sums.shape[:2]
        return scores_of(sums.reshape(-1, N_STATISTICS)).reshape(shape)

    def of_pairs(self, pairs: Pairs, features: Features) -> np.ndarray:
        """As :class:`PairScorer`."""
        scores, _ = self._align(pairs, features)
        return scores

    def _align(self, pairs: Pairs, features: Features) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores (P,) and statistics (P, 23); equal pairs of a video are
        aligned once.
        """
        key = np.stack([pairs.owners, pairs.hyps, pairs.refs], axis=1)
        distinct, inverse = np.unique(key, axis=0, return_inverse=True)
        owners, hyps, refs = distinct.T
        starts = np.searchsorted(owners, np.arange(pairs.videos + 1))

        # Each video is a group: its predictions, then its references.
        texts = np.stack([hyps, refs], axis=1).reshape(-1)
        within = np.arange(len(owners)) - starts[owners]
        groups = Groups(
            text_starts=2 * starts.astype(np.int64),
            texts=np.ascontiguousarray(texts, dtype=np.int64),
            pair_starts=starts.astype(np.int64),
            hyps=(2 * within).astype(np.int32),
            refs=(2 * within + 1).astype(np.int32),
            rows=np.arange(len(owners), dtype=np.int64),
        )
        aligned = align_groups(features, groups)
        order = inverse.reshape(-1)
        return aligned.scores[order], aligned.statistics[order]


class BleuPairs:
    """BLEU-n: corpus BLEU of the pairs of a video."""

    def __init__(self, order: int) -> None:
        self.order = order
        self.signature = f"bleu|n:{order}|tok:ptb"

    def of_videos(
        self, pairs: Pairs, weights: np.ndarray, features: Features
    ) -> np.ndarray:
        """As :class:`PairScorer`."""
        counts = pairs.sums(self._counts(pairs, features), weights)
        bleu = self._bleu(counts)
        # without any pair there is no precision to smooth
        return np.where(
            pairs.sums(np.ones((len(pairs.hyps), 1)), weights)[..., 0], bleu, 0
        )

    def of_pairs(self, pairs: Pairs, features: Features) -> np.ndarray:
        """As :class:`PairScorer`."""
        return self._bleu(self._counts(pairs, features))

    def _counts(self, pairs: Pairs, features: Features) -> np.ndarray:
        """Return matches and numbers of n-grams per order, and both lengths, of each
        pair, shape (P, 10).
        """
        texts = text_rows_of(features, "ptb")
        hyps = texts.gram_rows(features, pairs.hyps[:, None])
        refs = texts.gram_rows(features, pairs.refs[:, None])
        matches = ngram.clip_at_all(texts.index, hyps, refs)[:, 0]
        lengths = ngram.row_lengths(texts.index, hyps)[:, 0]
        others = ngram.row_lengths(texts.index, refs)[:, 0]
        guesses = ngram.count_guesses(lengths)
        columns = [matches, guesses, lengths[:, None], others[:, None]]
        return np.concatenate(columns, axis=1).astype(np.float64)

    def _bleu(self, counts: np.ndarray) -> np.ndarray:
        matches = counts[..., :ORDERS]
        guesses = counts[..., ORDERS : 2 * ORDERS]
        return ngram.bleu(
            matches, guesses, counts[..., -2], counts[..., -1], self.order
        )


class RougePairs:
    """ROUGE-L: the mean over the pairs of a video."""

    signature = f"rouge-l|beta:{ngram.BETA}|tok:ptb"

    def of_videos(
        self, pairs: Pairs, weights: np.ndarray, features: Features
    ) -> np.ndarray:
        """As :class:`PairScorer`."""
        scores = self.of_pairs(pairs, features)
        sums = pairs.sums(np.stack([scores, np.ones_like(scores)], axis=1), weights)
        return sums[..., 0] / np.maximum(sums[..., 1], 1.0)

    def of_pairs(self, pairs: Pairs, features: Features) -> np.ndarray:
        """As :class:`PairScorer`; two empty texts agree, as in the COCO toolkit."""
        texts = text_rows_of(features, "ptb")
        hyps = texts.rows(features, pairs.hyps[:, None])
        refs = texts.rows(features, pairs.refs[:, None])
        return ngram.rouge_l_pairs(texts.index, hyps, refs)[:, 0, 0]


class CiderPairs:
    """CIDEr: the mean over the pairs of a video, whose references are the documents of
    its frequencies.
    """

    signature = "cider-d|df:pairs of a video|tok:ptb"

    def of_videos(
        self, pairs: Pairs, weights: np.ndarray, features: Features
    ) -> np.ndarray:
        """As :class:`PairScorer`; 0 for a video of one pair, whose words all have the
        weight log 1.
        """
        texts = text_rows_of(features, "ptb")
        out = np.zeros((len(weights), pairs.videos))
        bounds = pairs.bounds
        for video in range(pairs.videos):
            own = slice(bounds[video], bounds[video + 1])
            if own.stop == own.start:
                continue
            ids, inverse = np.unique(
                np.concatenate([pairs.hyps[own], pairs.refs[own]]), return_inverse=True
            )
            # An index of the video alone, so that its weights are few.
            index = TextIndex("none")
            tokens = texts.index.texts(texts.rows(features, ids))
            rows = index.gram_rows(index.add(tokens))[inverse.reshape(-1)]
            hyps, refs = np.split(rows, 2)
            out[:, video] = [
                _cider_of(index, hyps, refs, row) for row in weights[:, own]
            ]
        return out

    def of_pairs(self, pairs: Pairs, features: Features) -> np.ndarray:
        """Raise :class:`HarnessError`: a pair alone has no document frequencies."""
        raise HarnessError(
            "dense: CIDEr has no score of a single pair, which this protocol matches "
            "by; expected text: meteor, bleu4, rouge or another metric of one caption"
        )


def _cider_of(
    index: TextIndex, hyps: np.ndarray, refs: np.ndarray, weights: np.ndarray
) -> float:
    """Return the mean CIDEr of pairs of gram rows, each counted ``weights`` times."""
    times = weights.astype(np.int64)
    hyps = np.repeat(hyps, times)
    refs = np.repeat(refs, times)
    if len(refs) < 2:
        return 0.0
    documents = index.document_frequencies(refs, np.arange(len(refs) + 1))
    idf = cider_idf(documents.astype(np.int64), float(len(refs)))
    unseen = ngram.unseen_idf(len(refs))
    scores = ngram.cider(index, idf, unseen, hyps[:, None], refs[:, None])
    return float(scores.mean())


class MetricPairs:
    """Any caption metric of the harness: its number over the pairs of a video."""

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self.signature = metric.signature()

    def of_videos(
        self, pairs: Pairs, weights: np.ndarray, features: Features
    ) -> np.ndarray:
        """As :class:`PairScorer`."""
        out = np.zeros((len(weights), pairs.videos))
        bounds = pairs.bounds
        fitted = has_corpus_state(self.metric)
        stats = None if fitted else self._stats(pairs, features, None, slice(None))
        for video in range(pairs.videos):
            own = np.arange(int(bounds[video]), int(bounds[video + 1]))
            for row, counts in enumerate(weights[:, own]):
                rows: np.ndarray = np.repeat(own, counts.astype(np.int64))
                if not len(rows):
                    continue
                if stats is None:
                    ids: list[int] = pairs.refs[rows].tolist()
                    references = [[features.texts[k]] for k in ids]
                    state = self.metric.fit(references, features)
                    of_video = self._stats(pairs, features, state, rows)
                else:
                    of_video = stats[rows]
                # NaN where no pair is defined: the video is then left out and counted
                out[row, video] = self.metric.reduce(of_video[is_defined(of_video)])
        return out

    def of_pairs(self, pairs: Pairs, features: Features) -> np.ndarray:
        """As :class:`PairScorer`."""
        if has_corpus_state(self.metric):
            raise HarnessError(
                f"dense: '{self.metric.spec.name}' depends on other captions, and this "
                "protocol matches by single pairs; expected text: meteor, bleu4, rouge "
                "or another metric of one caption"
            )
        stats = self._stats(pairs, features, None, slice(None))
        return example_scores(self.metric, stats)

    def _stats(
        self, pairs: Pairs, features: Features, state: Any, rows: np.ndarray | slice
    ) -> np.ndarray | Objects:
        texts = features.texts
        hyps: list[int] = pairs.hyps[rows].tolist()
        refs: list[int] = pairs.refs[rows].tolist()
        sets = [
            CaptionSet(str(k), (texts[hyp],), (texts[ref],))
            for k, (hyp, ref) in enumerate(zip(hyps, refs))
        ]
        batch = features.batch(sets)
        stats = self.metric.stats(batch, features, state)
        features.forget(batch)
        return stats


def caption_metric(metric: str | Mapping[str, Any] | Metric) -> Metric:
    """Return a caption metric; raise :class:`HarnessError` for a metric that scores no
    single captions.
    """
    inner: Metric = resolve("metrics", metric)
    spec = inner.spec
    if spec.level != "item" or spec.higher_is_better is not True:
        raise HarnessError(
            f"dense: '{spec.name}' does not score single captions with higher ones "
            "better; expected text: meteor, cider, bleu4, rouge or another such metric"
        )
    if "events" in spec.needs or "images" in spec.needs:
        raise HarnessError(
            f"dense: '{spec.name}' needs more than two texts; expected text: meteor, "
            "cider, bleu4, rouge or another metric of texts"
        )
    return inner


def pair_scorer(inner: Metric) -> PairScorer:
    """Return the scorer of pairs by a caption metric."""
    # The four of the field have arrays of their own; all have the default tokeniser.
    signature = inner.signature()
    own: list[PairScorer] = [MeteorPairs(), RougePairs()]
    own += [BleuPairs(order) for order in range(1, ORDERS + 1)]
    for scorer in own:
        if isinstance(inner, (Meteor, Rouge, Bleu)) and scorer.signature == signature:
            return scorer
    is_usual = signature == Cider().signature()
    if isinstance(inner, Cider) and is_usual:
        return CiderPairs()
    return MetricPairs(inner)
