"""The plan of a run of models: every component that it uses, created and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from harness.contracts import Adapter, Decoding, Parameters, Reader, Values
from harness.files.yaml_source import Located
from harness.run.metric_plan import AnyMetricPlan, MetricPlan, TokenMetricPlan
from harness.spec.models import Spec


@dataclass(frozen=True)
class ModelPlan:
    """One model of the run: an adapter to ask, of which each decoding and number of references of the grid makes a system."""

    label: str
    name: str
    """Registered name of the adapter."""
    params: Parameters
    adapter: Adapter


@dataclass(frozen=True)
class Plan:
    """Everything that a run of models will do."""

    kind: ClassVar = ""
    absence: ClassVar = ""
    spec: Spec
    reader: Reader
    models: tuple[ModelPlan, ...]
    decodings: tuple[Decoding, ...]
    metrics: tuple[AnyMetricPlan, ...]
    reference_counts: tuple[int | None, ...]

    def describe(self) -> Values:
        """Return the reader, the labels of the models and the number of decodings."""
        models = [model.label for model in self.models]
        return {"reader": self.spec.dataset.reader, "models": models, "decodings": len(self.decodings)}

    @property
    def media_places(self) -> list[object]:
        """Values of parameters that may name the data set or folders of media."""
        images = [plan.params.get("images") for plan in (*self.models, *self.metrics)]
        return [*(value for _, value in Located(self.spec.dataset.params).walk()), *images]

    @cached_property
    def caption_metrics(self) -> tuple[MetricPlan, ...]:
        """Metrics that score caption sets."""
        return tuple(plan for plan in self.metrics if isinstance(plan, MetricPlan))

    @cached_property
    def token_metrics(self) -> tuple[TokenMetricPlan, ...]:
        """Metrics that judge token scores."""
        return tuple(plan for plan in self.metrics if isinstance(plan, TokenMetricPlan))

    @cached_property
    def generations(self) -> Mapping[Decoding, Sequence[Decoding]]:
        """Decodings to generate with, each with those of the grid that share its captions: they differ in ``candidates`` alone."""
        largest = max((d.candidates for d in self.decodings if d.candidates is not None), default=None)
        groups: dict[Decoding, list[Decoding]] = {}
        for decoding in self.decodings:
            groups.setdefault(replace(decoding, candidates=largest), []).append(decoding)
        return groups
