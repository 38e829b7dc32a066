"""Notes on metrics whose agreement with people says less than it seems to."""

from __future__ import annotations

import math
from collections.abc import Iterator

from harness.contracts import Judgments
from harness.judgments.between_metrics import MetricTests
from harness.judgments.judgment_models import (
    PAIR_STATISTICS,
    SYSTEM_STATISTICS,
    JudgmentSpec,
)
from harness.judgments.metric_scores import UNEQUAL
from harness.judgments.result_records import JudgedMetric


def note_on_single_captions(
    item: JudgedMetric,
    spec: JudgmentSpec,
    judgments: Judgments,
    tests: MetricTests,
    rank: int | None,
) -> str:
    """Return a remark on a metric of sets that scores single captions: how well it
    agrees with people there.
    """
    metric = item.metric.plan
    has_sets = any(len(caption.texts) > 1 for caption in judgments.captions)
    if metric.metric.spec.level == "item" or has_sets:
        return ""

    value = item.values[spec.headline].value
    if math.isnan(value):
        standing = ["it is undefined"]
    else:
        standing = [f"{spec.headline[0]} {value:.3f}"]
        if rank is not None:
            standing.append(f"cluster {rank} of {max(filter(None, tests.ranks))}")
    return (
        f"{metric.label} compares sets, and a single caption is a set of one: "
        f"{', '.join(standing)} (docs/judgments.md)"
    )


def list_unequal_notes(item: JudgedMetric) -> Iterator[str]:
    """Yield a line for each statistic that leaves out judgments because their sets
    differ in a size on which the metric depends.
    """
    metric = item.metric.plan
    sizes = " and ".join(sorted(metric.metric.spec.depends_on or ()))
    for (statistic, group), value in item.values.items():
        count = value.agreement.details.get(UNEQUAL)
        if not count:
            continue
        if statistic in PAIR_STATISTICS:
            unit = "pairs"
        elif statistic in SYSTEM_STATISTICS:
            unit = "systems"
        else:
            unit = "captions"
        total = value.agreement.n + value.agreement.skipped
        yield (
            f"{metric.label}, {statistic} ({group}): "
            f"no verdict on {count} of {total} {unit}, "
            f"whose sets differ in the number of {sizes} (docs/judgments.md)"
        )
