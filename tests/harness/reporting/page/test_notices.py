"""Warnings before the numbers."""

from __future__ import annotations

from dataclasses import replace

from harness.reporting.page.groups import groups_of
from harness.reporting.page.notices import MAX_LISTED, notices_of
from harness.reporting.page.significance import Clusters
from harness.run.finished import Run


def notices(run: Run, clusters: Clusters | None = None) -> list:
    return notices_of(groups_of([("r", run)])[0], clusters or Clusters())


def test_failures_come_first_and_are_counted_by_model(finished):
    run = Run.open(finished(notice="Toy numbers."))
    first, second = notices(replace(run, notes=()))[:2]
    assert first.severe and first.text == "1 example failed: two 1." and first.details == [("two/e1", "could not read it")]
    assert not second.severe and second.text == "Toy numbers."


def test_long_lists_are_cut_and_labels_may_hold_slashes(finished):
    run = Run.open(finished(models=[{"echo": {"label": "a/b"}}], views=[]))
    failed = {f"a/b/e{k}": "no" for k in range(30)}
    (notice,) = notices(replace(run, failed=failed))
    assert notice.text == "30 examples failed: a/b 30."
    assert len(notice.details) == MAX_LISTED + 1 and notice.details[-1] == ("…", "10 more")


def test_undefined_values_missing_scores_notes_and_missing_tests(finished):
    run = Run.open(finished(models=[{"echo": {}}], views=[]))
    records = (replace(run.records[0], value=float("nan"), skipped=2, n=4),)
    texts = [notice.text for notice in notices(replace(run, records=records, notes=("A remark.",)), Clusters(warning="No tests."))]
    assert texts == [
        "Undefined for some model: length.",
        "Some examples have no score and are left out (up to 33 % of a model): length.",
        "A remark.",
        "No tests.",
    ]


def test_a_run_without_results(finished):
    run = Run.open(finished(models=[{"echo": {}}], views=[]))
    assert notices(replace(run, records=()))[0].text == "The run has no results."
