"""Runs of judgments on the page."""

from __future__ import annotations

import re

import pytest

from harness.cli.main import main
from harness.reporting import page
from harness.reporting.metric_labels import shown_name
from harness.reporting.page import PageOptions
from harness.reporting.page.provenance import command, listings
from harness.reporting.table import number
from harness.run.finished import Run


@pytest.fixture
def text(judged_runs, tmp_path):
    return page.build([tmp_path / "out/one", tmp_path / "out/two"], PageOptions(title="Mine", absent=("judgments/x",)))


def table_rows(text, start):
    """Texts of the cells of the first table behind a text, row by row."""
    table = text[text.index(start) :].partition("</table>")[0]
    return [
        [re.sub(r"<[^>]+>", " ", cell).split() for cell in re.findall(r"<t[dh]\b.*?</t[dh]>", row, re.DOTALL)]
        for row in re.findall(r"<tr.*?</tr>", table, re.DOTALL)
    ]


def test_the_page_is_that_of_all_runs(text, blocks):
    for part in ('<h1 dir="auto">Mine</h1>', "Content-Security-Policy", 'class="theme', 'id="provenance"', "League table",
                 "What to use when", "spice (published only)", "PERM-BOTH", "judgments/two", "not there: judgments/x."):  # fmt: skip
        assert part in text
    assert 'id="examples"' not in text and "#examples" not in text.partition("<script>")[0]
    assert "published, Agreement" not in text and 'data-chart="agreement"' in text


def test_the_matrix_has_a_row_per_metric_and_a_column_per_statistic(text):
    head, *rows = table_rows(text, '<table class="matrix')
    assert [cell[0] for cell in head] == ["metric", "kendall_c", "pearson", "accuracy"]
    assert [row[0] for row in rows] == [["BLEU-1"], ["ROUGE-L"], ["Self-BLEU-2"]]
    assert [cell[0] for cell in rows[0][1:]] == ["0.9", "4.1", "50.0"]
    assert rows[0][1][1] == "1", "the cluster"
    assert rows[2][1] == ["–"]


def test_all_numbers_are_downloaded_in_full(text, blocks):
    lines = blocks(text)["g1-csv"].decode().splitlines()
    assert len(lines) == 10 and lines[0].startswith("set,statistic,metric,value") and lines[0].endswith("reference")
    assert lines[1].startswith("two,kendall_c,bleu1,0.00907029") and lines[1].endswith("12.5,A paper")


def test_one_run_has_no_league_table(judged_runs, tmp_path):
    assert main(["report", "out/one"]) == 0
    single = (tmp_path / "out/one/report.html").read_text()
    assert '<h1 dir="auto">judgments/one</h1>' in single and "<h3>League table" not in single


def test_runs_of_both_kinds_are_one_line(judged_runs, tmp_path, project, capsys):
    assert main(["run", "spec.yaml", "--output", "models"]) == 0
    capsys.readouterr()
    for paths in (["out/one", "models"], ["models", "out/one"]):
        assert main(["report", *(str(tmp_path / path) if "out" in path else path for path in paths)]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and "is a run of models" in error


def test_provenance_has_the_command_and_the_time_of_each_metric_once(judged_runs, tmp_path):
    run = Run.open(tmp_path / "out/one")
    (times,) = (table for table in listings(run) if table.title == "Time per stage")
    seconds = {shown_name(record): record.seconds for record in run.records}
    assert [tuple(row) for row in times.rows][:3] == [(f"scores of {name}", number(value)) for name, value in seconds.items()]
    spec = command(run).partition("\n")[2].rpartition("\nSPEC\n")[0]
    (tmp_path / "again.yaml").write_text(spec)
    assert main(["run", "again.yaml", "--output", "again"]) == 0
    again = Run.open(tmp_path / "again")
    assert [str(record.value) for record in again.records] == [str(record.value) for record in run.records]
