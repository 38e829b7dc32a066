"""Lines with the notes of intervals, below the table and on the page."""

from __future__ import annotations

import harness
from harness.reporting import page
from harness.reporting.console import print_run
from harness.reporting.interval_notes import interval_notes
from harness.rundir.records import ResultRecord


def record(model: str, metric: str, note: str | None, ci95: tuple[float, float] | None = None) -> ResultRecord:
    return ResultRecord(model=model, metric=metric, ci95=ci95, interval_note=note)


def test_metrics_of_one_note_share_a_line():
    records = [
        record("a", "distinct2", "n-grams"), record("b", "distinct2", "n-grams"), record("a", "vocabulary", "n-grams"),
        record("a", "cider", "held fixed", (0.0, 1.0)), record("a", "bleu4", None, (0.0, 1.0)), record("b", "bleu4", "no spread"),
    ]  # fmt: skip
    assert interval_notes(records) == [
        "no 95 % interval: distinct2, vocabulary (n-grams)",
        "95 % interval: cider (held fixed)",
        "no 95 % interval: bleu4 of b (no spread)",
    ]
    assert interval_notes([]) == []


def test_the_table_and_the_page_show_the_reason(project, capsys):
    run = harness.evaluate("spec.yaml", output="r")
    print_run(run)
    line = "no 95 % interval: length (every resample of the examples gives the same number)"
    assert line in capsys.readouterr().out
    assert line in page.build(["r"])
