"""Explanations of scores: the texts of an example on which a metric depends most, for
the examples that stand out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from harness.contracts import CaptionSet, Example, Explains, Metric
from harness.page.assets import DataBlock
from harness.page.groups import Group
from harness.registry.display_names import display_name
from harness.results import MetricEntry, Run, System
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.run.stored_metrics import read_metric

DEFAULT_EXAMPLES = 40
"""Number of examples that are explained by metrics without embeddings,
where none is given.
"""
TOLERANCE = 1e-5
"""Largest difference between a score of the run and the score that is explained."""


@dataclass(frozen=True)
class Explained:
    """Explanations by example id, one list per system."""

    data: dict[str, list[list[dict[str, object]]]] = field(
        default_factory=dict[str, list[list[dict[str, object]]]]
    )
    note: str = ""

    def blocks(self, name: str) -> list[DataBlock]:
        """Return the block of a group's explanations; none without explanations."""
        return [DataBlock.of_json(f"{name}-explain", self.data)] if self.data else []


def explanations(
    group: Group,
    ids: Sequence[str],
    examples: Sequence[Example],
    count: int | None = None,
) -> Explained:
    """Return the explanations of the examples with the largest scores of each metric
    that explains its scores.

    Parameters
    ----------
    group : Group
        Runs of common data.
    ids : sequence of str
        Examples on the page.
    examples : sequence of Example
        The data set, for corpus statistics; empty where it is not there: the references
        of the captions then stand for it.
    count : int, optional
        Number of examples for each metric; default: 40 for metrics without embeddings,
        none for the others.
    """
    data: dict[str, list[list[dict[str, object]]]] = {}
    lines: list[str] = []
    for run, entry in _entries(group):
        metric = read_metric(run, entry.label)
        # an embedding may be a network, which takes long
        default = 0 if "embeddings" in metric.spec.needs else DEFAULT_EXAMPLES
        amount = default if count is None else count
        if not isinstance(metric, Explains) or not amount:
            continue

        selected = _select_examples(group, entry.label, ids, amount)
        if selected and _explain(group, metric, entry.label, selected, examples, data):
            name = display_name(entry.label, entry.signature)
            lines.append(f"{name} ({len(selected)})")

    if not lines:
        return Explained(data)
    names = ", ".join(lines)
    note = f"Explained, for the examples with the largest scores: {names}."
    return Explained(data, note)


def _entries(group: Group) -> list[tuple[Run, MetricEntry]]:
    """Return the metrics of all runs, one per label, each with a run that has it."""
    entries = {
        entry.label: (run, entry)
        for run in group.runs
        for entry in run.provenance.metrics
    }
    return [
        (run, entry) for run, entry in entries.values() if entry.label in group.metrics
    ]


def _select_examples(
    group: Group, label: str, ids: Sequence[str], count: int
) -> list[str]:
    """Return the examples with the largest score of any system."""
    largest = dict.fromkeys(ids, -np.inf)
    for _, system in group.systems:
        if label not in system.table.metrics:
            continue
        for example, value in zip(system.examples, system.scores(label)):
            if example in largest and value > largest[example]:
                largest[example] = float(value)
    scored = [example for example in ids if largest[example] > -np.inf]
    return sorted(scored, key=lambda example: -largest[example])[:count]


def _explain(
    group: Group,
    metric: Metric,
    label: str,
    selected: Sequence[str],
    examples: Sequence[Example],
    data: dict[str, list[list[dict[str, object]]]],
) -> bool:
    """Add the explanations of one metric; return False where its scores are not those
    of the run.
    """
    rows: list[tuple[str, int, dict[str, object]]] = []
    corpus = [example.references for example in examples]
    members = set(selected)
    features: FeatureCache | None = FeatureCache(corpus) if corpus else None
    for number, (_, system) in enumerate(group.systems):
        if label not in system.table.metrics:
            continue

        # without the data set the references of the captions stand for it
        sets: dict[str, CaptionSet] = {}
        references: list[tuple[str, ...]] = []
        for item in system.iter_caption_sets():
            if item.id in members:
                sets[item.id] = item
            if features is None:
                references.append(item.references)
        features = features or FeatureCache(references)

        present = [sets[name] for name in selected if name in sets]
        explained = _of_system(metric, label, system, present, features)
        if explained is None:
            return False
        rows += [
            (example, number, explanation) for example, explanation in explained.items()
        ]

    for example, number, explanation in rows:
        by_system = data.setdefault(example, [[] for _ in group.systems])
        by_system[number].append(explanation)
    return bool(rows)


def _of_system(
    metric: Metric,
    label: str,
    system: System,
    sets: Sequence[CaptionSet],
    features: FeatureCache,
) -> dict[str, dict[str, object]] | None:
    """Return example -> explanation; None where a score differs from that of the
    run.
    """
    scores = system.scores(label)
    explained: dict[str, dict[str, object]] = {}
    name = display_name(label, metric.signature())
    state = scoring.fit_once(metric, features)
    for positions, batch in scoring.batches(sets, features):
        if not scoring.can_score(metric, batch) or not isinstance(metric, Explains):
            continue

        # a component that has changed since the run explains other scores than its own
        items = [sets[k].id for k in positions.tolist()]
        values = metric.per_example(metric.stats(batch, features, state))
        expected = np.array([scores[system.row_of[item]] for item in items])
        if not np.allclose(
            values, expected, atol=TOLERANCE, rtol=TOLERANCE, equal_nan=True
        ):
            return None

        for item, explanation in zip(items, metric.explain(batch, features, state)):
            if explanation is not None:
                explained[item] = {
                    "metric": label,
                    "title": f"{name}: {explanation.title}",
                    "texts": [list(text) for text in explanation.texts],
                }
    return explained
