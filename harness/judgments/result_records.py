"""Records of the results of a task of judgments: of each metric, and of people against
people.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

import numpy as np

from harness.contracts import Parameters, Values
from harness.files.secrets import redact_values
from harness.judgments.agreement_values import JudgedValue, compute_values
from harness.judgments.between_metrics import MetricTests
from harness.judgments.judgment_models import PAIR_STATISTICS, JudgmentSpec
from harness.judgments.metric_scores import UNEQUAL
from harness.judgments.raters import ONE_PERSON, judge_as_person, person_agreements
from harness.judgments.rows import JudgmentRows
from harness.judgments.scoring import ScoredMetric
from harness.results import ResultRecord


@dataclass(frozen=True)
class JudgedMetric:
    """One metric with its agreement with people."""

    metric: ScoredMetric
    values: dict[tuple[str, str], JudgedValue]
    """(statistic, group) -> value."""


def list_tests(
    k: int, tests: MetricTests, labels: Sequence[str], headline: Sequence[JudgedValue]
) -> Values:
    """Return the cluster of a metric, its tests against every other one, and the
    standard errors of the differences.
    """
    against: Values = {}
    for rival, name in enumerate(labels):
        if rival == k or math.isnan(tests.raw[k, rival]):
            continue
        entry: Values = {
            tests.exchange: float(tests.raw[k, rival]),
            f"{tests.exchange}_holm": float(tests.p_values[k, rival]),
        }
        of_pearson = tests.of_pearson.get((min(k, rival), max(k, rival)), {})
        for key, value in of_pearson.items():
            # The t of a pair is that of its first metric against the second.
            entry[key] = -value if key.endswith("_t") and k > rival else value
        of_metric = headline[k].resampled
        of_rival = headline[rival].resampled
        if len(of_metric) == len(of_rival) > 1:
            entry["standard_error"] = float(np.nanstd(of_metric - of_rival, ddof=1))
        against[name] = entry
    return {"cluster": tests.ranks[k], "against": against}


def compare_with_people(rows: JudgmentRows, metric: ScoredMetric) -> Values:
    """Return the result of the alternative annotator test of a metric, where the task
    has it.
    """
    spec = metric.plan.metric.spec
    scores = metric.scores.scores.mean(axis=1)
    if spec.higher_is_better is False:
        # Oriented scores are minus those of the metric; the test reads its own.
        worst_first = spec.bounds and (spec.bounds[1], spec.bounds[0])
        return judge_as_person(rows, -scores, worst_first)
    return judge_as_person(rows, scores, spec.bounds)


def make_records_of_people(rows: JudgmentRows) -> Iterator[ResultRecord]:
    """Yield the agreement of one person with the others by each statistic and group,
    for sets with the ratings of several people.
    """
    spec = rows.spec
    values = compute_values(rows, partial(person_agreements, rows))
    for (statistic, group), value in values.items():
        details: Values = dict(value.agreement.details)
        if (statistic, group) == spec.headline:
            details["ceiling"] = True
        yield ResultRecord(
            model="",
            task=spec.task,
            metric=ONE_PERSON,
            higher_is_better=True,
            signature=_signature(spec, "people", statistic),
            value=value.value,
            ci95=value.interval.ends,
            interval_note=value.interval.note or None,
            n=value.agreement.n,
            skipped=value.agreement.skipped,
            details=details,
            statistic=spec.label(statistic),
            group=group,
        )


def make_records(
    spec: JudgmentSpec, item: JudgedMetric, tests: Values
) -> list[ResultRecord]:
    """Return a record for each statistic and group of a metric; the headline has its
    tests.
    """
    metric = item.metric.plan
    seconds = item.metric.scored.seconds
    records: list[ResultRecord] = []
    for (statistic, group), value in item.values.items():
        details: Values = dict(value.agreement.details)
        note = value.interval.note or None
        if UNEQUAL in details and math.isnan(value.value):
            note = "no verdict on sets of different sizes"
        if (statistic, group) == spec.headline:
            details.update(headline=True, **tests)
            if metric.metric.spec.details_of_undefined:
                stats = np.asarray(item.metric.scored.stats)
                details.update(metric.details(stats) or {})
        details.update(_find_published_value(spec, metric.label, statistic, group))
        records.append(
            ResultRecord(
                model="",
                task=spec.task,
                metric=metric.label,
                params=cast("Parameters", redact_values(dict(metric.params))),
                higher_is_better=metric.metric.spec.higher_is_better,
                level=metric.metric.spec.level,
                signature=_signature(spec, metric.metric.signature(), statistic),
                value=value.value,
                ci95=value.interval.ends,
                interval_note=note,
                n=value.agreement.n,
                skipped=value.agreement.skipped,
                seconds=round(seconds, 4),
                details=details,
                statistics=item.metric.statistics,
                statistic=spec.label(statistic),
                group=group,
            )
        )
    return records


def _signature(spec: JudgmentSpec, metric: str, statistic: str) -> str:
    fields = [metric, spec.label(statistic), spec.references.describe()]
    if statistic in PAIR_STATISTICS:
        fields.append(f"ties:{spec.ties}")
    if spec.judgments.raters != "mean":
        fields.append(f"raters:{spec.judgments.raters}")
    return "|".join(fields)


def _find_published_value(
    spec: JudgmentSpec, label: str, statistic: str, group: str
) -> Values:
    """Return the published value of a metric with its source: a number, or the range
    over papers.
    """
    for table in spec.published:
        key = (table.statistic or spec.statistics[0], table.group or spec.headline[1])
        if key == (statistic, group) and label in table.values:
            value = table.values[label]
            if isinstance(value, tuple):
                number = [end / 100 for end in value]
            else:
                number = value / 100
            return {"published": number, "reference": table.reference}
    return {}
