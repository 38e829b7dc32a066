"""Results by slice: the table of a run, on its page and in its files."""

from __future__ import annotations

import csv
import io

import pytest

import harness
from harness.api import score_files
from harness.page.groups import groups_of
from harness.page.matrix import table_rows
from harness.reporting.console import MOST_RESULTS, print_run, table_of_slices
from harness.reporting.formats.delimited import to_csv
from harness.reporting.score_columns import ALL, SLICE_NOTE
from harness.reporting.slice_table import TITLE, slice_table
from tests.support.sliced import COUNT, write_files

DOMAINS = [f"domain={name}" for name in ("in", "near", "out")]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sliced")
    files = write_files(folder)
    names = [str(files[name]) for name in ("A", "B")]
    return score_files(
        names,
        str(files["refs"]),
        ["rouge", "cider", "caption-length"],
        slices=["domain"],
        output=folder / "run",
    )


def test_a_row_per_metric_slice_and_system(run):
    table = slice_table(run)
    assert table.headers == ["metric", "slice", "system", "n", "value", "95 % interval"]
    assert [(row[0], row[1], row[2]) for row in table.rows[:5]] == [
        ("ROUGE-L (COCO) ↑", ALL, "A"),
        ("", "", "B"),
        ("", DOMAINS[0], "A"),
        ("", "", "B"),
        ("", DOMAINS[1], "A"),
    ]
    assert len(table.rows) == 3 * 4 * 2
    assert table.groups == {0, 8, 16}
    assert table.title == TITLE
    assert SLICE_NOTE in table.notes
    assert any(
        note.startswith(
            "95 % interval: CIDEr-D (document frequencies of all references held fixed"
        )
        for note in table.notes
    )


def test_the_csv_names_the_slice_of_each_row_in_full(run):
    rows = list(csv.DictReader(io.StringIO(to_csv(slice_table(run)))))
    assert [row["slice"] for row in rows[:8]] == [
        ALL,
        ALL,
        *(name for name in DOMAINS for _ in "AB"),
    ]
    values = {
        (row["metric"], row["slice"], row["system"]): float(row["value"])
        for row in rows
    }
    assert values == {
        (r.metric, r.slice or ALL, r.model): r.value
        for r in (*run.records, *run.slices)
    }


def test_many_results_are_printed_in_short(run, monkeypatch):
    assert table_of_slices(run, all_results=False) == slice_table(run)
    monkeypatch.setattr("harness.reporting.console.MOST_RESULTS", 5)
    short = table_of_slices(run, all_results=False)
    assert MOST_RESULTS > 5
    assert short.headers[:2] == ["slice", "system"]
    assert len(short.rows) == 8
    assert short.notes[-1] == "--all prints all 18 results of slices, with intervals"
    assert table_of_slices(run, all_results=True) == slice_table(run)


def test_the_table_of_a_run_is_followed_by_its_slices(run, capsys):
    print_run(run)
    out = capsys.readouterr().out
    assert out.index("95 % interval") < out.index(TITLE) < out.index("domain=out")
    assert f" {COUNT} " in out


def test_page_and_files_have_the_slices(run, tmp_path):
    harness.report(run.path, output=tmp_path / "page.html", tables=tmp_path / "tables")
    page = (tmp_path / "page.html").read_text()
    section = page[page.index(f"<h3>{TITLE}</h3>") :]
    assert (
        "95 % interval 0." in page
        and "(document frequencies of all references held fixed" in page
    ), "a tooltip of the matrix"
    assert "95 % interval: CIDEr-D (document" not in page, "no line below the tables"
    assert "domain=near" in section[: section.index("</table>")]
    group = groups_of([("run", run)])[0]
    head, *rows = table_rows(group)
    assert head[-1] == "slice"
    assert [row[-1] for row in rows] == [None] * len(run.records) + [
        record.slice for record in run.slices
    ]
    assert {path.name for path in (tmp_path / "tables").iterdir()} >= {
        "slices.csv",
        "slices.md",
        "slices.tex",
        "slices.typ",
    }
    assert "slice,metric," in (tmp_path / "tables" / "slices.csv").read_text()


def test_files_with_values_times_100(run, tmp_path):
    harness.report(
        run.path, output=tmp_path / "page.html", tables=tmp_path, percent=True
    )
    note = "values × 100: ROUGE-L (COCO), CIDEr-D; as they are: Caption length"
    for name in ("results", "slices"):
        assert note in (tmp_path / f"{name}.md").read_text()
    rows = list(csv.DictReader(io.StringIO((tmp_path / "results.csv").read_text())))
    expected = {
        (r.metric, r.model): r.value * (1 if r.metric == "caption-length" else 100)
        for r in run.records
    }
    assert {
        (row["metric"], row["model"]): float(row["value"]) for row in rows
    } == pytest.approx(expected)


def test_a_run_without_slices_has_no_such_table(captions_run, tmp_path, capsys):
    print_run(captions_run)
    assert TITLE not in capsys.readouterr().out
    harness.report(
        captions_run.path, output=tmp_path / "page.html", tables=tmp_path / "tables"
    )
    assert f"<h3>{TITLE}</h3>" not in (tmp_path / "page.html").read_text()
    assert not list((tmp_path / "tables").glob("slices.*"))
