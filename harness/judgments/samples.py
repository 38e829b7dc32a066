"""Samples of a task of judgments: judged captions with their human score and the scores
of the metrics.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from harness.contracts import CaptionSet, Judgments
from harness.judgments.reference_policy import ScoringSets
from harness.judgments.scoring import ScoredMetric
from harness.results import SampleTable
from harness.run.execution import Execution
from harness.rundir.sample_file import SampleWriter


def write_samples(
    run: Execution,
    judgments: Judgments,
    sets: ScoringSets,
    scored: Sequence[ScoredMetric],
) -> SampleTable | None:
    """Write one row per judged caption with its human score, or per distinct caption
    set where captions are judged in pairs.
    """
    if judgments.pairs:
        groups = [_group_of_sets(judgments, sets, scored)]
    else:
        groups = _groups_of_systems(judgments, sets, scored)
    file = run.rundir.create_samples() if run.rundir is not None else None
    labels = [metric.plan.label for metric in scored]
    has_meta = any(row.meta for group in groups for row in group.rows)
    with SampleWriter(file, labels, (), has_meta=has_meta) as writer:
        for group in groups:
            writer.write(group.system, {}, group.rows, group.scores, {})
    return writer.table if file is None else None


class _SampleGroup(NamedTuple):
    """Rows of one system, with the scores of each metric, shape (rows,)."""

    system: str
    rows: list[CaptionSet]
    scores: dict[str, np.ndarray]


def _group_of_sets(
    judgments: Judgments, sets: ScoringSets, scored: Sequence[ScoredMetric]
) -> _SampleGroup:
    """Return a row for each distinct caption set, named for its item."""
    names: dict[int, str] = {}
    for caption, positions in zip(judgments.captions, sets.index):
        for k in positions.ravel():
            names[int(k)] = judgments.items[caption.item].id
    rows = [
        CaptionSet(names[k], item.candidates, item.references)
        for k, item in enumerate(sets.sets)
    ]
    scores = {metric.plan.label: metric.per_set for metric in scored}
    return _SampleGroup("", rows, scores)


def _groups_of_systems(
    judgments: Judgments, sets: ScoringSets, scored: Sequence[ScoredMetric]
) -> list[_SampleGroup]:
    """Return a row for each judged caption, by systems in the order of appearance."""
    scores = {
        metric.plan.label: sets.scores(metric.per_set).mean(axis=1) for metric in scored
    }
    members: dict[str, list[int]] = {}
    for k, caption in enumerate(judgments.captions):
        members.setdefault(caption.system, []).append(k)
    groups: list[_SampleGroup] = []
    for system, positions in members.items():
        rows = [_sample(judgments, sets, k) for k in positions]
        of_system = {name: values[positions] for name, values in scores.items()}
        groups.append(_SampleGroup(system, rows, of_system))
    return groups


def _sample(judgments: Judgments, sets: ScoringSets, k: int) -> CaptionSet:
    """Return a judged caption with the references of its first draw and its rating."""
    caption = judgments.captions[k]
    item = judgments.items[caption.item]
    human = {"human": float(np.mean(caption.ratings))} if caption.ratings else {}
    references = sets.sets[int(sets.index[k, 0, 0])].references
    return CaptionSet(
        item.id, caption.texts, references, meta={**caption.meta, **human}
    )
