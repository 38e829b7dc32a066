"""Values of the statistics of a task, with intervals by resamples of the items."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from harness.contracts import Interval
from harness.judgments.coverage import (
    checked_interval,
    interval_of_resamples,
    is_constant,
)
from harness.judgments.judgment_models import PAIR_STATISTICS
from harness.judgments.metric_scores import Agreement
from harness.judgments.rows import ALL, MEAN, JudgmentRows
from harness.stats import bootstrap
from harness.stats.quantiles import wilson_interval


@dataclass(frozen=True)
class JudgedValue:
    """Value of one statistic of one metric in one group of judgments."""

    agreement: Agreement
    value: float
    interval: Interval
    resampled: np.ndarray
    """Values of the resamples of the items, shape (samples,), NaN where undefined; all
    metrics have the same resamples.
    """


def compute_values(
    rows: JudgmentRows, agreements_of: Callable[[str], dict[str, Agreement]]
) -> dict[tuple[str, str], JudgedValue]:
    """Return (statistic, group) -> value, from a map of a statistic to the agreements
    by group.
    """
    out: dict[tuple[str, str], JudgedValue] = {}
    for statistic in rows.spec.statistics:
        of_groups = agreements_of(statistic)
        for group, agreement in of_groups.items():
            members = [agreement]
            if group == MEAN:
                # A mean over groups has the items of the smallest one.
                members = [of_groups[name] for name in of_groups.keys() - {ALL, MEAN}]
            items = min(int(member.details.get("items", 0)) for member in members)
            out[statistic, group] = _resample(rows, statistic, agreement, items)
    return out


def _resample(
    rows: JudgmentRows, statistic: str, agreement: Agreement, items: int
) -> JudgedValue:
    """Return the value of an agreement, and its interval by resamples of the items,
    of which so many count.
    """
    spec = rows.spec
    value = float(agreement.reduce(np.ones((1, rows.items)))[0])
    if not spec.bootstrap.samples or math.isnan(value):
        return JudgedValue(agreement, value, Interval(None), np.zeros(0))

    def reduce(weights: np.ndarray) -> np.ndarray:
        # Weights are drawn for items in the order of their ids, whatever the order of a
        # file.
        return agreement.reduce(weights[:, rows.item_ranks])

    resampled = bootstrap.distribution(
        reduce, rows.items, spec.bootstrap.samples, spec.seed
    )
    # All right, all wrong, or all tied: resamples have no spread.
    if statistic in PAIR_STATISTICS and is_constant(resampled):
        interval = Interval(wilson_interval(value, int(agreement.details["items"])))
    else:
        interval = interval_of_resamples(resampled)
        grouping = spec.grouping_of(statistic)
        interval = checked_interval(statistic, grouping, interval, items)
    return JudgedValue(agreement, value, interval, resampled)
