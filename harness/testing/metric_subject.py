"""A metric under check: its caption sets, and its numbers on them by the way the runner takes."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from harness.contracts import Batch, CaptionSet, ExactTestable, Features, Metric, Testable
from harness.registry.manifest_schema import Entry
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.testing import sample_captions as samples
from harness.testing.base_subject import Observed
from harness.testing.results import NotApplicable

RELATIVE = 1e-9
"""What another order of summation may do to a number."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """What a metric gave: rows in the order of the sets."""

    stats: np.ndarray
    """(B, d), NaN at the end of rows that are shorter than others."""
    per_example: np.ndarray
    """(B,), NaN where undefined."""
    value: float

    @property
    def defined(self) -> np.ndarray:
        return ~np.isnan(self.stats[:, 0])

    def same_rows(self, other: Numbers) -> bool:
        """To the digit."""
        return same_rows(self.stats, other.stats)


@dataclass(eq=False)
class MetricSubject(Observed[Numbers]):
    """One metric and the sets it is checked on (``None``: the kit's own)."""

    gives, told_by = "scores", "scores"

    metric: Any
    given: Sequence[CaptionSet] | None = None
    entry: Entry | None = None
    """What the catalogue says of it, where it was named."""
    first_signature: str = ""
    """Its signature before anything was scored."""

    @property
    def model_level(self) -> bool:
        return getattr(getattr(self.metric, "spec", None), "level", None) == "model"

    @cached_property
    def sets(self) -> list[CaptionSet]:
        """All of one shape, with different ids and different texts."""
        if self.model_level:
            raise NotApplicable("judges token scores, not captions")
        spec = self.metric.spec
        if self.given is not None:
            return list(self.given)
        if "images" in spec.needs:
            raise NotApplicable("needs images: give caption sets that have them (sets=...)")
        n, m = max(3, spec.min_candidates), max(3, spec.min_references, spec.min_texts - max(3, spec.min_candidates))
        if n + m > len(samples.SCENES[0]):
            raise NotApplicable(f"needs {n} + {m} texts: give caption sets that have them (sets=...)")
        return samples.caption_sets(n, m)

    def observe(self) -> Numbers:
        sets = self.sets
        self.first_signature = self.metric.signature()
        return self.numbers(sets)

    def numbers(
        self,
        sets: Sequence[CaptionSet],
        *,
        metric: Any = None,
        features: Features | None = None,
        size: int = scoring.BATCH,
    ) -> Numbers:
        """Scores of the sets, batches of at most ``size``; without ``features`` everything is fitted anew on the sets."""
        metric = metric or self.metric
        features = features or FeatureCache([item.references for item in sets])
        scored = scoring.score(metric, scoring.batches(sets, features, size), features, None, 0)
        return collected(metric, scored.stats)

    def fitted(self) -> Features:
        """Features whose corpus is that of :attr:`sets`: other sets can be scored by the same corpus state."""
        return FeatureCache([item.references for item in self.sets])

    def shaped(self, n: int, m: int) -> list[CaptionSet]:
        """The sets cut, or their texts repeated, to n candidates and m references."""
        return [
            replace(item, candidates=cycled(item.candidates, n), references=cycled(item.references, m))
            for item in self.sets
        ]

    def takes(self, n: int, m: int) -> bool:
        spec = self.metric.spec
        return n >= spec.min_candidates and m >= spec.min_references and n + m >= spec.min_texts

    def small_batch(self, most: int) -> tuple[Batch, Features, Any]:
        """The first sets as a batch of at most ``most`` + ``most`` texts, for tests that enumerate, and the corpus state."""
        spec = self.metric.spec
        n, m = max(2, spec.min_candidates), max(3, spec.min_references)
        features = self.fitted()
        state = scoring.fitted(self.metric, features)
        if n > most or m > most:
            raise NotApplicable(f"{n} + {m} texts are too many to enumerate here")
        return features.batch(self.shaped(n, m)[:3]), features, state

    @property
    def testable(self) -> bool:
        return isinstance(self.metric, (Testable, ExactTestable))


def cycled(texts: Sequence[str], count: int) -> tuple[str, ...]:
    return tuple(texts[k % len(texts)] for k in range(count))


def collected(metric: Metric, stats: np.ndarray) -> Numbers:
    """Per-example scores and the corpus number of statistic rows, undefined ones left out."""
    defined = ~np.isnan(stats[:, 0])
    per_example = np.full(len(stats), np.nan)
    if defined.any():
        per_example[defined] = metric.per_example(stats[defined])
    value = float(metric.reduce(stats[defined])) if defined.any() else float("nan")
    return Numbers(stats, per_example, value)


def padded(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Rows of shards below each other, NaN at the end of the shorter ones."""
    width = max(part.shape[1] for part in parts)
    return np.concatenate(
        [np.pad(part, ((0, 0), (0, width - part.shape[1])), constant_values=np.nan) for part in parts]
    )


def same_rows(one: np.ndarray, other: np.ndarray) -> bool:
    """Equal to the digit, NaN to NaN, whatever NaN stands at the end of the rows."""
    if len(one) != len(other):
        return False
    both = padded([one, other])
    return np.array_equal(both[: len(one)], both[len(one) :], equal_nan=True)


def near(one: Any, other: Any) -> bool:
    """Equal but for the order of summation."""
    return np.allclose(one, other, rtol=RELATIVE, atol=1e-10, equal_nan=True)


def worst(one: np.ndarray, other: np.ndarray, sets: Sequence[CaptionSet]) -> str:
    """``scene-2: 0.5 and 0.25``: the example on which two lots of per-example scores differ most."""
    one, other = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    with np.errstate(invalid="ignore"):  # infinite scores are told by another check
        gap = np.where(np.isnan(one) != np.isnan(other), np.inf, np.nan_to_num(np.abs(one - other)))
    k = int(np.argmax(gap))
    return f"{sets[k].id}: {one[k]:.12g} and {other[k]:.12g}"


def snapshot(sets: Sequence[CaptionSet]) -> Any:
    return copy.deepcopy([(s.id, s.candidates, s.references, s.media, s.source, dict(s.meta)) for s in sets])
