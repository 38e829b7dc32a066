"""First-use work ahead of time: dictionaries built, models loaded."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import cast

from harness.contracts import CaptionSet, Fetches, Reader
from harness.errors import HarnessError
from harness.registry import current
from harness.run import score as scoring
from harness.run import warmup
from harness.run.features import FeatureCache
from harness.run.metric_plan import MetricPlan, caption_plans, metric_plan, metric_plans
from harness.run.planned_components import create_component
from harness.spec.loading import LoadedSpec
from harness.spec.models import SignificanceSpec

TEXTS = (
    (
        "a dog runs on the grass",
        "two dogs are running outside",
        "the dog chases a red ball",
    ),
    (
        "a man rides a bicycle down the street",
        "someone on a bike",
        "the cyclist turned left, quickly",
    ),
)
NO_FILES = frozenset({"references"})
"""Needs of metrics that no model, image or program has to be there for."""


def built_in_metrics() -> list[MetricPlan]:
    """Return the built-in metrics of captions that run without a model, images, a
    server or Java, by their defaults.
    """
    plans: list[MetricPlan] = []
    for entry in current().entries("metrics"):
        if entry.provider != "harness":
            continue
        try:
            metric = current().create("metrics", entry.name, {})
        except HarnessError:  # needs a parameter, a file or a package that is not there
            continue
        plan = metric_plan(entry.name, {}, metric)
        if isinstance(plan, MetricPlan) and plan.metric.spec.needs <= NO_FILES:
            plans.append(plan)
    return plans


def fetched_plans(name: str) -> list[MetricPlan]:
    """Return a metric by its defaults, after the download of the files that it lacks
    (:class:`~harness.contracts.Fetches`).
    """
    if isinstance(component := current().load("metrics", name), Fetches):
        component.fetch()
    return caption_plans(metric_plans([name]))


def reference_sets(loaded: LoadedSpec) -> list[CaptionSet]:
    """Return the references of the data set of a spec, as references and as candidates:
    what a store of vectors can hold before a model has written captions.
    """
    spec = loaded.spec
    reader = create_component(
        loaded, ("dataset",), "readers", spec.dataset.reader, spec.dataset.params
    )
    return [
        CaptionSet(
            example.id,
            example.references,
            example.references,
            example.media,
            example.source,
            example.meta,
        )
        for example in islice(cast(Reader, reader), spec.limit)
        if example.references
    ]


def warm_metrics(
    plans: Sequence[MetricPlan], sets: Sequence[CaptionSet] = ()
) -> Iterator[tuple[str, float, str]]:
    """Score examples with each metric, and yield its label, the seconds and a reason if
    it cannot run. Without ``sets``, two small ones are scored with p-values.
    """
    warmup.warm(plan.metric for plan in plans)
    method = "none" if sets else "exact"
    sets = sets or [
        CaptionSet(str(k), texts[:2], texts[1:], None, texts[0])
        for k, texts in enumerate(TEXTS)
    ]
    features = FeatureCache([item.references for item in sets])
    batches = scoring.batches(sets, features)
    significance = SignificanceSpec.model_validate({"method": method})

    # what is built in the background comes last
    for plan in sorted(plans, key=lambda item: hasattr(item.metric, "warm")):
        started = time.perf_counter()
        reason = ""
        try:
            scored = scoring.score(plan.metric, batches, features, significance, 0)
            scored.per_example(plan.metric)
        except HarnessError as error:
            reason = str(error)
        yield plan.label, time.perf_counter() - started, reason
