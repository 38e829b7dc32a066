"""The metrics of a run or of a call: parameters expanded, labels made unique;
the plan of a run of models.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar, cast

from harness.contracts import (
    Adapter,
    ChecksInstallation,
    Decoding,
    Details,
    Metric,
    Parameters,
    Reader,
    ReadsMeta,
    Statistics,
    TokenScoreMetric,
    Values,
)
from harness.contracts.parameters import list_parameters
from harness.errors import HarnessError
from harness.files.yaml_source import Located
from harness.registry import current, resolve, split_spec
from harness.spec.metric_text import parse_metric, split_metrics
from harness.spec.models import MAX_RANGE, Spec
from harness.spec.path_parameters import paths_of


@dataclass(frozen=True)
class MetricPlan:
    """One metric of caption sets; ``label`` is unique within the run."""

    label: str
    name: str
    """Registered name."""
    params: Parameters
    metric: Metric

    def details(self, stats: Statistics) -> dict[str, object] | None:
        """Return the metric's further numbers for the record,
        or None when it has none.
        """
        if not isinstance(self.metric, Details):
            return None
        return self.metric.details(stats) or None


@dataclass(frozen=True)
class TokenMetricPlan:
    """One metric of level ``model``, which judges token scores;
    ``label`` is unique within the run.
    """

    label: str
    name: str
    """Registered name."""
    params: Parameters
    metric: TokenScoreMetric

    def of_meta(self, meta: Iterable[Parameters]) -> TokenMetricPlan:
        """Return the plan for examples with this metadata,
        in the order of their token scores.
        """
        if not isinstance(self.metric, ReadsMeta):
            return self
        return replace(self, metric=self.metric.of_meta(meta))


AnyMetricPlan = MetricPlan | TokenMetricPlan


def metric_plan(
    name: str, params: Parameters, metric: Metric | TokenScoreMetric
) -> AnyMetricPlan:
    """Return the plan of a metric instance, labelled with the name of its spec."""
    if metric.spec.level == "model":
        return TokenMetricPlan(
            metric.spec.name, name, params, cast(TokenScoreMetric, metric)
        )
    return MetricPlan(metric.spec.name, name, params, cast(Metric, metric))


def metric_plans(metrics: Sequence[object]) -> list[AnyMetricPlan]:
    """Return plans of metrics: names, ``name:param=value`` texts or lists of them,
    ``{name: params}``, instances, functions.
    """
    plans: list[AnyMetricPlan] = []
    for item in _single(metrics):
        if not isinstance(item, (str, Mapping)):
            instance = cast(Metric, resolve("metrics", item))
            plans.append(metric_plan(instance.spec.name, {}, instance))
            continue

        text = parse_metric(item) if isinstance(item, str) else cast(object, item)
        name, params = split_spec(text, "metric")
        for choice in expand_metric_params(name, params):
            metric = current().create("metrics", name, choice)
            plans.append(metric_plan(name, choice, metric))
    return with_unique_labels(plans)


def _single(metrics: Sequence[object]) -> Iterator[object]:
    """Yield the metrics with comma-separated texts split into their parts."""
    for item in metrics:
        yield from split_metrics(item) if isinstance(item, str) else (item,)


def caption_plans(plans: Sequence[AnyMetricPlan]) -> list[MetricPlan]:
    """Return the plans of metrics that score caption sets."""
    return [plan for plan in plans if isinstance(plan, MetricPlan)]


def with_unique_labels(plans: Sequence[AnyMetricPlan]) -> list[AnyMetricPlan]:
    """Return the plans with labels that differ."""
    return [
        replace(plan, label=label) for label, plan in zip(metric_labels(plans), plans)
    ]


def expand_metric_params(name: str, params: Parameters) -> Iterator[Values]:
    """Yield every combination of the list-valued parameters of a registered metric."""
    yield from expand_params(params, list_parameters(current().load("metrics", name)))


def expand_params(params: Parameters, keep: Collection[str] = ()) -> list[Values]:
    """Return every combination of the list-valued parameters, except those in ``keep``,
    which are lists by nature.

    >>> expand_params({"distance": ["a", "b"], "n": 2})
    [{'distance': 'a', 'n': 2}, {'distance': 'b', 'n': 2}]

    Raises :class:`HarnessError` for more than :data:`MAX_RANGE` combinations.
    """
    axes: list[list[tuple[str, object]]] = []
    for name, value in params.items():
        choices = _choices(value) if name not in keep else (value,)
        axes.append([(name, choice) for choice in choices])
    count = math.prod(map(len, axes))
    if count > MAX_RANGE:
        raise HarnessError(
            f"the lists of parameters make {count:,} combinations; "
            f"expected at most {MAX_RANGE:,}"
        )
    return [dict(choice) for choice in itertools.product(*axes)]


def _choices(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list) else (value,)


def metric_labels(plans: Sequence[AnyMetricPlan]) -> list[str]:
    """Return the labels, with the parameters that tell plans apart where two labels are
    equal.
    """
    counts = Counter(plan.label for plan in plans)
    labels: list[str] = []
    for plan in plans:
        label = plan.label
        if counts[label] > 1 and plan.params:
            # a value that the label has already, as in trm(cider), is not repeated
            text = ",".join(
                f"{name}={value}"
                for name, value in _with_file_names(plan).items()
                if f"({value}" not in label
            )
            label = f"{label}[{text}]" if text else label
        labels.append(label)
    return unique(labels)


def _with_file_names(plan: AnyMetricPlan) -> Values:
    """Return the parameters of a plan with the names of files and folders in place of
    their paths, which depend on the working folder.
    """
    paths = paths_of("metrics", plan.name)
    return {
        name: Path(value).name if name in paths and isinstance(value, str) else value
        for name, value in plan.params.items()
    }


def unique(labels: Sequence[str]) -> list[str]:
    """Return the labels with repeated ones numbered.

    >>> unique(["a", "b", "a"])
    ['a', 'b', 'a #2']
    """
    seen: Counter[str] = Counter()
    out: list[str] = []
    for label in labels:
        seen[label] += 1
        out.append(label if seen[label] == 1 else f"{label} #{seen[label]}")
    return out


def default_metrics() -> tuple[list[str], Mapping[str, str]]:
    """Return the names of the default metrics,
    and the reason for each one that is left out.

    The registry gives built-in metrics the role ``default``, or
    ``default-if-installed``: these are left out where they lack a program or a file.
    """
    registry = current()
    names = [entry.name for entry in registry.all_with_role("metrics", "default")]
    left_out: dict[str, str] = {}
    for entry in registry.all_with_role("metrics", "default-if-installed"):
        try:
            metric = registry.create("metrics", entry.name)
            if isinstance(metric, ChecksInstallation):
                metric.check_installation()
            names.append(entry.name)
        except HarnessError as error:
            left_out[entry.name] = str(error)
    return names, left_out


@dataclass(frozen=True)
class ModelPlan:
    """One model of the run: an adapter to ask, of which each decoding and number of
    references of the grid makes a system.
    """

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
    obstacle: ClassVar = ""
    spec: Spec
    reader: Reader
    models: tuple[ModelPlan, ...]
    decodings: tuple[Decoding, ...]
    metrics: tuple[AnyMetricPlan, ...]
    reference_counts: tuple[int | None, ...]

    def describe(self) -> Values:
        """Return the reader, the labels of the models and the number of decodings."""
        models = [model.label for model in self.models]
        return {
            "reader": self.spec.dataset.reader,
            "models": models,
            "decodings": len(self.decodings),
        }

    @property
    def media_places(self) -> list[object]:
        """Values of parameters that may name the data set or folders of media."""
        images = [plan.params.get("images") for plan in (*self.models, *self.metrics)]
        of_data = [value for _, value in Located(self.spec.dataset.params).walk()]
        return [*of_data, *images]

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
        """Decodings to generate with, each with those of the grid that share its
        captions: they differ in ``candidates`` alone.
        """
        counts = [d.candidates for d in self.decodings if d.candidates is not None]
        largest = max(counts, default=None)
        groups: dict[Decoding, list[Decoding]] = {}
        for decoding in self.decodings:
            generation = replace(decoding, candidates=largest)
            groups.setdefault(generation, []).append(decoding)
        return groups
