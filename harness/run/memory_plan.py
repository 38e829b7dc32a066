"""Plan of a run on captions in memory: systems by label, on the same examples."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.contracts import CaptionSet, Decoding, Example, Failure, Parameters
from harness.errors import InputError
from harness.run.decoding_grid import decoding_grid
from harness.run.finished import Run
from harness.run.metric_plan import AnyMetricPlan, ModelPlan, Plan, metric_plans
from harness.spec.models import Spec

READER = "examples in memory"
ADAPTER = "captions in memory"
Captions = Mapping[str, tuple[str, ...]]
"""Texts by the id of the example."""


@dataclass(frozen=True)
class ExamplesInMemory:
    """Reader of references in memory."""

    references: Captions

    def fingerprint(self) -> str:
        """Return a hash of the texts."""
        return _hash(self.references)

    def __iter__(self) -> Iterator[Example]:
        for key, texts in self.references.items():
            yield Example(key, texts)


@dataclass(frozen=True)
class CaptionsInMemory:
    """Adapter of captions in memory."""

    captions: Captions

    def fingerprint(self) -> str:
        """Return a hash of the texts."""
        return _hash(self.captions)

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[tuple[str, ...] | Failure]:
        """Yield the captions of each example."""
        for example in examples:
            texts = self.captions.get(example.id)
            yield Failure("no captions") if texts is None else texts


def plan_in_memory(
    systems: Mapping[str, Sequence[CaptionSet]],
    metrics: Sequence[AnyMetricPlan],
    settings: Parameters,
) -> Plan:
    """Return the plan of systems on the same examples.

    Parameters
    ----------
    systems : mapping
        Label -> caption sets of the system; those of an example have the same
        references in each system.
    metrics : sequence of AnyMetricPlan
        The metrics.
    settings : mapping
        Keys of the spec, such as ``seed``, ``significance`` and ``limit``.

    Raises
    ------
    InputError
        Two systems have other references of one example.
    """
    references: dict[str, tuple[str, ...]] = {}
    for label, sets in systems.items():
        for item in sets:
            earlier = references.setdefault(item.id, item.references)
            if earlier != item.references:
                raise InputError(
                    f"the references of '{item.id}' differ from those of an earlier "
                    "system",
                    label,
                )
    spec = Spec.model_validate(
        {
            "task": f"score {', '.join(systems)}",
            "dataset": {"reader": READER},
            "models": [{ADAPTER: {"label": label}} for label in systems],
            "metrics": [{plan.name: dict(plan.params)} for plan in metrics],
            **settings,
        }
    )
    models: list[ModelPlan] = []
    for label, sets in systems.items():
        adapter = CaptionsInMemory({item.id: item.candidates for item in sets})
        models.append(ModelPlan(label, ADAPTER, {"label": label}, adapter))
    return Plan(
        spec,
        ExamplesInMemory(references),
        tuple(models),
        decoding_grid(spec.decoding),
        tuple(metrics),
        spec.reference_counts,
    )


def plan_again(run: Run, metrics: Sequence[object]) -> Plan:
    """Return the plan of a run of captions in memory with other metrics; the captions
    are those of its samples.
    """
    spec = run.provenance.spec
    systems = {item.label: item.caption_sets() for item in run.samples.systems}
    settings = {
        key: spec[key] for key in ("significance", "bootstrap", "seed", "limit")
    }
    return plan_in_memory(systems, metric_plans(metrics), settings)


def _hash(texts: Captions) -> str:
    return hashlib.sha256(json.dumps(dict(texts)).encode()).hexdigest()
