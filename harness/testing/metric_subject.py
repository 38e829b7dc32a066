"""Metrics under check: caption sets or token scores, and the numbers of the metric
computed as a run computes them.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from harness.contracts import (
    Batch,
    CaptionSet,
    Embedding,
    Features,
    Metric,
    Objects,
    State,
    Statistics,
    TokenScores,
    example_scores,
    is_defined,
    join_statistics,
)
from harness.registry.manifest_schema import Entry
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.testing import sample_captions
from harness.testing.base_subject import BaseSubject
from harness.testing.embeddings import FLOAT32_TOLERANCE
from harness.testing.results import Instance, NotApplicable
from harness.testing.sample_captions import repeat_to

RELATIVE_TOLERANCE = 1e-9
"""Relative tolerance for numbers summed in another order."""
ABSOLUTE_TOLERANCE = 1e-10


class RecordingFeatures(FeatureCache):
    """A feature cache that records whether embeddings are used."""

    encoded = False

    def vectors(self, embedding: Embedding, ids: np.ndarray) -> np.ndarray:
        """Record the use and return the vectors, shape ``ids.shape + (d,)``."""
        self.encoded = True
        return super().vectors(embedding, ids)


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers of a metric; rows are in the order of the caption sets."""

    stats: Statistics
    """Statistics; shorter rows are filled up with NaN."""
    per_example: np.ndarray
    """Scores (B,), NaN where undefined."""
    value: float
    """The corpus number."""

    @property
    def is_defined(self) -> np.ndarray:
        """True for each example that is defined, shape (B,)."""
        return is_defined(self.stats)

    def same_rows(self, right: Numbers) -> bool:
        """Return whether the statistics are equal to the digit."""
        return same_rows(self.stats, right.stats)


@dataclass(eq=False)
class MetricSubject(BaseSubject[Numbers]):
    """A metric of caption sets, and the sets on which it is checked.

    Parameters
    ----------
    captions : sequence of CaptionSet, optional
        Sets of one shape with different ids; None: those of the kit, where the metric
        needs no images.
    entry : Entry, optional
        Catalogue entry of the metric, when it is checked by name.
    """

    noun = "scores"
    base_check = "scores"
    scope = "scores captions, not token scores"

    captions: Sequence[CaptionSet] | None = field(default=None, kw_only=True)
    entry: Entry | None = field(default=None, kw_only=True)

    @cached_property
    def sets(self) -> list[CaptionSet]:
        """Caption sets of one shape with different ids and different texts."""
        spec = self.component.spec
        if self.captions is not None:
            return list(self.captions)
        lacking = sorted({"images", "events"} & spec.needs)
        if lacking:
            raise NotApplicable(
                f"needs {lacking[0]}: give caption sets that have them (sets=...)"
            )

        n = max(3, spec.min_candidates)
        m = max(3, spec.min_references, spec.min_texts - n)
        if n + m > len(sample_captions.SCENES[0]):
            raise NotApplicable(
                f"needs {n} + {m} texts: give caption sets that have them (sets=...)"
            )
        return sample_captions.caption_sets(n, m)

    def compute(self, component: Instance = None) -> Numbers:
        """Return the numbers of the metric on :attr:`sets`,
        with corpus state of their own references.
        """
        return self.numbers(self.sets, metric=component)

    def numbers(
        self,
        sets: Sequence[CaptionSet],
        *,
        metric: Metric | None = None,
        features: Features | None = None,
    ) -> Numbers:
        """Return the numbers on other sets; without ``features`` the corpus state is
        fitted on their references.
        """
        metric = self.component if metric is None else metric
        assert metric is not None

        features = features or FeatureCache([item.references for item in sets])
        batches = scoring.batches(sets, features)
        scored = scoring.score(metric, batches, features, None, 0)
        return numbers_of(metric, scored.stats)

    def difference(self, expected: Numbers, actual: Numbers) -> str:
        """Return the example with the largest difference;
        statistics must be equal to the digit.
        """
        if not actual.same_rows(expected):
            return largest_difference(
                expected.per_example, actual.per_example, self.sets
            )
        if nearly_equal(expected.value, actual.value):
            return ""
        return f"{expected.value!r} and {actual.value!r}"

    def nearly_equal(self, left: Numbers, right: Numbers) -> bool:
        """Return whether scores and corpus numbers are equal but for the order of
        summation.
        """
        return nearly_equal(left.value, right.value) and nearly_equal(
            left.per_example, right.per_example
        )

    @property
    def tolerance(self) -> float:
        """Relative tolerance for rows of texts in other batches: vectors of a network
        depend on the texts that are encoded together.
        """
        return FLOAT32_TOLERANCE if "embeddings" in self.component.spec.needs else 0.0

    def fit_features(self) -> Features:
        """Return new features with the references of :attr:`sets`, so that other sets
        are scored by their corpus state.
        """
        return FeatureCache([item.references for item in self.sets])

    def state(self, features: Features) -> State:
        """Return the corpus state of the metric for the references of ``features``."""
        return scoring.fit_once(self.component, features)

    def reshape_sets(self, n: int, m: int) -> list[CaptionSet]:
        """Return the sets with their texts cut, or repeated,
        to n candidates and m references.
        """
        return [
            replace(
                item,
                candidates=repeat_to(item.candidates, n),
                references=repeat_to(item.references, m),
            )
            for item in self.sets
        ]

    def accepts(self, n: int, m: int) -> bool:
        """Return whether n candidates and m references are enough for the metric's
        specification.
        """
        spec = self.component.spec
        return (
            n >= spec.min_candidates
            and m >= spec.min_references
            and n + m >= spec.min_texts
        )

    def small_batch(self, limit: int) -> tuple[Batch, Features, State]:
        """Return a batch of three sets, small enough to enumerate its relabelings, with
        its features and corpus state.

        Raises :class:`NotApplicable` when the metric needs more than ``limit``
        candidates or references.
        """
        spec = self.component.spec
        n = max(2, spec.min_candidates)
        m = max(3, spec.min_references)
        if n > limit or m > limit:
            raise NotApplicable(
                f"{n} + {m} texts have too many relabelings to enumerate"
            )

        features = self.fit_features()
        batch = features.batch(self.reshape_sets(n, m)[:3])
        return batch, features, self.state(features)


@dataclass(eq=False)
class TokenScoreSubject(BaseSubject[dict[str, float]]):
    """A metric of level ``model``, and the token scores on which it is checked.

    Parameters
    ----------
    entry : Entry, optional
        Catalogue entry of the metric, when it is checked by name.
    """

    noun = "columns"
    base_check = "columns"
    scope = "scores token probabilities, not captions"

    entry: Entry | None = field(default=None, kw_only=True)

    def compute(self, component: Instance = None) -> dict[str, float]:
        """Return the columns of the metric for :func:`token_scores`."""
        columns = (component or self.component).evaluate_scores(token_scores())
        if not isinstance(columns, dict):
            raise TypeError(
                f"evaluate_scores returns {type(columns).__name__}; "
                "expected a dict of numbers"
            )
        return columns

    def difference(self, expected: dict[str, float], actual: dict[str, float]) -> str:
        """Return the first column that differs."""
        if list(expected) != list(actual):
            return "other columns"
        for name, value in expected.items():
            if not np.array_equal(value, actual[name], equal_nan=True):
                return f"{name}: {value!r} and {actual[name]!r}"
        return ""


def token_scores(
    examples: int = 5, references: int = 3, seed: int = 0
) -> list[list[TokenScores]]:
    """Return random log-probabilities and ranks of ``references`` texts for each of
    ``examples`` examples.
    """
    rng = np.random.default_rng(seed)
    scores = []
    for _ in range(examples):
        entries = []
        for length in rng.integers(3, 9, references).tolist():
            p = rng.uniform(0.01, 0.9, length)
            words = tuple(f"w{k}" for k in rng.integers(0, 30, length))
            # a token with more than half of the probability is the first in rank
            ranks = np.where(p > 0.5, 0, rng.integers(1, 50, length))
            entries.append(TokenScores(np.log(p), ranks, words))
        scores.append(entries)
    return scores


def numbers_of(metric: Metric, stats: Statistics) -> Numbers:
    """Return the scores and the corpus number of statistics,
    without the undefined rows.
    """
    defined = is_defined(stats)
    value = float(metric.reduce(stats[defined])) if defined.any() else float("nan")
    return Numbers(stats, example_scores(metric, stats), value)


def same_rows(left: Statistics, right: Statistics, tolerance: float = 0.0) -> bool:
    """Return whether two statistics are equal to the digit, or within a tolerance,
    apart from NaN at the end of rows (B, d).

    >>> same_rows(np.array([[1.0, np.nan]]), np.array([[1.0]]))
    True
    """
    if len(left) != len(right):
        return False
    if isinstance(left, Objects) and isinstance(right, Objects):
        arrays = left.to_arrays()
        others = right.to_arrays()
        return set(arrays) == set(others) and all(
            _same(arrays[name], others[name], tolerance) for name in arrays
        )

    # rows of unequal length are filled up with NaN
    stacked = cast(np.ndarray, join_statistics([left, right]))
    return _same(stacked[: len(left)], stacked[len(left) :], tolerance)


def _same(left: np.ndarray, right: np.ndarray, tolerance: float) -> bool:
    if left.shape != right.shape or left.dtype.kind != "f":
        return np.array_equal(left, right)
    if tolerance:
        return nearly_equal(left, right, tolerance)
    return np.array_equal(left, right, equal_nan=True)


def nearly_equal(left: Instance, right: Instance, tolerance: float = 0.0) -> bool:
    """Return whether numbers or arrays are equal but for the order of summation;
    NaN equals NaN.

    With a ``tolerance`` they may differ by this share of the largest number.
    """
    share = max(tolerance, RELATIVE_TOLERANCE)
    largest = np.nanmax(np.abs(right), initial=0.0) if tolerance else 0.0
    return np.allclose(
        left,
        right,
        rtol=share,
        atol=max(ABSOLUTE_TOLERANCE, tolerance * largest),
        equal_nan=True,
    )


def largest_difference(
    left: np.ndarray, right: np.ndarray, sets: Sequence[CaptionSet]
) -> str:
    """Return ``scene-2: 0.5 and 0.25``: the example on which two arrays of scores (B,)
    differ most.
    """
    left = np.asarray(left, dtype=float)
    right = np.asarray(right, dtype=float)
    # infinite scores are reported by the check 'finite'
    with np.errstate(invalid="ignore"):
        gap = np.where(
            np.isnan(left) != np.isnan(right),
            np.inf,
            np.nan_to_num(np.abs(left - right)),
        )

    k = int(np.argmax(gap))
    return f"{sets[k].id}: {left[k]:.12g} and {right[k]:.12g}"


def copy_of_sets(sets: Sequence[CaptionSet]) -> list[tuple[Any, ...]]:
    """Return a deep copy of the content of caption sets, to compare with later."""
    return copy.deepcopy(
        [
            (s.id, s.candidates, s.references, s.media, s.source, dict(s.meta))
            for s in sets
        ]
    )
