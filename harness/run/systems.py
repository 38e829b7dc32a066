"""Systems of a run: models under decodings, their captions, and the names of their statistics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from harness import __version__
from harness.contracts import CaptionSet, Features, Metric, Values
from harness.run.example_store import ExampleStore
from harness.run.generate import Captions
from harness.run.metric_plan import MetricPlan
from harness.run.plan import GridPoint, ModelPlan
from harness.run.provenance import code_of, kernels_build
from harness.run.score import scorable
from harness.rundir.pieces import PieceKey
from harness.spec.models import Spec

MAX_DEPTH = 4
"""Depth to which the parts of a metric are searched for embeddings."""


@dataclass(frozen=True)
class Unit:
    """Captions of one model under one generation."""

    model: ModelPlan
    captions: Captions
    largest: tuple[int | None, int | None] = (None, None)
    """Common numbers of candidates and references that the sets are cut to (``sizes: equal``); None: all."""

    def caption_sets(
        self, start: int, stop: int, candidates: int | None = None, references: int | None = None
    ) -> list[CaptionSet]:
        """Return the caption sets of the examples from ``start`` to ``stop``, cut to common and to these numbers."""
        n, m = (_smaller(*cuts) for cuts in zip(self.largest, (candidates, references)))
        return self.captions.caption_sets(start, stop, n=n, m=m)

    def sizes(self, candidates: int | None = None, references: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of candidates and references of the examples with candidates, cut, shapes (B,)."""
        present = self.captions.present
        out: list[np.ndarray] = []
        cuts = ((self.largest[0], candidates), (self.largest[1], references))
        for counts, most in zip((self.captions.candidates, self.captions.references), cuts):
            values = counts[present]
            for cut in most:
                values = values if cut is None else np.minimum(values, cut)
            out.append(values)
        return out[0], out[1]


def _smaller(first: int | None, second: int | None) -> int | None:
    """Return the smaller of two limits, of which None is none."""
    limits = [limit for limit in (first, second) if limit is not None]
    return min(limits, default=None)


@dataclass(frozen=True)
class PlannedSystem:
    """One model under one decoding and number of references: a row of the table of results."""

    unit: int
    point: GridPoint
    references: int | None

    @property
    def candidates(self) -> int | None:
        """Number of candidates that the sets are cut to."""
        return self.point.decoding.candidates

    def described(self) -> Values:
        """Return the decoding as in result records."""
        cut = {} if self.references is None else {"references": self.references}
        return {**self.point.described(), **cut}


class StatisticsKeys:
    """Names of the statistics of metrics, made of everything that they depend on."""

    def __init__(self, spec: Spec, store: ExampleStore, units: Sequence[Unit], corpus_free: Sequence[bool]) -> None:
        self._spec, self._store, self._units, self._corpus_free = spec, store, units, corpus_free
        self._whole = store.digest()
        self._code: dict[str, dict[str, str]] = {}

    def of(
        self, system: PlannedSystem, index: int, plan: MetricPlan, start: int, stop: int, examples: int | None
    ) -> PieceKey:
        """Return the key of the statistics of a metric on the examples from ``start`` to ``stop``.

        ``examples`` is the number of examples that the metric can score in the run, where its p-values depend on it.
        """
        unit = self._units[system.unit]
        return PieceKey.of(
            f"{unit.model.label} {plan.label}",
            __version__, kernels_build(), plan.metric.signature(), dict(plan.params), self._code_of(plan.label, plan.metric),
            self._spec.significance.model_dump(), self._spec.seed,
            [system.candidates, system.references, *unit.largest], examples,
            self._store.digest(start, stop), unit.captions.digest(start, stop),
            "" if self._corpus_free[index] else self._whole,
        )  # fmt: skip

    def _code_of(self, label: str, metric: Metric) -> dict[str, str]:
        if label not in self._code:
            self._code[label] = code_of([metric])
        return self._code[label]


def scorable_examples(unit: Unit, system: PlannedSystem, metric: Metric) -> int:
    """Return the number of examples of a system that a metric can score."""
    n, m = unit.sizes(system.candidates, system.references)
    return int(np.count_nonzero(scorable(metric, n, m)))


def is_corpus_free(metric: Metric) -> bool:
    """Return True for a metric whose statistics depend on the scored example alone: no corpus state, no fitted embedding."""
    if not has_trivial_fit(metric) or metric.spec.held_fixed:
        return False
    parts: list[object] = [metric]
    for _ in range(MAX_DEPTH):
        parts = [part for item in parts for part in _parts(item) if not isinstance(part, (str, bytes))]
        if any(hasattr(part, "encode") or getattr(part, "held_fixed", "") for part in parts):
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
        for part in vars(value).values():
            if isinstance(part, (list, tuple)):
                yield from cast("Sequence[object]", part)
            else:
                yield part
