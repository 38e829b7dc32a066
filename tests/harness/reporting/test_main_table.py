"""The main table of a run."""

from __future__ import annotations

import re
from dataclasses import replace

import harness
from harness.analysis.rankings import BOLD_NOTE, rankings
from harness.api import score_files
from harness.reporting import main_table as module
from harness.reporting.formats.latex import to_latex
from harness.reporting.formats.markdown import to_markdown
from harness.reporting.formats.typst import to_typst
from harness.reporting.main_table import DATA, main_table, wide_table
from harness.rundir.records import ResultRecord
from tests.support.sliced import write_files


def test_values_in_bold_are_those_of_the_best_cluster(captions_run):
    sheet = main_table(captions_run)
    assert sheet.headers == [
        "system",
        "BLEU-1 ↑",
        "ROUGE-L (COCO) ↑",
        "mBLEU-4 ↓",
        "TRM (BLEU) ↓",
    ]
    ranked = rankings(harness.compare(captions_run.path))
    systems = [row[0] for row in sheet.rows]
    for column, metric in enumerate(("bleu1", "rouge", "mbleu4", "trm(bleu)"), 1):
        expected = {item.system: item.letters for item in ranked.get(metric, ())}
        assert {
            systems[i]: mark for (i, j), mark in sheet.marks.items() if j == column
        } == expected
        best = {item.system for item in ranked.get(metric, ()) if item.leads}
        assert {systems[i] for i, j in sheet.bold if j == column} == best
    assert any("share a letter" in note for note in sheet.notes)
    assert BOLD_NOTE in sheet.notes


def test_the_csv_has_a_row_per_result_with_all_digits(captions_run):
    head, *rows = main_table(captions_run).data
    assert head == DATA
    assert [row[5] for row in rows] == [record.value for record in captions_run.records]
    assert all(cell is not None and cell == cell for row in rows for cell in row)
    assert [(row[0], row[3]) for row in rows] == [
        (record.metric, record.model) for record in captions_run.records
    ]


def test_latex_typst_and_markdown_have_the_same_bold_values_and_marks(captions_run):
    sheet = main_table(captions_run)
    expected = [sheet.rows[i][j] for i, j in sorted(sheet.bold)]
    assert expected
    assert re.findall(r"\\bfseries ([\d.]+)", to_latex(sheet)) == expected
    assert re.findall(r'strong\("([\d.]+)"\)', to_typst(sheet)) == expected
    assert re.findall(r"\*\*([\d.]+)\*\*", to_markdown(sheet)) == expected
    letters = [sheet.marks[at] for at in sorted(sheet.marks)]
    assert (
        re.findall(r"(?<=[\d.]) \{\\textsuperscript\{\\mdseries (\w+)", to_latex(sheet))
        == letters
    )
    assert re.findall(r'super\("(\w+)"\)', to_typst(sheet)) == letters
    assert re.findall(r"<sup>(\w+)</sup>", to_markdown(sheet)) == letters
    assert "other &lt;b>scene&lt;/b>" in to_markdown(sheet)


def test_many_metrics_of_few_systems_are_rows(captions_run, monkeypatch):
    monkeypatch.setattr(module, "MOST_COLUMNS", 3)
    upright = main_table(replace(captions_run, records=captions_run.records[:2]))
    turned = main_table(captions_run)
    assert upright.headers[0] == "system"
    assert turned.headers == ["metric", "people", "central", "other <b>scene</b>"]
    assert len(turned.rows) == 4
    assert turned.bold
    as_many = replace(
        captions_run,
        records=[record for record in captions_run.records if record.metric != "rouge"],
    )
    monkeypatch.setattr(module, "MOST_COLUMNS", 2)
    assert main_table(as_many).headers[0] == "system", "three metrics of three systems"


def test_sizes_that_differ_are_columns_of_their_own_and_not_marked(captions_run):
    records = tuple(
        ResultRecord(
            model=model,
            metric="mmd",
            value=1.0,
            level="set",
            higher_is_better=False,
            sizes={"candidates": [n], "references": [5]},
        )
        for model, n in (("a", 1), ("b", 10))
    )
    sheet = main_table(replace(captions_run, records=records))
    assert sheet.headers == ["system", "MMD ↓ (1 + 5)", "MMD ↓ (10 + 5)"]
    assert [list(row) for row in sheet.rows] == [
        ["a", "1.0000", ""],
        ["b", "", "1.0000"],
    ]
    assert not sheet.bold


def test_the_wide_table_has_a_row_per_system_whatever_the_number_of_metrics(
    captions_run, monkeypatch
):
    monkeypatch.setattr(module, "MOST_COLUMNS", 2)
    wide = wide_table(captions_run)
    sheet = main_table(captions_run)
    assert sheet.headers[0] == "metric"
    assert wide.headers == ["system", *(row[0] for row in sheet.rows)]
    assert [list(row) for row in zip(*wide.rows)][1:] == [
        list(row[1:]) for row in sheet.rows
    ]
    assert wide.bold == {(k, j + 1) for j, k in ((j, k - 1) for j, k in sheet.bold)}
    assert not wide.marks


def test_the_wide_csv_has_code_labels_and_full_digits(captions_run):
    head, *rows = wide_table(captions_run).data
    assert head == ["system", "bleu1", "rouge", "mbleu4", "trm(bleu)"]
    values = {
        (record.model, record.metric): record.value for record in captions_run.records
    }
    assert {
        (row[0], name): value for row in rows for name, value in zip(head[1:], row[1:])
    } == values


def test_the_wide_table_has_a_row_per_slice_and_system(tmp_path):
    files = write_files(tmp_path)
    run = score_files(
        [str(files["A"]), str(files["B"])],
        str(files["refs"]),
        ["rouge", "caption-length"],
        slices=["domain"],
    )
    wide = wide_table(run)
    assert wide.headers == ["slice", "system", "ROUGE-L (COCO) ↑", "Caption length"]
    assert [row[:2] for row in wide.rows] == [
        [part, name]
        for part in ("all", "domain=in", "domain=near", "domain=out")
        for name in "AB"
    ]
    assert wide.groups == {0, 2, 4, 6}
    assert {i for i, _ in wide.bold} <= {0, 1}
    values = {
        (record.slice or "all", record.model): record.value
        for record in (*run.records, *run.slices)
        if record.metric == "rouge"
    }
    assert {(row[0], row[1]): row[2] for row in wide.data[1:]} == values


def test_metrics_whose_sizes_differ_have_a_column_each(captions_run):
    records = [*captions_run.records]
    changed = replace(
        records[0],
        sizes={"candidates": [2], "references": [3]},
        depends_on=["references"],
    )
    first = [
        replace(record, depends_on=["references"])
        for record in records
        if record.metric == "bleu1"
    ][1:]
    wide = wide_table(
        replace(captions_run, records=(changed, *first)), module.RunClusters()
    )
    assert len(wide.headers) == 3
    assert len([cell for row in wide.rows for cell in row[1:] if cell]) == 1 + len(
        first
    )
    assert len(set(wide.data[0])) == 3
