"""Systems of a run: models under decodings, their captions, and the names of their statistics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from harness import __version__
from harness.contracts import CaptionSet, Decoding, Features, Metric, Values
from harness.run.generate import Captions
from harness.run.metric_plan import MetricPlan
from harness.run.provenance import code_of, kernels_build
from harness.run.reference_subsets import ReferenceSubset
from harness.run.score import scorable
from harness.rundir.artifacts import ArtifactKey
from harness.rundir.records import changed_fields
from harness.spec.models import SignificanceSpec

MAX_DEPTH = 4
"""Depth to which the parts of a metric are searched for embeddings."""


@dataclass(frozen=True)
class PlannedSystem:
    """Captions of one model under one decoding and number of references: a row of the table of results."""

    captions: Captions
    """Captions that all systems share that differ in their sizes alone."""
    decoding: Decoding = field(default_factory=Decoding)
    references: int | None = None
    largest: tuple[int | None, int | None] = (None, None)
    """Common numbers of candidates and references that the sets are cut to (``sizes: equal``); None: all."""
    subset_seed: int | None = None
    """Seed with which the references that count are drawn; None: the first ones count."""

    @property
    def label(self) -> str:
        """Label of the model."""
        return self.captions.label

    @property
    def candidates(self) -> int | None:
        """Number of candidates that the sets are cut to."""
        return self.decoding.candidates

    def describe(self) -> Values:
        """Return the decoding as in result records."""
        cut = {} if self.references is None else {"references": self.references}
        return {**changed_fields(self.decoding), **cut}

    @property
    def cuts(self) -> tuple[int | None, int | None]:
        """Numbers of candidates and references that the sets are cut to; None: all."""
        n, m = zip(self.largest, (self.candidates, self.references))
        return _smaller(*n), _smaller(*m)

    def caption_sets(self, start: int, stop: int) -> list[CaptionSet]:
        """Return the caption sets of the examples from ``start`` to ``stop``."""
        n, m = self.cuts
        return self.captions.caption_sets(start, stop, n=n, m=m, subset=self.subset)

    def uncut_sets(self, start: int, stop: int) -> list[CaptionSet]:
        """Return the largest sets of the examples from ``start`` to ``stop``, whose first references are those of :meth:`caption_sets`."""
        n, m = self.largest
        return self.captions.caption_sets(start, stop, n=n, m=m, subset=self.subset)

    def uncut_key(self, start: int, stop: int) -> tuple[int, bytes]:
        """Return a key that systems share whose :meth:`uncut_sets` are equal."""
        subset, first = self.subset, self.captions.start
        if subset.seed is None or subset.size is None:
            return id(self.captions), b""
        return id(self.captions), (self.captions.references[start - first : stop - first] > subset.size).tobytes()

    @property
    def subset(self) -> ReferenceSubset:
        """Choice of the references that count."""
        return ReferenceSubset(self.cuts[1], self.subset_seed)

    def sizes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of candidates and references of the examples with candidates, shapes (B,)."""
        return self.captions.sizes(*self.cuts)


def _smaller(first: int | None, second: int | None) -> int | None:
    """Return the smaller of two limits, of which None is none."""
    limits = [limit for limit in (first, second) if limit is not None]
    return min(limits, default=None)


class StatisticsKeys:
    """Names of the statistics of metrics, made of everything that they depend on."""

    def __init__(self, significance: SignificanceSpec, seed: int, corpus_key: str) -> None:
        self._significance, self._seed, self._corpus_key = significance, seed, corpus_key
        self._of_metric: dict[str, tuple[dict[str, str], str]] = {}

    def of(self, system: PlannedSystem, plan: MetricPlan, start: int, stop: int, examples: int | None) -> ArtifactKey:
        """Return the key of the statistics of a metric on the examples from ``start`` to ``stop``.

        ``examples`` is the number of examples that the metric can score in the run, where its p-values depend on it.
        """
        if plan.label not in self._of_metric:
            corpus = "" if is_corpus_free(plan.metric) else self._corpus_key
            self._of_metric[plan.label] = code_of([plan.metric]), corpus
        code, corpus = self._of_metric[plan.label]
        return ArtifactKey.of(
            f"{system.label} {plan.label}",
            __version__, kernels_build(), plan.metric.signature(), dict(plan.params), code,
            self._significance.model_dump(), self._seed,
            [system.candidates, system.references, *system.largest, *_draw(system)], examples,
            system.captions.store.digest(start, stop), system.captions.digest(start, stop), corpus,
        )  # fmt: skip


def _draw(system: PlannedSystem) -> list[str]:
    """Return a mark of references that are drawn; the names of other statistics are those of versions that took the first ones."""
    subset = system.subset
    return [] if subset.seed is None or subset.size is None else ["drawn"]


def scorable_examples(system: PlannedSystem, metric: Metric) -> int:
    """Return the number of examples of a system that a metric can score."""
    n, m = system.sizes()
    return int(np.count_nonzero(scorable(metric, n, m)))


def is_corpus_free(metric: Metric) -> bool:
    """Return True for a metric whose statistics depend on the scored example alone: no corpus state, no fitted embedding."""
    if not has_trivial_fit(metric) or metric.spec.held_fixed:
        return False
    components: list[object] = [metric]
    for _ in range(MAX_DEPTH):
        components = [value for item in components for value in _parts(item) if not isinstance(value, (str, bytes))]
        if any(hasattr(value, "encode") or getattr(value, "held_fixed", "") for value in components):
            return False
    return True


def has_trivial_fit(metric: Metric) -> bool:
    """Return True when ``fit`` does nothing and returns None, whatever the references."""
    code = getattr(getattr(type(metric), "fit", None), "__code__", None)
    if code is None or code.co_names or code.co_freevars:
        return False
    return metric.fit((), cast(Features, None)) is None


def _parts(value: object) -> Iterator[object]:
    """Yield the objects that a component holds."""
    if hasattr(value, "__dict__"):
        for attribute in vars(value).values():
            if isinstance(attribute, (list, tuple)):
                yield from cast("Sequence[object]", attribute)
            else:
                yield attribute
