"""Comparisons of metrics by their agreement with people: the tests that a run of
judgments has made.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from harness.analysis.comparisons import finite, with_verdict
from harness.errors import HarnessError, did_you_mean
from harness.results import Comparison, ResultRecord, Run
from harness.stats.metric_tests import EXCHANGE_TESTS, exchange_test


def metric_comparisons(
    runs: Sequence[Run],
    baseline: str | None = None,
    metrics: Sequence[str] | None = None,
) -> list[Comparison]:
    """Return one comparison per pair of metrics of a run of judgments: the tests of the
    headline that the run has made.

    Parameters
    ----------
    runs : sequence of Run
        The run.
    baseline : str, optional
        Label of the metric that the others (A) are compared with (B).
    metrics : sequence of str, optional
        Labels of metrics; default: all.

    Raises
    ------
    HarnessError
        There are two runs, or no metric of a label.
    """
    if len(runs) > 1:
        raise HarnessError(
            "the metrics of one run of judgments are compared, not two runs; "
            "add metrics with harness rescore"
        )
    records = {
        record.metric: record
        for record in runs[0].records
        if (record.details or {}).get("headline")
    }
    for name in [*(metrics or ()), *([baseline] if baseline else [])]:
        if name not in records:
            raise HarnessError(
                f"there is no metric '{name}'{did_you_mean(name, records)}; "
                f"there are {', '.join(records)}"
            )

    names = [
        name
        for name in records
        if metrics is None or name in metrics or name == baseline
    ]
    if baseline:
        compared = [(name, baseline) for name in names if name != baseline]
    else:
        compared = list(itertools.combinations(names, 2))
    rows = [_metric_comparison(records[a], records[b]) for a, b in compared]
    return [with_verdict(row) for row in rows]


def _metric_comparison(a: ResultRecord, b: ResultRecord) -> Comparison:
    """Return the comparison of two metrics by their agreement with people,
    from the tests in their records.
    """
    tests = (a.details or {}).get("against", {}).get(b.metric, {})
    name = exchange_test(tests)
    return Comparison(
        metric=a.agreement,
        system_a=a.metric,
        system_b=b.metric,
        higher_is_better=True,
        a=finite(a.value),
        b=finite(b.value),
        difference=finite(a.value - b.value),
        p_value=tests.get(name),
        p_holm=tests.get(f"{name}_holm"),
        note=f"p by {EXCHANGE_TESTS[name]}, Holm over all metrics of the run",
        n=min(a.n, b.n),
    )
