"""Protocols of ActivityNet Captions and its descendants: ``densevid_eval`` of three
years, VidChapters, Vid2Seq and SoccerNet.

A video's captions are scored in pairs at each tIoU threshold, and a video's number is
the mean over thresholds (Krishna et al., ICCV 2017, section 5). The rules are those of
the evaluators, in words; no code of theirs is here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.contracts import Features
from harness.errors import HarnessError
from harness_metrics.dense.options import Options
from harness_metrics.dense.pair_scores import Pairs
from harness_metrics.dense.protocol import VideoProtocol, f_measures
from harness_metrics.dense.threshold_pairs import (
    GarbageRule,
    localisation,
    start_closeness,
    threshold_pairs,
    time_closeness,
)
from harness_metrics.dense.videos import SideRules, Video

TIOUS = (0.3, 0.5, 0.7, 0.9)
MAX_PROPOSALS = 1000
"""Defaults of ``densevid_eval``."""
_SYMBOLS = "abc123!@#"
"""Garbage reference of 2018: one word of the tokeniser, which METEOR splits into four.
"""
_LETTERS = "qzxvkjwqbzxj"
"""Garbage reference of 2019, random small letters there: no word of any language."""


@dataclass(frozen=True)
class ActivityNetRules:
    """Differences between the evaluators."""

    garbage: GarbageRule
    tious: tuple[float, ...] = TIOUS
    strict: bool = False
    """The overlap must be above the threshold for a pair of captions."""
    leaves_out_missing: bool = False
    """A video without a prediction has no score, rather than 0."""
    swaps: bool = False
    f1_of_means: bool = False
    """F1 is made of mean precision and mean recall at each threshold."""
    has_f1: bool = True


RULES: Mapping[str, ActivityNetRules] = {
    "activitynet-2017": ActivityNetRules(
        GarbageRule(_SYMBOLS, per_file=True), has_f1=False
    ),
    "activitynet-2018": ActivityNetRules(GarbageRule(_SYMBOLS), has_f1=False),
    "activitynet-2019": ActivityNetRules(GarbageRule(_LETTERS), has_f1=False),
    "vidchapters": ActivityNetRules(
        GarbageRule(_LETTERS), leaves_out_missing=True, f1_of_means=True
    ),
    "vid2seq": ActivityNetRules(GarbageRule(_LETTERS), swaps=True),
    "soccernet": ActivityNetRules(
        GarbageRule(_LETTERS), tious=(0.0,), strict=True, has_f1=False
    ),
}
"""Rules by the name of the protocol."""


class ActivityNetProtocol(VideoProtocol):
    """Pairs at thresholds, and localisation by thresholds."""

    def __init__(self, options: Options) -> None:
        options.refuse("annotators")
        self.of_protocol = RULES[options.protocol]
        if not self.of_protocol.has_f1:
            options.refuse_measures("f1")
        if options.seconds is not None and options.measure == "score":
            raise HarnessError(
                "dense: 'seconds' belongs to localisation; expected measure: "
                "precision, recall or f1",
                parameter="seconds",
            )
        if options.seconds is not None and options.tious is not None:
            raise HarnessError(
                "dense: 'tious' and 'seconds' are two ways to localise; expected one",
                parameter="seconds",
            )
        self.measure = options.measure
        self.text = options.text
        self.tious = options.tious or self.of_protocol.tious
        self.seconds = options.seconds
        self.rules = SideRules(
            options.protocol,
            ascii_only=True,
            swaps=self.of_protocol.swaps,
            limit=options.max_proposals or MAX_PROPOSALS,
        )
        if options.measure == "score":
            self.bounds = options.metric.spec.bounds
        if options.measure == "f1" and self.of_protocol.f1_of_means:
            self.depends_on = ("candidates",)

    def scores(self, videos: Sequence[Video], features: Features) -> np.ndarray:
        """Return the score of each video, shape (V,)."""
        if self.measure == "f1":
            precision, recall = self._localisation(videos)
            scores = f_measures(precision.mean(axis=1), recall.mean(axis=1))
        else:
            scores = self._scores_at(videos, features).mean(axis=1)
        return np.where(self._is_left_out(videos), np.nan, scores)

    def scores_at(
        self, videos: Sequence[Video], features: Features, tious: Sequence[float]
    ) -> np.ndarray:
        """Return the score, precision or recall of each video at each threshold alone,
        shape (V, T); NaN for a video that is left out.
        """
        scores = self._scores_at(videos, features, tious)
        scores[self._is_left_out(videos)] = np.nan
        return scores

    def _scores_at(
        self,
        videos: Sequence[Video],
        features: Features,
        tious: Sequence[float] | None = None,
    ) -> np.ndarray:
        """Return the values whose means are the scores, shape (V, T)."""
        if self.measure == "score":
            return self._caption_scores(videos, features, tious or self.tious).T
        precision, recall = self._localisation(videos, tious)
        return precision if self.measure == "precision" else recall

    def addends(
        self, videos: Sequence[Video], features: Features, state: Any
    ) -> np.ndarray:
        """Return score and 1, or precision and recall at each threshold and 1."""
        if not (self.measure == "f1" and self.of_protocol.f1_of_means):
            return super().addends(videos, features, state)
        precision, recall = self._localisation(videos)
        ones = np.ones((len(videos), 1))
        rows = np.concatenate([precision, recall, ones], axis=1)
        rows[self._is_left_out(videos)] = np.nan
        return rows

    def of_sums(self, sums: np.ndarray) -> np.ndarray:
        """Return the mean score, or the mean over thresholds of the F1 of means."""
        if sums.shape[-1] == 2:
            return super().of_sums(sums)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = sums[..., :-1] / sums[..., -1:]
        precision, recall = np.split(means, 2, axis=-1)
        return f_measures(precision, recall).mean(axis=-1)

    def _is_left_out(self, videos: Sequence[Video]) -> np.ndarray:
        """Return the mask of the videos without a score, shape (V,)."""
        leaves_out = self.of_protocol.leaves_out_missing
        return np.array(
            [
                not video.annotators or (leaves_out and video.system.missing)
                for video in videos
            ],
            dtype=bool,
        )

    def _caption_scores(
        self, videos: Sequence[Video], features: Features, tious: Sequence[float]
    ) -> np.ndarray:
        """Return each video's score at each threshold, shape (T, V)."""
        (garbage,) = features.intern([self.of_protocol.garbage.text]).tolist()
        owners: list[np.ndarray] = []
        hyps: list[np.ndarray] = []
        refs: list[np.ndarray] = []
        weights: list[np.ndarray] = []
        for number, video in enumerate(videos):
            if not video.annotators or not len(video.system):
                continue
            pairs = threshold_pairs(
                video,
                tious,
                self.of_protocol.garbage,
                strict=self.of_protocol.strict,
            )
            texts = np.append(video.merged.texts, garbage)
            owners.append(np.full(len(pairs.predictions), number))
            hyps.append(video.system.texts[pairs.predictions])
            refs.append(texts[pairs.references])
            weights.append(pairs.weights)
        if not owners:
            return np.zeros((len(tious), len(videos)))
        all_pairs = Pairs(
            len(videos),
            np.concatenate(owners),
            np.concatenate(hyps),
            np.concatenate(refs),
        )
        every_weight = np.concatenate(weights, axis=1)
        return self.text.of_videos(all_pairs, every_weight, features)

    def _localisation(
        self, videos: Sequence[Video], tious: Sequence[float] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return precision and recall of each video, two arrays (V, T)."""
        thresholds = tuple(tious or self.tious)
        covered = time_closeness
        if self.seconds is not None:
            thresholds = tuple(-value for value in self.seconds)
            covered = start_closeness
        rows = [localisation(video, thresholds, covered) for video in videos]
        precision = np.array([own for own, _ in rows]).reshape(len(videos), -1)
        recall = np.array([own for _, own in rows]).reshape(len(videos), -1)
        return precision, recall
